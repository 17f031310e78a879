"""A sealed tree of processes with one card or none, and a socket to it.

    with GpuProcess(command, card=card, room=GpuRoom(files=files), limits=limits) as worker:
        worker.send(b"go", fds=[fd])
        answer = worker.receive(timeout_s=10.0)

The tree has the namespaces, the uid, the read-only root and the filter of every process tree
(`workspace.process_tree`); of the host's devices it sees the nodes of one card, where it is given
one. Its command finds the socket at descriptor 3: packets, and whatever descriptors this process
sends.

Covered: no network; time and memory of host and card; standing still while others are measured;
the end of everything it started, the contexts on the card too; what it printed last.
Not covered: the driver that it shares with everybody on the card (see SECURITY); whether what it
says is true.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from unhack.core.errors import SandboxError
from unhack.sandbox.gpu.cards import Card
from unhack.sandbox.gpu.driver_files import DriverFiles, driver_files
from unhack.sandbox.gpu.memory_watch import MemoryWatch, use_of
from unhack.sandbox.linux import processes
from unhack.sandbox.linux.sockets import receive
from unhack.sandbox.workspace.process_tree import ProcessTree, ProcessTreePlan
from unhack.sandbox.workspace.safe_files import Files

PEER = 3
"""The descriptor of the socket, inside."""
MAX_PACKET = 1 << 20
_TAIL = 8192
_LAST_WORDS_S = 20.0
_JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class GpuLimits:
    """Limits of one sealed tree with a card."""

    memory_bytes: int = 16 << 30
    """Of the host, by all its processes."""
    card_bytes: int = 16 << 30
    """Of the card."""
    disk_bytes: int = 2 << 30
    processes: int = 512
    """Processes and threads."""


@dataclass(frozen=True, slots=True)
class GpuRoom:
    """Files, binds and variables of the tree."""

    files: Files = field(default_factory=dict[str, bytes])
    """Of its workspace, which it may write to."""
    binds: tuple[tuple[str, str], ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict[str, str])


class GpuProcessError(Exception):
    """The process did not do what it was asked for; the text says why."""

    def __init__(self, text: str, *, late: bool = False, limit: str = "") -> None:
        """`late`: it did not answer in time. `limit`: what it took too much of."""
        super().__init__(text)
        self.late, self.limit = late, limit


class GpuProcess:
    """One tree. `watch` knows what it took."""

    def __init__(
        self,
        command: list[str],
        *,
        card: Card | None,
        room: GpuRoom,
        limits: GpuLimits,
        name: str = "gpu",
    ) -> None:
        """`card`: None for the same tree on the processors alone."""
        self._command, self._card, self._room, self._limits = command, card, room, limits
        self._name = name
        self._tree: ProcessTree | None = None
        self._socket: socket.socket | None = None
        self._tail = bytearray()
        self._reader: threading.Thread | None = None
        self.watch: MemoryWatch

    def __enter__(self) -> Self:
        """Start it. Raises SandboxUnavailableError, UsageError, SandboxError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_PACKET)
        files = driver_files(self._card.node) if self._card else DriverFiles(())
        plan = tree_plan(self._room, files, self._limits)
        tree = ProcessTree(self._command, plan=plan, name=self._name, peer=theirs)
        try:
            use = use_of(self._card) if self._card else _no_card
            tree.__enter__()
            self._tree, self._socket = tree, ours
            limits = self._limits
            self.watch = MemoryWatch(
                tree.pid, limits.memory_bytes, limits.card_bytes, use, tree.kill
            )
            self.watch.start()
            self._reader = threading.Thread(target=self._listen, args=(tree,), daemon=True)
            self._reader.start()
        except BaseException:
            ours.close()
            tree.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def said(self) -> str:
        """The end of what it printed."""
        return bytes(self._tail).decode(errors="replace").strip()

    def send(self, packet: bytes, *, fds: Sequence[int] = ()) -> None:
        """Hand a packet over. Raises GpuProcessError when it is gone."""
        if self._socket is None:
            raise self._gone()
        try:
            socket.send_fds(self._socket, [packet], list(fds))
        except OSError:
            raise self._gone() from None

    def receive(self, *, timeout_s: float, awake_s: float = 0.0) -> bytes:
        """The next packet. Raises GpuProcessError when none comes in time, or it is gone; it is
        ended then. For the first `awake_s` this process does not fall asleep: to be woken takes
        some tens of microseconds, or some hundreds, which whoever measures time would measure."""
        if self._socket is None:
            raise self._gone()
        asleep = time.monotonic() + min(awake_s, timeout_s)
        while time.monotonic() < asleep and not self.speaks():
            pass
        self._socket.settimeout(timeout_s)
        try:
            said = receive(self._socket.recv, MAX_PACKET)
        except TimeoutError:
            exceeded = self.watch.exceeded
            self.close()
            if exceeded:
                raise GpuProcessError(exceeded, limit="memory") from None
            text = f"it did not answer within {timeout_s:.3g} s"
            raise GpuProcessError(text, late=True) from None
        except OSError:
            said = b""
        if not said:
            raise self._gone()
        return said

    def speaks(self) -> bool:
        """True when something has arrived although nothing was asked."""
        return self._socket is not None and bool(select.select([self._socket], [], [], 0)[0])

    def freeze(self) -> None:
        """Let every process of it stand still; what it has begun on the card goes on. Raises
        GpuProcessError where one cannot be stopped."""
        if self._tree is not None:
            try:
                self._tree.freeze(holder=_JUDGE)
            except SandboxError as error:
                raise GpuProcessError(f"it cannot be stopped: {error}") from None

    def thaw(self) -> None:
        """Let them go on."""
        if self._tree is not None:
            self._tree.thaw(holder=_JUDGE)

    def cpu_s(self) -> float:
        """Processor time, in seconds, of the processes that it has now."""
        if self._tree is None:
            return 0.0
        total = 0.0
        for pid in processes.tree_of(self._tree.pid):
            with contextlib.suppress(OSError):  # it has just ended
                total += processes.cpu_s(pid)
        return total

    def files(self, patterns: tuple[str, ...], *, max_files: int, max_bytes: int) -> Files:
        """Regular files of its workspace, with every process of it standing still from here on: one
        more than `max_files`, or a byte more than `max_bytes`, says that there are too many."""
        if self._tree is None:
            return {}
        self._tree.freeze()
        return self._tree.read(patterns, max_files=max_files, max_bytes=max_bytes)

    def close(self) -> None:
        """End it and everything that it started."""
        self.thaw()
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._tree is not None:
            self._tree.kill()
            self._tree.wait(timeout_s=_LAST_WORDS_S)
            self.watch.stop()
            if self._reader is not None:
                self._reader.join(_LAST_WORDS_S)
            self._tree.close()
            self._tree = None

    def _gone(self) -> GpuProcessError:
        """Why it is gone, in words; it is ended."""
        if self._tree is None:
            return GpuProcessError("its process has ended")
        ended = self._tree.wait(timeout_s=_LAST_WORDS_S)
        status, failure = self._tree.exit_status, self._tree.failure
        self.watch.look()
        exceeded = self.watch.exceeded
        if not exceeded and self._tree.killed_for_memory():  # quicker than the watch
            exceeded = f"it took more of the host's memory than {self._limits.memory_bytes} bytes"
        self.close()
        if exceeded:
            return GpuProcessError(exceeded, limit="memory")
        if failure:
            return GpuProcessError(f"it could not be started: {failure}")
        code = status.exit_code if ended and status is not None else None
        last = self.said.splitlines()[-1:] or [""]
        way = "was killed" if code is None else f"ended with code {code}"
        return GpuProcessError(f"its process {way}{': ' if last[0] else ''}{last[0][:400]}")

    def _listen(self, tree: ProcessTree) -> None:
        """Keep the end of what it prints, until the last of its processes is gone."""
        ends = [tree.stdout, tree.stderr]
        while ends:
            for fd in select.select(ends, [], [])[0]:
                try:
                    data = os.read(fd, 1 << 16)
                except OSError:
                    data = b""
                if not data:
                    ends.remove(fd)
                self._tail += data
                del self._tail[:-_TAIL]


def _no_card(pids: frozenset[int]) -> int:
    return 0


def tree_plan(room: GpuRoom, files: DriverFiles, limits: GpuLimits) -> ProcessTreePlan:
    """The process tree of a room with the files of a card."""
    environ = {"PYTHONDONTWRITEBYTECODE": "1", **files.environ, **room.environ}
    return ProcessTreePlan(
        environ=environ,
        binds=(*room.binds, *files.binds),
        workspace=room.files,
        ports=(),
        memory_bytes=limits.memory_bytes,
        disk_bytes=limits.disk_bytes,
        processes=limits.processes,
        devices=files.devices,
    )
