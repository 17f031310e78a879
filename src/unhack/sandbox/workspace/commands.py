"""A command in a workspace, and what is known of its end.

Covered: exit code and signal apart; the limit that ended it; both streams bounded, with their
beginning and end and how much was cut between.
Not covered: what the command says of itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unhack.core.errors import UsageError

MAX_ARGUMENTS = 96 * 1024
"""Bytes of all arguments, and of the environment."""
MAX_STDIN = 1 << 20


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run in a workspace.

    Example:

        Command(("python", "-m", "pytest", "-q"), cwd="tests", environ={"CI": "1"})
    """

    argv: tuple[str, ...]
    """Program and arguments; a program without `/` is looked for in the PATH of the sandbox."""
    module: bool = False
    """True runs `argv[0]` as `python -m` does, without starting an interpreter, where the
    supervisor has it loaded."""
    stdin: bytes = b""
    stdin_writable: bool = False
    """True where standard input is a file in memory, and what the command writes behind `stdin` is
    `CommandResult.appended`."""
    cwd: str = ""
    """Relative to the workspace; in an image to its root directory, and empty for where its
    commands start."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to the sandbox's environment."""
    as_root: bool = False
    """In an image: run by its root, whoever its user is."""
    read_only: tuple[str, ...] = ()
    """Folders that cannot be written to, relative to the workspace or to an image's root
    directory."""

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise UsageError("a command needs a program")
        if any("\0" in word for word in (*self.argv, self.cwd)):
            raise UsageError("an argument holds a NUL character, which no program can be given")
        if sum(len(word) for word in self.argv) > MAX_ARGUMENTS:
            raise UsageError(
                f"the arguments are longer than {MAX_ARGUMENTS:,} bytes: write a file and run that"
            )
        if len(self.stdin) > MAX_STDIN:
            raise UsageError(f"standard input is longer than {MAX_STDIN:,} bytes")


def shell(script: str, **more: Any) -> Command:
    """The command of a shell script: `bash -c`, or `sh` where there is no bash."""
    return Command(("bash", "-c", script), **more)


class BoundedOutput:
    """The beginning and the end of a stream."""

    def __init__(self, most: int) -> None:
        """`most` bytes are kept, half of them from the end."""
        self._half = max(1, most // 2)
        self._head, self._tail = bytearray(), bytearray()
        self.total = 0
        """Bytes that were written."""

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def cut(self) -> int:
        """Bytes that are missing between the beginning and the end."""
        return max(0, self.total - 2 * self._half)

    @property
    def text(self) -> str:
        """The part that was kept, with the cut told where it is; bytes outside UTF-8 replaced."""
        head = self._head.decode(errors="replace")
        tail = bytes(self._tail[-self._half :]).decode(errors="replace") if self._tail else ""
        if not self.cut:
            return bytes(self._head + self._tail).decode(errors="replace")
        return f"{head}\n[... {self.cut:,} bytes cut ...]\n{tail}"


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The observations of one command.

    Example:

        result, after = await pool.run(state, shell("pytest -q"), limits=Limits())
        result.ok, result.exit_code, result.stdout
    """

    exit_code: int | None
    """None where a signal ended it."""
    signal: int | None = None
    limit: str = ""
    """`wall`, `wall_hard`, `cpu`, `memory` or `output`; `machinery` where the command took its own
    sandbox down twice and a control did not; empty otherwise."""
    stdout: str = ""
    stderr: str = ""
    cut_bytes: int = 0
    """Bytes of both streams that were not kept."""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    max_rss_bytes: int = 0
    """Of its largest process."""
    left_out: tuple[str, ...] = ()
    """Paths that the new state does not hold: sockets, pipes, devices, names too deep."""
    appended: bytes = field(default=b"", repr=False)
    """Written behind a standard input that is writable; cut a little above `MAX_STDIN` bytes."""

    def with_left_out(self, paths: Sequence[str]) -> CommandResult:
        """The same result with the paths that the new state does not hold."""
        return replace(self, left_out=tuple(paths)) if paths else self

    @property
    def ok(self) -> bool:
        """True when it ended by itself with exit code 0."""
        return self.exit_code == 0 and not self.limit
