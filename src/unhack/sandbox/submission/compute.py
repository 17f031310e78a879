"""A submission's process, seen from the judge: calls with arrays over a socket, and nothing else.

    with Computer(Path("frozen"), limits=Limits(wall_s=60), preload=("numpy",)) as submission:
        logits = submission.call("forward", tokens, timeout_s=5.0)

The process is a sealed job of its own: no network, no file of the host but the submission's folder
and `binds`, all read-only; a private directory that ends with it. What it answers is a claim.

Covered: an answer that is late, too long, malformed, or never comes is a `SubmissionError`; the
process and all its threads end with the block.
Not covered: what the answers mean.
"""

from __future__ import annotations

import contextlib
import json
import queue
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, cast

from unhack.core.errors import SandboxError, SandboxUnavailableError
from unhack.sandbox.guest.candidate import frames
from unhack.sandbox.job import Ending, Isolation, Job, Kind, Outcome, Profile
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux import rlimits
from unhack.sandbox.pool.pool import Pool

FOLDER = "/submission"
"""The directory of the submission's files, inside."""
_GRACE_S = 5.0
_START_S, _END_S = 60.0, 20.0
"""Seconds that a busy host may take to start a worker, and to say how a process ended."""


class SubmissionError(Exception):
    """The submission did not compute what it was asked for; the text says why.

    Example:

        try:
            logits = submission.call("forward", tokens, timeout_s=5.0)
        except SubmissionError as error:
            return invalid(str(error))
    """


class Computer:
    """One sealed process that runs a submission's code.

    Example:

        limits = Limits(wall_s=60.0)
        with Computer(folder, limits=limits, preload=("numpy",)) as submission:
            logits = submission.call("forward", tokens, timeout_s=5.0)
    """

    def __init__(
        self,
        folder: Path,
        *,
        entry: str = "solution.py",
        limits: Limits,
        preload: tuple[str, ...] = (),
        binds: Mapping[str, Path] | None = None,
        isolation: Isolation | None = None,
    ) -> None:
        """`binds`: path inside -> path on the host, read-only. `preload`: modules that are loaded
        before the layers are applied (`numpy`); no other package is visible."""
        self._entry, self._limits, self._preload = entry, limits, preload
        self._sources = {FOLDER: folder, **(binds or {})}
        self._staging = contextlib.ExitStack()
        self._isolation = isolation
        self._pool: Pool | None = None
        self._socket: socket.socket | None = None
        self._outcome: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self.outcome: Outcome | None = None
        """The end of the process; None while it runs."""
        self.left = False
        """True once it ended by itself, without a fault, while an answer was awaited."""
        self.names: tuple[str, ...] = ()
        """Public names that the submission defines, as it says."""

    def __enter__(self) -> Self:
        """Start it and load the submission. Raises SubmissionError, SandboxUnavailableError."""
        binds = tuple(
            (str(self._readable(source)), target) for target, source in self._sources.items()
        )
        profile = Profile(kind=Kind.SCRATCH, preload=self._preload, binds=binds)
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._pool = Pool(slots=1, isolation=self._isolation)
        fields = {
            "mode": "compute", "folder": FOLDER, "entry": self._entry,
            "rlimits": rlimits.encode(self._limits), "disk": self._limits.disk_bytes,
        }  # fmt: skip
        message = json.dumps(fields).encode()
        job = Job(message, self._limits, profile, peer=theirs.detach())
        self._pool.submit(job, self._outcome.put)
        try:
            self.names = tuple(self._answer(time.monotonic() + self._limits.wall_s + _START_S))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, name: str, *args: Any, timeout_s: float, **kwargs: Any) -> Any:
        """Call a function of the submission. Arguments and result: plain values and numpy arrays.

        Raises SubmissionError when it raises, is late, ends, or answers what is no frame.
        """
        return self._ask(["call", name, list(args), kwargs], timeout_s)

    def files(self, folder: str, *, timeout_s: float) -> dict[str, bytes]:
        """The regular files that it says it wrote below `folder`; relative path -> content."""
        found: Any = self._ask(["files", folder], timeout_s)
        if not isinstance(found, dict):
            raise SubmissionError("it answered other than files")
        files = cast("dict[str, Any]", found)
        if not all(isinstance(content, bytes) for content in files.values()):
            raise SubmissionError("it answered other than files")
        return files

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
        self._staging.close()

    def _readable(self, source: Path) -> Path:
        """The files themselves, or a copy where only their owner may read them: the process has a
        user of its own."""
        paths = [source, *source.rglob("*")]
        if all(path.is_symlink() or path.stat().st_mode & 0o004 for path in paths):
            return source
        folder = Path(self._staging.enter_context(tempfile.TemporaryDirectory(prefix="unhack-")))
        copy = folder / "files"
        if source.is_dir():
            shutil.copytree(source, copy, symlinks=True)
        else:
            shutil.copyfile(source, copy)
        for path in (copy, *copy.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o644)
        return copy

    def _ask(self, request: list[Any], timeout_s: float) -> Any:
        if self._socket is None:
            raise SubmissionError("its process has ended")
        deadline = time.monotonic() + timeout_s
        try:
            for part in frames.encode(request):
                self._socket.settimeout(max(0.001, deadline - time.monotonic()))
                self._socket.sendall(part)
        except TimeoutError:
            raise SubmissionError(self._late(timeout_s)) from None
        except OSError:
            raise SubmissionError(self._await_end()) from None
        return self._answer(deadline, timeout_s)

    def _answer(self, deadline: float, timeout_s: float = 0.0) -> Any:
        try:
            header, body = frames.sizes(
                bytes(self._read(frames.HEADER.size, deadline)), max_bytes=self._limits.output_bytes
            )
            answer = frames.decode(bytes(self._read(header, deadline)), self._read(body, deadline))
        except TimeoutError:
            raise SubmissionError(self._late(timeout_s)) from None
        except (OSError, EOFError):
            raise SubmissionError(self._await_end()) from None
        except frames.FrameError as error:
            raise SubmissionError(str(error)) from None
        match answer:
            case ["ok", value]:
                return value
            case ["raised", [str() as name, *_], str() as text]:
                raise SubmissionError(f"{name}: {text}")
            case _:
                raise SubmissionError("it answered what is no answer")

    def _read(self, count: int, deadline: float) -> bytearray:
        assert self._socket is not None
        data = bytearray(count)
        view = memoryview(data)
        while view:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            got = self._socket.recv_into(view)
            if not got:
                raise EOFError
            view = view[got:]
        return data

    def _late(self, timeout_s: float) -> str:
        self.close()
        return f"it did not answer within {timeout_s:g} s" if timeout_s else "it did not start"

    def _await_end(self) -> str:
        """Wait for the sandbox's word on the end. Raises the sandbox's own failures."""
        with contextlib.suppress(queue.Empty):
            self.outcome = self._outcome.get(timeout=_END_S)
        self.close()
        if self.outcome is None:
            return "its process ended"
        if self.outcome.ending is Ending.REFUSED:
            raise SandboxUnavailableError(self.outcome.error)
        if self.outcome.ending is Ending.BROKEN:
            raise SandboxError(self.outcome.error)
        self.left = (
            self.outcome.ending is Ending.EXITED
            and self.outcome.exit_code == 0
            and not self.outcome.limit
        )
        limit = f": the {self.outcome.limit} limit" if self.outcome.limit else ""
        code = f" ({self.outcome.exit_code})" if self.outcome.exit_code is not None else ""
        return f"its process ended{limit}{code}"
