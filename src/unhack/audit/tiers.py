"""The tiers of an audit in turn, each with its part of the budget.

A tier gets its share of what is left of calls and seconds; what it leaves is there for the next,
and what was cut short goes on at the end while anything is left. So slow heuristics do not keep
the verifier's source from being read.

Covered: tiers 1 (heuristics), 2 (leads of the source), 3 (search with scores alone), 4 (mutants),
5 (a policy trained against the verifier) where a discoverer is handed in.
Not covered: how that policy is trained; `unhack.training.discovery` does it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.registry import attacks_of
from unhack.audit.language_models import attacker as model_attacker
from unhack.audit.language_models.attacker import ModelAttacker
from unhack.audit.mutation.mutants import mutants
from unhack.audit.oracle.programs import program_text
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.report.discovery import Discovery
from unhack.audit.search import evolve as search

TIERS = (1, 2, 3, 4)
Targets = Sequence[tuple[Baseline, Knowledge]]
_SHARES = {1: 3.0, 2: 2.0, 3: 1.0, 4: 2.0, 5: 6.0}
_MUTANTS = 48
_SEARCHED = 2
"""Problems that tier 3 searches on: the same verifier answers on all of them."""
_SURVIVOR = Attack(
    name="mutants/survivor", flaw="weak_cases", tier=4, for_code=True, make=lambda known: ()
)


@dataclass(frozen=True, slots=True)
class TierLimit:
    """What one tier may use at most."""

    calls: float = math.inf
    """Runs of the verifier."""
    seconds: float = math.inf


class Discoverer(Protocol):
    """Trains a policy against the verifier of a hunt."""

    def __call__(self, hunt: Prover, targets: Targets, /, *, seed: int) -> Discovery:
        """Use up `hunt.budget` at most, weigh what passes and is wrong. The policy is rewarded with
        raw scores alone: the oracle decides only what is weighed and drawn."""
        ...


class TierOptions(Protocol):
    """What of an audit's options matters here."""

    @property
    def tiers(self) -> tuple[int, ...]:
        """Those to run, in this order."""
        ...

    @property
    def limits(self) -> Mapping[int, TierLimit]:
        """By tier, where one has a limit of its own."""
        ...

    @property
    def seed(self) -> int:
        """Chooses mutants and the search."""
        ...

    @property
    def attacker(self) -> ModelAttacker | None:
        """A language model for tiers 2 and 3."""
        ...

    @property
    def discoverer(self) -> Discoverer | None:
        """Who trains a policy in tier 5."""
        ...


@dataclass(frozen=True, slots=True)
class TiersRun:
    """What the tiers came to, besides what the hunt holds."""

    mutation_score: float | None = None
    skipped: tuple[tuple[int, str], ...] = ()
    """(tier, why it was not run to its end)."""
    discovery: Discovery | None = None


def run_tiers(hunt: Prover, targets: Targets, *, options: TierOptions) -> TiersRun:
    """Every tier of the options. Uses up the hunt's budget."""
    whole = hunt.budget
    cut: dict[int, str] = {}
    mutation_score: float | None = None
    discovery: Discovery | None = None
    for place, tier in enumerate(options.tiers):
        if hunt.over or whole.spent:
            cut[tier] = hunt.over or whole.spent
            continue
        hunt.budget = _part(whole, options, place)
        given = hunt.budget.calls
        score, why = None, ""
        if tier != 5:
            score, why = _run(hunt, targets, tier=tier, options=options)
        elif options.discoverer is None:
            why = "reinforcement learning needs unhack[train]"
        else:
            discovery = options.discoverer(hunt, targets, seed=options.seed)
            why = discovery.why
        whole.calls -= given - hunt.budget.calls
        mutation_score = score if tier == 4 else mutation_score
        if why:
            cut[tier] = why
    hunt.budget = whole
    for tier in [tier for tier in cut if tier not in options.limits]:
        if not hunt.over and hunt.waiting(f"tier {tier}"):
            cut[tier] = hunt.go_on(f"tier {tier}")
    skipped = tuple((tier, why) for tier, why in cut.items() if why)
    return TiersRun(mutation_score, skipped, discovery)


def _part(whole: Budget, options: TierOptions, place: int) -> Budget:
    """What the tier at this place may use."""
    tier = options.tiers[place]
    share = _SHARES[tier] / (sum(_SHARES[each] for each in options.tiers[place:]) or 1.0)
    now = time.monotonic()
    calls, seconds = share * whole.calls, share * (whole.until - now)
    limit = options.limits.get(tier)
    if limit is not None:
        calls = min(limit.calls, whole.calls)
        seconds = min(limit.seconds, whole.until - now)
    return Budget(math.ceil(calls), now + seconds)


def _run(
    hunt: Prover, targets: Targets, *, tier: int, options: TierOptions
) -> tuple[float | None, str]:
    """One tier: (mutation score, why it was cut short)."""
    marks = [mark for mark, _ in targets]
    score: float | None = None
    if tier == 1:
        why = hunt.attack("tier 1", attacks_of(1), targets)
    elif tier == 2:
        why = "" if targets[0][1].source is not None else "the verifier has no source of its own"
        why = why or hunt.attack("tier 2", attacks_of(2), targets)
    elif tier == 3:
        why = search.evolve(hunt, marks[:_SEARCHED], seed=options.seed)
    else:
        score, why = _run_mutants(hunt, marks, seed=options.seed)
    if not why and tier in (2, 3) and options.attacker is not None:
        asked = model_attacker.run(hunt, targets, tier=tier, attacker=options.attacker)
        notes = "; ".join(filter(None, [asked, *options.attacker.notes[:3]]))
        why = f"the model: {notes}" if notes else ""
    return score, why


def _run_mutants(hunt: Prover, marks: Sequence[Baseline], *, seed: int) -> tuple[float | None, str]:
    """(share of the proven-wrong mutants that were rejected, why it was cut short)."""
    waiting = [
        (mark, _SURVIVOR, Payload(mutant.source, Claim.PROGRAM, note=mutant.note))
        for mark in marks
        if mark.problem.is_code and mark.problem.correct
        for mutant in mutants(program_text(mark.problem.correct[0]), limit=_MUTANTS, seed=seed)
    ]
    if not waiting:
        return None, "there is no program to mutate"
    wrong = [
        item
        for item in waiting
        if not hunt.budget.spent and hunt.oracle.why_wrong(item[0].problem, item[2]) is not None
    ]
    before = sum(record.passed for record in hunt.tried if record.attack == _SURVIVOR.name)
    why = hunt.shoot("tier 4", wrong)
    after = sum(record.passed for record in hunt.tried if record.attack == _SURVIVOR.name)
    if why or not wrong:
        return None, why or "no mutant could be shown to be wrong"
    return 1 - (after - before) / len(wrong), ""
