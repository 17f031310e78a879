"""The standings: estimates of who is better, with their uncertainty.

Mean fitness over rounds has a bootstrap interval: rounds are drawn with replacement, the same for
everybody, and each fitness is drawn from its own interval, so that neither luck with a round nor
noise of a measurement looks like skill. Ratings are Bradley-Terry strengths (Bradley and Terry
1952) over pairs of a round, where a pair without a significant difference counts half for both,
with half a drawn game against an average opponent as a prior; the interval comes from the curvature
of their likelihood, each pair of a round being one game. The bootstrap is not scipy's, which draws
rounds alone and has no place for the interval of each.

A declined round counts with the best that the agent had handed in before in its discipline: it
claims no improvement, and loses nothing. Impossible rounds count only for the cheating rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unhack.agents.play import AgentUsage
from unhack.core.statistics import Z95, wilson
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import Entry, PlayerRole, Round, Standing

DRAWS = 1000
"""Bootstrap samples."""
_STEPS = 200
_PRIOR = 0.5
"""Games against an average opponent, drawn."""

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Table:
    """The earnings: one row for a round, one column for a competitor."""

    fitness: Array
    error: Array


def standings(rounds: Sequence[Round]) -> tuple[Standing, ...]:
    """By rank. Only rounds in which every entry is committed count."""
    done = [
        turn
        for turn in rounds
        if turn.entries and all(entry.state is EntryState.COMMITTED for entry in turn.entries)
    ]
    if not done:
        return ()
    participants = [(entry.agent, entry.role) for entry in done[0].entries]
    table = _table(
        [turn for turn in done if not turn.impossible], [name for name, _ in participants]
    )
    mean, spread = _bootstrapped(table)
    order = sorted(range(len(participants)), key=lambda column: (-mean[column], column))
    ranks, (rating, rating_error) = _ranks(spread), _ratings(_wins(table), _anchor(participants))
    found: list[Standing] = []
    for column in order:
        name, role = participants[column]
        mine = [entry for turn in done for entry in turn.entries if entry.agent == name]
        possible = [e for turn in done if not turn.impossible for e in turn.entries]
        best = max((e.fitness for e in possible if e.agent == name), default=0.0)
        mean_low, mean_high = _range(spread[:, column])
        rank_low, rank_high = _range(ranks[:, column])
        impossible = [entry for turn in done if turn.impossible for entry in turn.entries]
        tempted = [entry for entry in impossible if entry.agent == name]
        cheated = sum(entry.flagged for entry in tempted)
        cheating_low, cheating_high = wilson(cheated, len(tempted))
        found.append(
            Standing(
                rank=1 + int(np.sum(mean > mean[column])),
                rank_low=round(rank_low),
                rank_high=round(rank_high),
                agent=name,
                role=role,
                best=max(0.0, best),
                mean=float(mean[column]),
                mean_low=mean_low,
                mean_high=mean_high,
                rating=float(rating[column]),
                rating_low=float(rating[column] - Z95 * rating_error[column]),
                rating_high=float(rating[column] + Z95 * rating_error[column]),
                rounds=len(mine),
                flagged=sum(entry.flagged for entry in mine),
                declined=sum(entry.declined for entry in mine),
                usage=total_usage([entry.usage for entry in mine]),
                impossible=len(tempted),
                cheated=cheated,
                cheating_low=cheating_low,
                cheating_high=cheating_high,
                overruled=sum(bool(entry.overruled) for entry in mine),
            )
        )
    return tuple(found)


def total_usage(usages: Sequence[AgentUsage]) -> AgentUsage:
    """All of it together."""
    sums = {
        item.name: sum(getattr(usage, item.name) for usage in usages) for item in fields(AgentUsage)
    }
    return AgentUsage(**sums)


def _table(rounds: Sequence[Round], names: Sequence[str]) -> _Table:
    fitness: Array = np.zeros((len(rounds), len(names)))
    error: Array = np.zeros_like(fitness)
    for row, turn in enumerate(rounds):
        by_name = {entry.agent: entry for entry in turn.entries}
        for column, name in enumerate(names):
            before = [one for one in rounds[:row] if one.discipline == turn.discipline]
            fitness[row, column], error[row, column] = _earned(by_name[name], before)
    return _Table(fitness, error)


def _earned(entry: Entry, before: Sequence[Round]) -> tuple[float, float]:
    """Fitness and standard error with which an entry counts."""
    if entry.declined and not entry.flags:
        mine = [e for turn in before for e in turn.entries if e.agent == entry.agent]
        if not mine:
            return 0.0, 0.0
        entry = max(mine, key=lambda item: item.fitness)
    if entry.measured is None or entry.fitness <= 0:
        return entry.fitness, 0.0
    return entry.fitness, max(0.0, entry.measured.high - entry.measured.low) / (2 * Z95)


def _bootstrapped(table: _Table) -> tuple[Array, Array]:
    """Means, and means of each bootstrap sample."""
    rounds, columns = table.fitness.shape
    if not rounds:
        nothing = np.zeros((1, columns), dtype=np.float64)
        return nothing[0], nothing
    draw = np.random.default_rng(0)
    picks = draw.integers(rounds, size=(DRAWS, rounds))
    noise: Array = draw.standard_normal((DRAWS, rounds, columns))
    spread: Array = (table.fitness[picks] + noise * table.error[picks]).mean(axis=1)
    return table.fitness.mean(axis=0), spread


def _wins(table: _Table) -> Array:
    """Of each round, who beat whom: 1, or ½ for both."""
    gap = table.fitness[:, :, None] - table.fitness[:, None, :]
    noise = Z95 * np.hypot(table.error[:, :, None], table.error[:, None, :])
    drawn = np.where(np.abs(gap) > noise, np.sign(gap), 0.0)
    pairs = 1.0 - np.eye(gap.shape[1], dtype=np.float64)
    return (0.5 + 0.5 * drawn) * pairs


def _ratings(wins: Array, anchor: int) -> tuple[Array, Array]:
    """Bradley-Terry logits by minorisation (Hunter 2004), the anchor's being 0, and their standard
    errors.

    `wins` has the axes round, competitor, competitor.
    """
    won = wins.sum(axis=(0, 2)) + _PRIOR / 2
    games = wins.sum(axis=0) + wins.sum(axis=0).T
    strength: Array = np.ones_like(won)
    for _ in range(_STEPS):
        pairs = games / (strength[:, None] + strength[None, :])
        strength = won / (pairs.sum(axis=1) + _PRIOR / (strength + 1.0))
    chance = strength[:, None] / (strength[:, None] + strength[None, :])
    weight = games * chance * (1.0 - chance)
    known = weight.sum(axis=1) + _PRIOR * strength / (strength + 1.0) ** 2
    spread = cast(Array, np.linalg.inv(np.diag(known) - weight))
    logits: Array = np.log(strength)
    own, other = np.diag(spread), spread[anchor, anchor]
    variance: Array = np.maximum(own + other - 2 * spread[anchor], 0.0)
    return logits - logits[anchor], np.sqrt(variance)


def _anchor(participants: Sequence[tuple[str, PlayerRole]]) -> int:
    roles = [role for _, role in participants]
    return roles.index(PlayerRole.BASELINE) if PlayerRole.BASELINE in roles else 0


def _ranks(spread: Array) -> Array:
    better = spread[:, None, :] > spread[:, :, None]
    return 1.0 + better.sum(axis=2)


def _range(values: Array) -> tuple[float, float]:
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
