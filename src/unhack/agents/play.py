"""One attempt of an agent: what it is given, how it ended, what it cost.

Covered: the order to a command-line agent as plain values, so that whoever sets it to work (a
round of a tournament, an episode) says what may be handed in, how a check is answered and which
clock counts.
Not covered: whether what comes back is any good.
"""

from __future__ import annotations

import time
import typing
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from unhack.sandbox.workspace.process_tree import ProcessTree

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
    """The cost of one attempt."""

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
    """The outcome of an attempt; the submission itself is taken from the workspace."""

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
    """The files that are taken from a workspace."""

    patterns: tuple[str, ...]
    """Of relative paths (`fnmatch`)."""
    required: tuple[str, ...] = ()
    """Their absence is told in the note of the play."""
    excused_by: str = ""
    """A file in whose presence nothing is required."""
    max_files: int = 96
    max_bytes: int = 12 << 20


def _no_hold(tree: ProcessTree) -> AbstractContextManager[object]:
    """Nobody stops this tree."""
    return nullcontext(tree)


@dataclass(frozen=True, slots=True)
class Assignment:
    """One attempt of a command-line agent, as it is given to it."""

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
    """A folder of Python packages to import, read-only; None for those of this host alone."""
    start_clock: Callable[[], AttemptClock] = WallClock
    hold: Callable[[ProcessTree], AbstractContextManager[object]] = _no_hold
    """Entered while the tree runs: whoever has to stop it meanwhile learns of it here."""
    device: str = ""
    """`cuda` or `cuda:N`: the card that its tree is given; empty for none."""
