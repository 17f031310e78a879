"""One attempt of an agent: what it is given, how it ended, what it cost.

Covered: the order to a command-line agent as plain values, so that whoever sets it to work (a
round of a tournament, an episode) says what may be handed in, how a check is answered and which
clock counts.
Not covered: whether what comes back is any good.
"""

from __future__ import annotations

import socket
import time
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from unhack.sandbox.workspace.process_tree import ExitStatus, ProcessTree, ProcessTreePlan

WorkFiles = Mapping[str, bytes]
"""Relative path -> content."""


class PlayEnding(StrEnum):
    """The way in which an attempt ended."""

    FINISHED = "finished"
    TIME = "time"
    COST = "cost"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AgentUsage:
    """The cost of one attempt.

    Example:

        play = agent.play(assignment)
        play.usage.turns, play.usage.cost_usd
    """

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tool_calls: int = 0
    checks: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    """Of the agent's own clock: it stands still while the agent is frozen."""


@dataclass(frozen=True, slots=True)
class Play:
    """The outcome of an attempt; the submission itself is taken from the workspace.

    Example:

        play = agent.play(assignment)
        play.ended is PlayEnding.FINISHED, play.usage.seconds
    """

    ended: PlayEnding
    usage: AgentUsage = field(default_factory=AgentUsage)
    note: str = ""


class AttemptClock(typing.Protocol):
    """The time that an agent has used."""

    def elapsed_s(self) -> float:
        """Seconds since its start; infinite when every agent has to end."""
        ...


class WallClock:
    """Time that never stands still."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def elapsed_s(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self._start


@dataclass(frozen=True, slots=True)
class HandedIn:
    """The files that are taken from a workspace.

    Example:

        HandedIn(("solution.py", "data/*.npy"), required=("solution.py",))
    """

    patterns: tuple[str, ...]
    """Of relative paths, level by level (`fnmatch`; `**` for any number of levels)."""
    required: tuple[str, ...] = ()
    """Their absence is told in the note of the play."""
    excused_by: str = ""
    """A file in whose presence nothing is required."""
    max_files: int = 96
    max_bytes: int = 12 << 20


class AgentTree(typing.Protocol):
    """The processes of an agent, here (`ProcessTree`) or on another machine."""

    @property
    def pid(self) -> int:
        """Of process 1 on this machine; 0 where it runs on another."""
        ...

    @property
    def plan(self) -> ProcessTreePlan:
        """As it was started."""
        ...

    @property
    def listeners(self) -> Sequence[socket.socket]:
        """One of this machine for each port of the plan."""
        ...

    @property
    def stdout(self) -> int:
        """A descriptor to read from."""
        ...

    @property
    def stderr(self) -> int:
        """A descriptor to read from."""
        ...

    @property
    def exit_status(self) -> ExitStatus | None:
        """None while it runs."""
        ...

    @property
    def failure(self) -> str:
        """The reason why its command could not be started."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def wait(self, *, timeout_s: float) -> bool:
        """True when it has ended, after at most `timeout_s`."""
        ...

    def kill(self) -> None:
        """End every process of it."""
        ...

    def freeze(self, *, holder: str = "") -> None:
        """Stop every process of it until each `holder` has let go."""
        ...

    def thaw(self, *, holder: str = "") -> None:
        """Let go."""
        ...

    def read(
        self, patterns: tuple[str, ...], *, max_files: int, max_bytes: int
    ) -> Mapping[str, bytes]:
        """Regular files of its workspace whose relative path matches a pattern."""
        ...


@dataclass(frozen=True, slots=True)
class HostFiles:
    """The files that one agent needs, where the machine that it plays on has them."""

    program: str
    """Its path inside."""
    path: tuple[str, ...]
    """Directories inside, for PATH."""
    python: str
    """The interpreter of submissions."""
    binds: tuple[tuple[str, str], ...]
    """(path of that machine, path inside) pairs: the program, and what options and its command line
    name."""
    packages: tuple[tuple[str, str], ...]
    """The same of the numerical packages."""


def _no_hold(tree: AgentTree) -> AbstractContextManager[object]:
    """Nobody stops this tree."""
    return nullcontext(tree)


def tree_here(command: list[str], plan: ProcessTreePlan) -> AgentTree:
    """A process tree of this machine."""
    return ProcessTree(command, plan=plan, name="agent")


@dataclass(frozen=True, slots=True)
class Assignment:
    """One attempt of a command-line agent, as it is given to it.

    Example:

        Assignment(
            "Make solve() faster.", Path("workspace"), HandedIn(("*.py",)),
            check=lambda files: {"text": "2 of 3 cases pass", "valid": True},
            time_limit_s=600.0, cost_limit_usd=5.0, transcript=Path("transcript"),
        )
    """

    prompt: str
    """Its first and only message."""
    workspace: Path
    """A directory of this host: copied in at the start, replaced by what is handed in at the
    end."""
    handed_in: HandedIn
    check: Callable[[WorkFiles], Mapping[str, Any]]
    """The answer to `unhack-check` for the files as they stand: a JSON object, with `text` (what is
    printed) and `valid`."""
    time_limit_s: float
    cost_limit_usd: float
    """0 for none."""
    transcript: Path
    """A directory for what the agent said and did."""
    packages: Path | None = None
    """A folder of Python packages to import, read-only, where its tree runs; None for those of that
    machine alone."""
    start_clock: Callable[[], AttemptClock] = WallClock
    hold: Callable[[AgentTree], AbstractContextManager[object]] = _no_hold
    """Entered while the tree runs: whoever has to stop it meanwhile learns of it here."""
    device: str = ""
    """`cuda` or `cuda:N`: the card that its tree is given; empty for none."""
    files: HostFiles | None = None
    """Of the machine that its tree runs on; None for this one."""
    tree: Callable[[list[str], ProcessTreePlan], AgentTree] = tree_here
    """Makes its tree, which begins when it is entered."""
