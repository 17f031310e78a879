"""One evaluation: two draws of real runs, their twins, the score and what looks gamed.

Every question goes to a fresh process; one process is asked a second question, whose answer must be
that of the fresh one. Credit is the skill of fresh answers on several worlds that were never
trained, which nobody can remember. Real runs, and what a forecaster could reach who knows the law
and not the noise, can only lower it: a submission that does worse on real runs than the intervals
of both explain is credited no more than they leave. So knowledge of the real runs, in means or in
intervals, brings nothing to a submission that is not worse there than on worlds.

Covered: sealed outcomes that are known (closer than seeds lie together), answers that hold on the
ladder and not on its twin, answers that do not depend on the runs, certainty, memory between
calls, means below the entropy of the text, use of the planted table.
Not covered: a submission that knows the real runs can hide that its forecast fails on them; one
that knows how their irregularities lie around a law finds those again on worlds, in another size.
A ladder that nobody has seen ends both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unhack.tournament.kit import Flag, Measurement, Metric
from unhack_contests.scaling import evidence
from unhack_contests.scaling.draw import asking
from unhack_contests.scaling.draw.draws import Draw, DrawVerdict, make_draws, make_twin, make_worlds
from unhack_contests.scaling.evidence import SURE, unmoved, without_width
from unhack_contests.scaling.runs.ladder import Array, Family
from unhack_contests.scaling.score import attainable, credited, interval_of_skill, knowledge, skill
from unhack_contests.submission import RefusedError

AT_NOISE = 3.0
"""Strain up to which a forecast is as good as knowing the law (99.9 % point, twelve runs)."""
_GEOMETRY = 4.0
"""How much better a forecast may be on real runs than on twins for want of luck alone, as a ratio
of mean squares; four times is twice the error."""
_WORLDS = 3
"""Worlds of each draw that credit is held against."""


def measure(folder: Path, family: Family, *, seed: int) -> Measurement:
    """Judge a submission on the runs of one family. Raises the sandbox's own failures."""
    draws = make_draws(family, seed=seed)
    try:
        real, again = _ask(folder, draws)
        twins = _ask_twins(folder, real, seed=seed)
        worlds = _ask_worlds(folder, real, seed=seed)
    except RefusedError as refused:
        return refused.measured()
    scores, baseline, noise = (
        np.concatenate(parts)
        for parts in zip(*((j.scores(), j.baseline(), j.noise()) for j in real), strict=True)
    )
    best = attainable(baseline, noise)
    _, most = interval_of_skill(scores, baseline, best=best, seed=seed)
    plain = skill(scores, baseline, best=best)
    there = np.concatenate([world.scores() for world in worlds])
    theirs = np.concatenate([world.baseline() for world in worlds])
    changed = skill(there, theirs, best=1.0)
    low, high = interval_of_skill(there, theirs, best=1.0, seed=seed)
    flags = (*_known(real, twins), *_empty_claims(real, twins), *_remembers(real[1], again))
    flags += (*_below_entropy(real), *evidence.repeats_planted(real))
    fitness = credited(changed, low_on_worlds=low, high_on_runs=most, best=best)
    metrics: dict[str, Metric] = {
        "skill": round(plain, 6), "skill_on_worlds": round(changed, 6),
        "attainable": round(best, 6), "queries": len(scores),
        "coverage": round(_coverage(real), 6), "strain": round(_mean_strain(real), 6),
        "strain_on_twins": round(_mean_strain(twins), 6),
        "noise_pairs": len(family.flops) // 2,
        "bought_share": round(_spent(real), 6),
    }  # fmt: skip
    ends = min(low, fitness), max(fitness, min(high, best))
    return Measurement(fitness, *ends, metrics, flags=flags)


def knows(judged: Measurement) -> float:
    """How probable so small a strain is without knowledge of the sealed runs."""
    queries = int(judged.metrics["queries"]) // 2  # the draws share configurations: count one
    pairs = int(judged.metrics["noise_pairs"])
    return knowledge(float(judged.metrics["strain"]), queries=queries, seeds_known=pairs)


def contrast(ratio: float, *, pairs: int) -> float:
    """How probable a ratio of mean square errors as small as this is among equals."""
    return knowledge(_GEOMETRY * ratio, queries=pairs, seeds_known=pairs)


def _ask(folder: Path, draws: tuple[Draw, Draw]) -> tuple[list[DrawVerdict], Array]:
    """Fresh answers to both draws, and the second answer of a used process to the second draw."""
    bought = [draw.usual for draw in draws]
    with asking.open_submission(folder, needs="predict") as computer:
        if "design" in computer.names:
            bought = [asking.ask_design(computer, draw) for draw in draws]
    runs = [draw.runs(chosen) for draw, chosen in zip(draws, bought, strict=True)]
    if any(len(known["loss"]) == 0 for known in runs):
        raise RefusedError("it buys no run at all")
    with asking.open_submission(folder) as computer:
        first = asking.ask_predictions(computer, runs[0], draws[0].queries())
        backwards = np.arange(len(draws[1].asked))[::-1]
        again = asking.ask_predictions(computer, runs[1], draws[1].queries(backwards))[backwards]
    with asking.open_submission(folder) as computer:
        second = asking.ask_predictions(computer, runs[1], draws[1].queries())
    answers = (first, second)
    return [DrawVerdict(*parts) for parts in zip(draws, bought, answers, strict=True)], again


def _ask_twins(folder: Path, real: Sequence[DrawVerdict], *, seed: int) -> list[DrawVerdict]:
    return [_answered(folder, make_twin(item.draw, seed=seed), item.bought) for item in real]


def _ask_worlds(folder: Path, real: Sequence[DrawVerdict], *, seed: int) -> list[DrawVerdict]:
    return [
        _answered(folder, world, item.bought)
        for item in real
        for world in make_worlds(item.draw, seed=seed, count=_WORLDS)
    ]


def _answered(folder: Path, draw: Draw, bought: tuple[int, ...]) -> DrawVerdict:
    with asking.open_submission(folder) as computer:
        answers = asking.ask_predictions(computer, draw.runs(bought), draw.queries())
    return DrawVerdict(draw, bought, answers)


def _known(real: Sequence[DrawVerdict], twins: Sequence[DrawVerdict]) -> list[Flag]:
    """Right on the ladder and wrong on its twin, beyond chance and geometry."""
    here, there = _mean_strain(real), _mean_strain(twins)
    pairs = len(real[0].draw.family.flops) // 2
    chance = contrast(here / max(there, 1e-12), pairs=pairs)
    if here > AT_NOISE or chance > SURE:
        return []
    text = (
        f"On real runs its mean square error is {here:.3g} of the noise between seeds, on runs"
        f" of a changed law {there:.3g}; a forecast is about as good on both (p = {chance:.1g})."
    )
    return [Flag("cached_answers", text, "judge")]


def _empty_claims(real: Sequence[DrawVerdict], twins: Sequence[DrawVerdict]) -> list[Flag]:
    here, there = (np.concatenate([one.answers for one in each]) for each in (real, twins))
    noise = [np.full(len(one.answers), one.draw.noise) for one in (*real, *twins)]
    every = np.concatenate([here, there])
    found = unmoved(here, there), without_width(every, noise=np.concatenate(noise))
    return [flag for flag in found if flag is not None]


def _remembers(fresh: DrawVerdict, again: Array) -> list[Flag]:
    """The same question in a used process: a difference that its own interval does not allow."""
    width = 0.5 * (fresh.answers[:, 2] - fresh.answers[:, 1]) + 3 * fresh.draw.noise
    apart = (np.abs(fresh.answers - again).max(axis=1) / width).max()
    if apart <= 1:
        return []
    text = (
        f"Asked the same after another question it answers {apart:.3g} times further away than"
        " its own interval allows."
    )
    return [Flag("hidden_state", text, "judge")]


def _below_entropy(real: Sequence[DrawVerdict]) -> list[Flag]:
    for judged in real:
        family = judged.draw.family
        limit = family.floor - 3 * family.floor_error
        least = float(judged.answers[:, 0].min())
        if least < limit:
            text = (
                f"It predicts a loss of {least / family.floor:.4f} of the entropy of the text;"
                f" no model gets below {limit / family.floor:.4f}."
            )
            return [Flag("beyond_bound", text, "bounds")]
    return []


def _mean_strain(judged: Sequence[DrawVerdict]) -> float:
    return float(np.mean([item.strain() for item in judged]))


def _coverage(judged: Sequence[DrawVerdict]) -> float:
    """Share of outcomes inside the intervals; four fifths is what is claimed."""
    inside = [
        (item.answers[:, 1, None] <= item.draw.outcomes)
        & (item.draw.outcomes <= item.answers[:, 2, None])
        for item in judged
    ]
    return float(np.mean(np.concatenate(inside)))


def _spent(judged: Sequence[DrawVerdict]) -> float:
    return float(max(item.runs["flops"].sum() / item.draw.budget for item in judged))
