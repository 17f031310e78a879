"""The options of an audit: tiers, budgets, and helpers that a user hands in.

Covered: every option of `unhack.audit.audit`, with its default.
Not covered: how tiers share a budget; see `unhack.audit.tiers`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Protocol

from unhack.audit.attack import Knowledge
from unhack.audit.language_models.attacker import ModelAttacker
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Prover
from unhack.audit.report.discovery import Discovery
from unhack.audit.search.strategies.search import HackSearch
from unhack.audit.subject import Subject


class Tier(IntEnum):
    """The tiers of an audit by their numbers."""

    HEURISTIC = 1
    """Attacks that know the problem alone."""
    WHITE_BOX = 2
    """Attacks that follow suspicions about the verifier's source."""
    BLACK_BOX = 3
    """Search with scores alone."""
    MUTATION = 4
    """Mutants of a correct program."""
    LEARNING = 5
    """A policy trained against the verifier."""


TIERS: tuple[int, ...] = (1, 2, 3, 4)
"""The tiers of an audit for which nothing else is asked."""
Targets = Sequence[tuple[Baseline, Knowledge]]
"""The problems that are attacked."""


@dataclass(frozen=True, slots=True)
class TierLimit:
    """The most that one tier may use.

    Example:

        AuditOptions(limits={3: TierLimit(calls=500, seconds=20.0)})
    """

    calls: float = math.inf
    """Calls of the verifier."""
    seconds: float = math.inf


class Discoverer(Protocol):
    """Trains a policy against the verifier that a prover audits."""

    def refusal(self, subject: Subject, *, judged: bool) -> str:
        """The reason why it cannot take a subject, before anything runs; empty where it can.
        `judged` is true where the user's own oracle decides."""
        ...

    def __call__(
        self, prover: Prover, targets: Targets, hacks: HackSearch, /, *, seed: int
    ) -> Discovery:
        """Use up `prover.budget` at most, weigh what passes and is wrong. The policy is rewarded
        with raw scores alone: the oracle decides only what is weighed and drawn."""
        ...


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """The extent of an audit.

    Example:

        options = AuditOptions(tiers=(1, 2), seconds=60.0, stop_at_first=True)
        report = audit(load_subject("reward.py:score"), options=options)
    """

    tiers: tuple[int, ...] = TIERS
    """Numbers of `Tier`, run in this order."""
    calls: int = 6000
    """Most calls of the verifier, in all tiers."""
    calls_made: int = 0
    """Calls of the verifier before the audit, which count too: those that found its inputs."""
    seconds: float = 120.0
    """Most seconds, in all tiers."""
    cpu_s: float = math.inf
    """Most CPU seconds of this process and the sandbox, in all tiers."""
    limits: Mapping[int, TierLimit] = field(default_factory=dict[int, TierLimit])
    """The most that a tier may use; else its share, and what the others leave."""
    seed: int = 0
    """Seed of inputs, mutants and the search."""
    thorough: bool = False
    """Every problem gets every payload; else two do, and two more a few of each attack."""
    oracle: str | Path | None = None
    """A file that defines `is_wrong` (`oracle.own_oracle`)."""
    run_folder: str | Path | None = None
    """The folder in which scores are kept; the same audit with the same folder goes on."""
    attacker: ModelAttacker | None = None
    """A language model for tiers 2 and 3; without one these tiers do the rest."""
    discoverer: Discoverer | None = None
    """The trainer of tier 5; without one it is not run."""
    stop_at_first: bool = False
    """End as soon as one exploit is proven."""
    power_s: float = 0.0
    """Most seconds, besides those above, for audits of weakened copies; 0 for none."""
