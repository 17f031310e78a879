"""The queue for a card: one process of the host has it at a time, in the order of arrival.

    with CardQueue(card.key).turn(timeout_s=600):
        measure()

A ticket is a file with a number; its owner holds a lock on it, which the kernel releases however
the owner ends. Whoever has the lowest ticket that is locked has the card. So a killed process
leaves a ticket that the next one in line throws away, and a tournament that is resumed queues
again.

Covered: processes and threads of any user of the host; first come, first served; kill -9.
Not covered: programs that use the card without asking (`cards.check_free` looks for them).
Sources: flock(2), rename(2).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

from unhack.core.errors import SandboxUnavailableError

_LOOK_S = 0.05
_TICKET = re.compile(r"ticket-(\d{12})")
_SAFE = re.compile(r"[^A-Za-z0-9-]")


def queue_root() -> Path:
    """The folder of the queues: every user of the host may write to it, and nobody empty it."""
    for path in (Path("/run/lock"), Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            mode = path.stat().st_mode
            if os.access(path, os.W_OK) and (mode & stat.S_ISVTX or not mode & stat.S_IWOTH):
                return path
    return Path(tempfile.gettempdir())


class CardQueue:
    """The queue of one card. `root` is where its folder lies."""

    def __init__(self, key: str, *, root: Path | None = None) -> None:
        name = _SAFE.sub("-", key)
        self.folder = (root or queue_root()) / f"unhack-gpu-{name}"

    @contextlib.contextmanager
    def turn(
        self, *, timeout_s: float, waiting: Callable[[str], None] = lambda holder: None
    ) -> Generator[None]:
        """Wait for the card and hold it for a block of code; `waiting` is told once who has it.

        Raises SandboxUnavailableError with the holder when it is not free in time.
        """
        self._make_folder()
        ticket, fd = self._draw()
        try:
            self._wait(ticket, timeout_s, waiting)
            yield
        finally:
            with contextlib.suppress(OSError):
                ticket.unlink()
            os.close(fd)

    def holder(self) -> str:
        """The process that has the card, in words; empty where nobody has."""
        if not self.folder.is_dir():
            return ""
        with self._gate():
            alive = [path for path in self._tickets() if not _is_dead(path)]
        return _words(alive[0]) if alive else ""

    def _wait(self, ticket: Path, timeout_s: float, waiting: Callable[[str], None]) -> None:
        deadline = time.monotonic() + timeout_s
        told = False
        while ahead := self._ahead_of(ticket):
            holder = _words(ahead)
            if time.monotonic() >= deadline:
                raise SandboxUnavailableError(
                    f"the GPU is in use by {holder}, and was not free within {timeout_s:.0f} s: "
                    "wait for it, or choose another card (device=cuda:N)"
                )
            if not told:
                waiting(holder)
                told = True
            time.sleep(_LOOK_S)

    def _ahead_of(self, ticket: Path) -> Path | None:
        """The first living ticket before this one; dead ones are thrown away."""
        with self._gate():
            for path in self._tickets():
                if path == ticket:
                    return None
                if not _is_dead(path):
                    return path
                with contextlib.suppress(OSError):
                    path.unlink()
        return None

    def _draw(self) -> tuple[Path, int]:
        """A locked ticket behind all others."""
        with self._gate():
            known = self._tickets()
            last = int(_number(known[-1])) if known else 0
            path = self.folder / f"ticket-{last + 1:012d}"
            flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
            fd = os.open(path, flags, 0o644)
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            said = {"pid": os.getpid(), "command": " ".join(sys.argv)[:200], "since": time.time()}
            os.write(fd, json.dumps(said).encode())
        return path, fd

    def _tickets(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if _TICKET.fullmatch(path.name))

    def _make_folder(self) -> None:
        with contextlib.suppress(FileExistsError):
            self.folder.mkdir()
            self.folder.chmod(0o1777)
        if self.folder.is_symlink() or not self.folder.is_dir():
            raise SandboxUnavailableError(
                f"{self.folder} is not the queue of the GPU but something else: remove it"
            )

    @contextlib.contextmanager
    def _gate(self) -> Generator[None]:
        """Only one process at a time looks at the tickets."""
        fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def _number(path: Path) -> str:
    return path.name.rpartition("-")[2]


def _is_dead(path: Path) -> bool:
    """True when nobody holds the lock of a ticket."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def _words(path: Path) -> str:
    try:
        said = json.loads(path.read_text())
        minutes = (time.time() - float(said["since"])) / 60
        return f"process {int(said['pid'])} ({said['command']}), for {minutes:.0f} minutes"
    except (OSError, ValueError, KeyError, TypeError):
        return "a process that does not say who it is"
