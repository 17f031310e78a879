"""Pictures of episodes: what they were paid over their turns, and how long they took.

Covered: many episodes in one chart each; an episode that was solved has another colour.
Not covered: single episodes, which the page shows turn by turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from unhack.environments.episode_pool import FinishedEpisode
from unhack.reporting.chart import Axis, Chart, spread
from unhack.reporting.page import figure, legend

_MOST = 200
_SIZE = (430.0, 300.0)


def pictures(episodes: Sequence[FinishedEpisode]) -> str:
    """The figures of a report as HTML; empty where no episode has a turn."""
    shown = [one for one in episodes[:_MOST] if one.turns]
    if not shown:
        return ""
    most = max(len(one.turns) for one in shown)
    kinds = {"solved": "tone-good", "not solved": "tone-bad"}
    note = (
        "Left: the sum of rewards so far, one line an episode. Right: reward and turns at the end."
    )
    if len(episodes) > _MOST:
        note += f" The first {_MOST} episodes."
    charts = [_paid(shown, most), _ends(shown, most)]
    return figure("Rewards", [one.svg() for one in charts], note=note, legend=legend(kinds))


def _paid(shown: Sequence[FinishedEpisode], most: int) -> Chart:
    sums = [[0.0, *accumulate(turn.result.reward for turn in one.turns)] for one in shown]
    values = [value for line in sums for value in line]
    axis = spread([*values, 0.0, 1.0], "reward so far")
    chart = Chart(Axis(0, most, "turn"), axis, "sum of rewards over turns", size=_SIZE)
    for one, line in zip(shown, sums, strict=True):
        chart.line([(float(at), value) for at, value in enumerate(line)], kind=_tone(one))
    return chart


def _ends(shown: Sequence[FinishedEpisode], most: int) -> Chart:
    axis = spread([*(one.reward for one in shown), 0.0, 1.0], "reward")
    chart = Chart(Axis(0, most + 1, "turns"), axis, "reward and turns of episodes", size=_SIZE)
    for one in shown:
        told = f"{one.task.id}: {one.reward:.3f} after {len(one.turns)} turns"
        chart.point((len(one.turns), one.reward), told, kind=_tone(one), shape="speck")
    return chart


def _tone(one: FinishedEpisode) -> str:
    return "tone-good" if one.solved else "tone-bad"
