"""A process that runs a submission's kernels on memory that the judge owns, by the judge's clock.

    with KernelProcess(folder, entry="kernel.so", plan=plan, limits=limits) as worker:
        worker.load(timeout_s=5.0)
        worker.memory[...] = inputs
        seconds = worker.call(0, offsets_and_sizes, timeout_s=2.0)

The shared memory is a file that this process makes, fills and reads; the sealed process maps the
same pages. A call is one packet with a fresh token there and the same token back, and nothing else
may ever arrive.

Covered: load and call times by this process's clock; CPU time of the sealed process, of all its
threads, dead ones included, at any moment; packets out of turn; how the process ended.
Not covered: whether what lies in the shared memory is right, who wrote it, and when.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import queue
import select
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from unhack.core.errors import SandboxError, SandboxUnavailableError
from unhack.sandbox.guest.candidate import kernel
from unhack.sandbox.job import Ending, Isolation, Job, Kind, Outcome, Profile
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import processes, rlimits
from unhack.sandbox.linux.sockets import receive
from unhack.sandbox.pool.pool import Pool

FOLDER = "/submission"
_GRACE_S = 5.0
_START_S, _END_S = 60.0, 20.0
"""Seconds that a busy host may take to start a worker, and to say how a process ended."""
_MAX_BYTES = 1 << 16
_CREDENTIALS = struct.Struct("iII")


class KernelError(Exception):
    """The submission did not do what it was asked for; the text says why.

    Example:

        try:
            seconds = worker.call(0, values, timeout_s=2.0)
        except KernelError as error:
            return invalid(str(error))
    """

    def __init__(self, text: str, *, forged: bool = False, left: bool = False) -> None:
        """`forged`: it sent what only the harness sends. `left`: it ended itself without error."""
        super().__init__(text)
        self.forged, self.left = forged, left


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """The memory that is mapped and the function that may be called.

    Example:

        kinds = (["float32", 1, False], ["float32", 1, True], "i")  # f(x, y, n) writes y
        plan = KernelPlan(1 << 16, functions=(("f", kinds),))
    """

    shared_bytes: int
    functions: tuple[tuple[str, tuple[Any, ...]], ...]
    """Name and kinds of the arguments, as `candidate.kernel` says."""
    preload: tuple[str, ...] = ()
    programs: bool = False
    """True when code may be made at run time, as just-in-time compilers do. Then processes are not
    denied by the filter either: `children` counts them."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])


class KernelProcess:
    """One sealed process over one shared memory.

    Example:

        limits = Limits(wall_s=60.0)
        with KernelProcess(folder, entry="kernel.so", plan=plan, limits=limits) as worker:
            worker.load(timeout_s=5.0)
            seconds = worker.call(0, [0, 4096, 1024], timeout_s=2.0)
    """

    def __init__(
        self,
        folder: Path,
        *,
        entry: str,
        plan: KernelPlan,
        limits: Limits,
        isolation: Isolation | None = None,
    ) -> None:
        """`limits.memory_bytes` is what it may use beside the shared memory."""
        self._entry, self._plan, self._isolation = entry, plan, isolation
        self._limits = limits.with_(memory_bytes=limits.memory_bytes + plan.shared_bytes)
        self._profile = Profile(
            kind=Kind.PROGRAM if plan.programs else Kind.FUNCTION,
            preload=plan.preload,
            binds=((str(folder), FOLDER),),
        )
        self._pool: Pool | None = None
        self._socket: socket.socket | None = None
        self._outcome: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self.outcome: Outcome | None = None
        """The end of the process; None while it runs."""
        self.memory: mmap.mmap
        self.pid = 0

    def __enter__(self) -> Self:
        """Start it; nothing of the submission runs yet. Raises SandboxUnavailableError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket = ours
        self._pool = Pool(slots=1, isolation=self._isolation)
        fields = {
            "mode": "kernel", "folder": FOLDER, "entry": self._entry,
            "environ": dict(self._plan.environ),
            "rlimits": rlimits.encode(self._limits), "disk": self._limits.disk_bytes,
        }  # fmt: skip
        message = json.dumps(fields).encode()
        self._pool.submit(
            Job(message, self._limits, self._profile, peer=theirs.detach()), self._outcome.put
        )
        plan = {"bytes": self._plan.shared_bytes, "functions": self._plan.functions}
        fd = os.memfd_create("memory", os.MFD_CLOEXEC)
        try:
            os.ftruncate(fd, self._plan.shared_bytes)
            self.memory = mmap.mmap(fd, self._plan.shared_bytes)
            socket.send_fds(ours, [json.dumps(plan).encode()], [fd])
            self._expect(kernel.READY, _START_S, learn_pid=True)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(fd)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self, *, timeout_s: float) -> float:
        """Load the submission; the seconds it took. Raises KernelError."""
        return self._time_exchange(kernel.LOAD, kernel.READY, timeout_s)

    def call(self, index: int, values: Sequence[int], *, timeout_s: float) -> float:
        """Call function `index` of the plan; the seconds until it said that it is done.

        Raises KernelError when it raises, is late, ends, or says anything else.
        """
        token = os.urandom(kernel.TOKEN)
        packet = kernel.HEAD.pack(kernel.GO, token, index) + struct.pack(
            f"<{len(values)}q", *values
        )
        return self._time_exchange(packet, token, timeout_s)

    def cpu_s(self) -> float:
        """User and system time of the process so far, of its ended threads too."""
        try:
            return processes.cpu_s(self.pid)
        except OSError:
            raise KernelError(*self._await_end()) from None

    def threads(self) -> int:
        """The number of its threads; 0 when it is gone."""
        with contextlib.suppress(OSError):
            return len(os.listdir(f"/proc/{self.pid}/task"))
        return 0

    def children(self) -> int:
        """The number of processes it has started and not reaped."""
        return len(processes.children(self.pid))

    def speaks(self) -> bool:
        """True when something has arrived although nothing was asked."""
        if self._socket is None:
            return False
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        return any(event & select.POLLIN for _, event in poller.poll(0))

    def close(self) -> None:
        """End the process and everything that it started."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._pool is not None:
            self._pool.close()
            self._pool = None
            with contextlib.suppress(queue.Empty):
                self.outcome = self.outcome or self._outcome.get(timeout=_GRACE_S)

    def _time_exchange(self, packet: bytes, answer: bytes, timeout_s: float) -> float:
        if self._socket is None:
            raise KernelError("its process has ended")
        if self.speaks():
            self._refuse_unasked()
        try:
            started = time.perf_counter()
            self._socket.send(packet)
        except OSError:
            raise KernelError(*self._await_end()) from None
        return self._expect(answer, timeout_s) - started

    def _refuse_unasked(self) -> None:
        assert self._socket is not None
        self._socket.settimeout(1.0)
        said = receive(self._socket.recv, _MAX_BYTES)
        if not said:
            error = self._await_end()
            raise KernelError(error[0], left=self._has_left())
        raise KernelError(f"it sent {len(said)} bytes although nothing was asked", forged=True)

    def _expect(self, answer: bytes, timeout_s: float, *, learn_pid: bool = False) -> float:
        """The moment at which `answer` arrived, and nothing else."""
        assert self._socket is not None
        self._socket.settimeout(timeout_s)
        try:
            said, ancillary, _, _ = receive(
                self._socket.recvmsg, _MAX_BYTES, 64 if learn_pid else 0
            )
            arrived = time.perf_counter()
        except TimeoutError:
            self.close()
            raise KernelError(f"it was not done within {timeout_s:.3g} s") from None
        except OSError:
            said, ancillary, arrived = b"", [], 0.0
        if said == answer:
            if learn_pid:
                self.pid = _CREDENTIALS.unpack(ancillary[0][2])[0]
            return arrived
        if not said:
            error = self._await_end()
            raise KernelError(error[0], left=self._has_left())
        if said[:1] == kernel.ERROR:
            raise KernelError(said[1:].decode(errors="replace"))
        raise KernelError(f"it answered {len(said)} bytes that are no answer", forged=True)

    def _has_left(self) -> bool:
        ended = self.outcome
        return ended is not None and ended.ending is Ending.EXITED and ended.exit_code == 0

    def _await_end(self) -> tuple[str]:
        """Wait for the sandbox's word on the end. Raises the sandbox's own failures."""
        if self._pool is not None:
            with contextlib.suppress(queue.Empty):
                self.outcome = self.outcome or self._outcome.get(timeout=_END_S)
        self.close()
        if self.outcome is None:
            return ("its process ended",)
        if self.outcome.ending is Ending.REFUSED:
            raise SandboxUnavailableError(self.outcome.error)
        if self.outcome.ending is Ending.BROKEN:
            raise SandboxError(self.outcome.error)
        if self.outcome.limit:
            return (f"its process ended: the {self.outcome.limit} limit",)
        if self.outcome.signal is not None:
            return (f"its process ended by signal {self.outcome.signal}",)
        return (f"its process ended ({self.outcome.exit_code})",)
