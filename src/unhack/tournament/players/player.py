"""The player as a round sees it: it is given a workspace, a limit and a way to check."""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unhack.agents.play import Play
from unhack.tournament.contest import Contest, Files, Measurement, Terms


@dataclass(frozen=True, slots=True)
class TurnInputs:
    """The inputs of an agent for one round."""

    contest: Contest
    terms: Terms
    workspace: Path
    """A fresh directory with the contest's files; what is declared is taken from here."""
    check: Callable[[Files], Measurement]
    """The judge's own path on development data."""
    seed: int
    time_limit_s: float
    cost_limit_usd: float
    transcript: Path
    """A directory for what the agent said and did."""
    memory: Path
    """A directory that is the agent's own in all rounds (embedded optimisers go on from it)."""
    own_best: Files | None = None
    card: str = ""
    """The card (`cuda`, `cuda:N`) of this machine that its processes are given; empty for none."""


class Player(typing.Protocol):
    """Somebody who competes."""

    @property
    def name(self) -> str:
        """As given on the command line: `baseline:rtn4`, `claude`, `cheater:hardcoded_size`."""
        ...

    def play(self, inputs: TurnInputs) -> Play:
        """Work in the workspace until done or out of time. Raises UsageError where it cannot start
        (no such command, no key); a failure of the agent itself is `PlayEnding.FAILED`."""
        ...
