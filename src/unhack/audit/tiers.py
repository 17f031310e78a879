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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from unhack.audit.attack import Attack, Claim, Payload, framed
from unhack.audit.attacks.registry import attacks_of
from unhack.audit.language_models import attacker as model_attacker
from unhack.audit.language_models.strategies import StrategyWriter
from unhack.audit.options import AuditOptions, Targets, Tier
from unhack.audit.oracle.programs import program_text
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.report.discovery import Discovery
from unhack.audit.report.plan import PartEnd, PlanPart
from unhack.audit.search import evolve as search
from unhack.audit.search.mutation.mutants import mutants
from unhack.audit.search.strategies.search import TIERS as STRATEGY_TIERS
from unhack.audit.search.strategies.search import HackSearch

_SHARES: Mapping[int, float] = {
    Tier.HEURISTIC: 3.0,
    Tier.WHITE_BOX: 2.0,
    Tier.BLACK_BOX: 1.0,
    Tier.MUTATION: 2.0,
    Tier.LEARNING: 6.0,
}
_FOR_HACKS = 0.6
"""Of what a tier may use: hacks decide, false accepts do not."""
_PARTS: Mapping[int, str] = {
    Tier.HEURISTIC: "attacks",
    Tier.WHITE_BOX: "attacks on the source",
    Tier.BLACK_BOX: "search",
    Tier.MUTATION: "mutants",
    Tier.LEARNING: "trained policy",
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
    plan: tuple[PlanPart, ...] = ()
    """Every part of the tiers, and how it ended."""
    discovery: Discovery | None = None


@dataclass(frozen=True, slots=True)
class _TierOutcome:
    """The result of one tier."""

    why: str = ""
    """The reason why it was cut short; empty when it was not."""
    end: PartEnd = PartEnd.STOPPED
    """The end of one that was cut short."""
    mutation_score: float | None = None
    discovery: Discovery | None = None


@dataclass(frozen=True, slots=True)
class _Work:
    """All that a tier works on."""

    prover: Prover
    targets: Targets
    options: AuditOptions
    hacks: HackSearch


def run_tiers(
    prover: Prover, targets: Targets, *, options: AuditOptions, hacks: HackSearch
) -> TiersRun:
    """Run every tier of the options, and try as hacks what they find. Uses up the prover's
    budget."""
    work = _Work(prover, targets, options, hacks)
    whole = prover.budget
    cut: dict[int, str] = {}
    strategies: dict[int, str] = {}
    outcomes: dict[int, _TierOutcome] = {}
    for place, tier in enumerate(options.tiers):
        if prover.over or whole.spent:
            cut[tier] = strategies[tier] = prover.over or whole.spent
            continue
        prover.budget = _part(whole, options, place)
        given = prover.budget.calls
        strategies[tier] = _search_hacks(prover, hacks, tier)
        outcomes[tier] = outcome = _RUNS[tier](work)
        whole.calls -= given - prover.budget.calls
        if outcome.why:
            cut[tier] = outcome.why
    prover.budget = whole
    for tier in [tier for tier in hacks.cut if tier not in options.limits]:
        if not prover.over and not whole.spent:
            strategies[tier] = hacks.resume(tier)
    for tier in [tier for tier in cut if tier not in options.limits]:
        if not prover.over and prover.waiting(f"tier {tier}"):
            cut[tier] = prover.resume(f"tier {tier}")
    hacks.try_texts(prover.proofs)
    return TiersRun(
        mutation_score=outcomes.get(Tier.MUTATION, _TierOutcome()).mutation_score,
        plan=tuple(_plan(work, outcomes, cut, strategies)),
        discovery=outcomes.get(Tier.LEARNING, _TierOutcome()).discovery,
    )


def _plan(
    work: _Work,
    outcomes: Mapping[int, _TierOutcome],
    cut: Mapping[int, str],
    strategies: Mapping[int, str],
) -> Iterator[PlanPart]:
    """The parts of all tiers; `cut` and `strategies` say why the tier's own part and the search for
    hacks with its attacks were cut short."""
    for tier in work.options.tiers:
        if tier in STRATEGY_TIERS:
            why = strategies.get(tier, "")
            end = PartEnd.STOPPED if why else PartEnd.DONE
            yield PlanPart(tier, "strategies", end, why, *work.hacks.progress(tier))
        why = cut.get(tier, "")
        end = outcomes.get(tier, _TierOutcome()).end if why else PartEnd.DONE
        stage = f"tier {tier}"
        planned = work.prover.planned(stage)
        yield PlanPart(tier, _PARTS[tier], end, why, planned, planned - work.prover.waiting(stage))


def _search_hacks(prover: Prover, hacks: HackSearch, tier: int) -> str:
    """Search for hacks with most of what a tier may use; return why it was cut short."""
    whole, now = prover.budget, time.monotonic()
    calls = math.ceil(_FOR_HACKS * whole.calls)
    until = now + _FOR_HACKS * (whole.until - now)
    prover.budget = replace(whole, calls=calls, until=until)
    why = hacks.run(tier)
    whole.calls -= calls - prover.budget.calls
    prover.budget = whole
    return why


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
    return replace(whole, calls=math.ceil(calls), until=now + seconds)


def _run_heuristics(work: _Work) -> _TierOutcome:
    return _TierOutcome(work.prover.attack("tier 1", _with_answers(1), work.targets))


def _run_white_box(work: _Work) -> _TierOutcome:
    if work.targets[0][1].source is None:
        return _TierOutcome("the verifier has no source of its own", PartEnd.NOT_APPLICABLE)
    why = work.prover.attack("tier 2", _with_answers(2), work.targets)
    return _TierOutcome(why) if why else _TierOutcome(_ask_model(work, tier=2), PartEnd.FAILED)


def _run_black_box(work: _Work) -> _TierOutcome:
    baselines = [baseline for baseline, _ in work.targets]
    why = search.evolve(work.prover, baselines[:_SEARCHED], seed=work.options.seed)
    return _TierOutcome(why) if why else _TierOutcome(_ask_model(work, tier=3), PartEnd.FAILED)


def _with_answers(tier: int) -> list[Attack]:
    """The attacks of a tier that a right answer is of use to."""
    return [attack for attack in attacks_of(tier) if not attack.of_prompt]


def _ask_model(work: _Work, *, tier: int) -> str:
    """Attack with the language model where there is one, with strategies before completions;
    return why it was cut short."""
    attacker = work.options.attacker
    if attacker is None or tier not in attacker.tiers:
        return ""
    asked = StrategyWriter(attacker, work.prover, work.hacks, tier).run()
    if not asked and not attacker.strategies_only:
        asked = model_attacker.run(work.prover, work.targets, tier=tier, attacker=attacker)
    notes = "; ".join(filter(None, [asked, *attacker.notes[:3]]))
    return f"the model: {notes}" if notes else ""


def _run_learning(work: _Work) -> _TierOutcome:
    discover, seed = work.options.discoverer, work.options.seed
    if discover is None:
        return _TierOutcome("reinforcement learning needs unhack[train]", PartEnd.FAILED)
    discovery = discover(work.prover, work.targets, work.hacks, seed=seed)
    # Training has no end of its own: it used what it may use, or was interrupted.
    end = PartEnd.DONE if discovery.curve and not discovery.interrupted else PartEnd.STOPPED
    return _TierOutcome(discovery.why, end, discovery=discovery)


def _run_mutants(work: _Work) -> _TierOutcome:
    """Score mutants; the mutation score is the share of proven-wrong ones that were rejected."""
    prover, seed = work.prover, work.options.seed
    waiting = [
        (
            baseline,
            _SURVIVOR,
            framed(Payload(one.source, Claim.PROGRAM, note=one.note), known.frame),
        )
        for baseline, known in work.targets
        if baseline.problem.is_code and baseline.problem.correct
        for one in mutants(program_text(baseline.problem.correct[0]), limit=_MUTANTS, seed=seed)
    ]
    if not waiting:
        return _TierOutcome("there is no program to mutate", PartEnd.NOT_APPLICABLE)
    wrong = [
        item
        for item in waiting
        if not prover.budget.spent and prover.oracle.why_wrong(item[0].problem, item[2]) is not None
    ]
    before, spent = _survivors(prover), prover.budget.spent
    why = prover.prove("tier 4", wrong) or spent
    if why or not wrong:
        unsaid = "no mutant could be shown to be wrong"
        return _TierOutcome(why) if why else _TierOutcome(unsaid, PartEnd.NOT_APPLICABLE)
    return _TierOutcome(mutation_score=1 - (_survivors(prover) - before) / len(wrong))


def _survivors(prover: Prover) -> int:
    return sum(record.rewarded for record in prover.tried if record.attack == _SURVIVOR.name)


_RUNS: Mapping[int, Callable[[_Work], _TierOutcome]] = {
    Tier.HEURISTIC: _run_heuristics,
    Tier.WHITE_BOX: _run_white_box,
    Tier.BLACK_BOX: _run_black_box,
    Tier.MUTATION: _run_mutants,
    Tier.LEARNING: _run_learning,
}
