"""The tiers of an audit in turn, each with its part of the budget.

A tier gets its share of what is left of calls and seconds; what it leaves is there for the next,
and what was cut short goes on at the end while anything is left. So slow heuristics do not keep
the verifier's source from being read.

Covered: tiers 1 (heuristics), 2 (suspicions about the source), 3 (search with scores alone),
4 (mutants), 5 (a policy trained against the verifier) where a discoverer is handed in.
Not covered: how that policy is trained; `unhack.training.discovery` does it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from unhack.audit.attack import Attack, Claim, Payload
from unhack.audit.attacks.registry import attacks_of
from unhack.audit.language_models import attacker as model_attacker
from unhack.audit.options import AuditOptions, Targets, Tier
from unhack.audit.oracle.programs import program_text
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.report.discovery import Discovery
from unhack.audit.search import evolve as search
from unhack.audit.search.mutation.mutants import mutants

_SHARES: Mapping[int, float] = {
    Tier.HEURISTIC: 3.0,
    Tier.WHITE_BOX: 2.0,
    Tier.BLACK_BOX: 1.0,
    Tier.MUTATION: 2.0,
    Tier.LEARNING: 6.0,
}
_MUTANTS = 48
_SEARCHED = 2
"""Problems that tier 3 searches on: the same verifier answers on all of them."""
_SURVIVOR = Attack(
    name="mutants/survivor", flaw="weak_cases", tier=4, for_code=True, make=lambda known: ()
)


@dataclass(frozen=True, slots=True)
class TiersRun:
    """The results of the tiers, besides what the prover holds."""

    mutation_score: float | None = None
    skipped: tuple[tuple[int, str], ...] = ()
    """(tier, why it was not run to its end)."""
    discovery: Discovery | None = None


@dataclass(frozen=True, slots=True)
class _TierOutcome:
    """The result of one tier."""

    why: str = ""
    """The reason why it was cut short; empty when it was not."""
    mutation_score: float | None = None
    discovery: Discovery | None = None


def run_tiers(prover: Prover, targets: Targets, *, options: AuditOptions) -> TiersRun:
    """Run every tier of the options. Uses up the prover's budget."""
    whole = prover.budget
    cut: dict[int, str] = {}
    outcomes: dict[int, _TierOutcome] = {}
    for place, tier in enumerate(options.tiers):
        if prover.over or whole.spent:
            cut[tier] = prover.over or whole.spent
            continue
        prover.budget = _part(whole, options, place)
        given = prover.budget.calls
        outcomes[tier] = outcome = _RUNS[tier](prover, targets, options)
        whole.calls -= given - prover.budget.calls
        if outcome.why:
            cut[tier] = outcome.why
    prover.budget = whole
    for tier in [tier for tier in cut if tier not in options.limits]:
        if not prover.over and prover.waiting(f"tier {tier}"):
            cut[tier] = prover.resume(f"tier {tier}")
    return TiersRun(
        mutation_score=outcomes.get(Tier.MUTATION, _TierOutcome()).mutation_score,
        skipped=tuple((tier, why) for tier, why in cut.items() if why),
        discovery=outcomes.get(Tier.LEARNING, _TierOutcome()).discovery,
    )


def _part(whole: Budget, options: AuditOptions, place: int) -> Budget:
    """The budget of the tier at this place."""
    tier = options.tiers[place]
    share = _SHARES[tier] / (sum(_SHARES[each] for each in options.tiers[place:]) or 1.0)
    now = time.monotonic()
    calls, seconds = share * whole.calls, share * (whole.until - now)
    limit = options.limits.get(tier)
    if limit is not None:
        calls = min(limit.calls, whole.calls)
        seconds = min(limit.seconds, whole.until - now)
    return Budget(math.ceil(calls), now + seconds)


def _run_heuristics(prover: Prover, targets: Targets, options: AuditOptions) -> _TierOutcome:
    return _TierOutcome(prover.attack("tier 1", attacks_of(1), targets))


def _run_white_box(prover: Prover, targets: Targets, options: AuditOptions) -> _TierOutcome:
    if targets[0][1].source is None:
        return _TierOutcome("the verifier has no source of its own")
    why = prover.attack("tier 2", attacks_of(2), targets)
    return _TierOutcome(why or _ask_model(prover, targets, options, tier=2))


def _run_black_box(prover: Prover, targets: Targets, options: AuditOptions) -> _TierOutcome:
    baselines = [baseline for baseline, _ in targets]
    why = search.evolve(prover, baselines[:_SEARCHED], seed=options.seed)
    return _TierOutcome(why or _ask_model(prover, targets, options, tier=3))


def _ask_model(prover: Prover, targets: Targets, options: AuditOptions, *, tier: int) -> str:
    """Attack with the language model where there is one; return why it was cut short."""
    if options.attacker is None:
        return ""
    asked = model_attacker.run(prover, targets, tier=tier, attacker=options.attacker)
    notes = "; ".join(filter(None, [asked, *options.attacker.notes[:3]]))
    return f"the model: {notes}" if notes else ""


def _run_learning(prover: Prover, targets: Targets, options: AuditOptions) -> _TierOutcome:
    if options.discoverer is None:
        return _TierOutcome("reinforcement learning needs unhack[train]")
    discovery = options.discoverer(prover, targets, seed=options.seed)
    return _TierOutcome(discovery.why, discovery=discovery)


def _run_mutants(prover: Prover, targets: Targets, options: AuditOptions) -> _TierOutcome:
    """Score mutants; the mutation score is the share of proven-wrong ones that were rejected."""
    waiting = [
        (baseline, _SURVIVOR, Payload(mutant.source, Claim.PROGRAM, note=mutant.note))
        for baseline, _ in targets
        if baseline.problem.is_code and baseline.problem.correct
        for mutant in mutants(
            program_text(baseline.problem.correct[0]), limit=_MUTANTS, seed=options.seed
        )
    ]
    if not waiting:
        return _TierOutcome("there is no program to mutate")
    wrong = [
        item
        for item in waiting
        if not prover.budget.spent and prover.oracle.why_wrong(item[0].problem, item[2]) is not None
    ]
    before = _survivors(prover)
    why = prover.prove("tier 4", wrong)
    if why or not wrong:
        return _TierOutcome(why or "no mutant could be shown to be wrong")
    return _TierOutcome(mutation_score=1 - (_survivors(prover) - before) / len(wrong))


def _survivors(prover: Prover) -> int:
    return sum(record.passed for record in prover.tried if record.attack == _SURVIVOR.name)


_RUNS: Mapping[int, Callable[[Prover, Targets, AuditOptions], _TierOutcome]] = {
    Tier.HEURISTIC: _run_heuristics,
    Tier.WHITE_BOX: _run_white_box,
    Tier.BLACK_BOX: _run_black_box,
    Tier.MUTATION: _run_mutants,
    Tier.LEARNING: _run_learning,
}
