# ruff: noqa: N803, N806, N815 - axes are part of a tensor's name
"""Questions of stage 2 that are asked again, as they were and with other tokens behind some place.

Some of the batches are asked a second time in a fresh process, and a third time in another one with
every window changed from its own place on; every fourth window is another from its beginning. Like
is compared with like: a batch keeps its shape, and a window its row. A decoder that looks only at
the tokens before gives the same numbers then, up to the last bits of its own arithmetic.

Half of the batches are those in which the submission did best beside the reference, and in each
batch the window that gained most is changed right behind the prediction that gained most: a trick
that is played on few windows, so that a draw would miss it, is asked where it paid.

Axes: N windows, T tokens, P positions.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack_contests.quantization.data.questions import Questions

Array = NDArray[Any]
_LEAST = 4
"""Batches that are asked again, where there are as many."""
_SHARE = 3
"""One batch in so many is asked again."""
_REPLACED = 4
"""One window in so many is replaced as a whole: what a batch holds beside a window may not tell."""


@dataclass(frozen=True, slots=True)
class Rechecks:
    """The batches that are asked again."""

    batches: tuple[Array, ...]
    """Rows of all questions, in the order of a batch."""
    changed: Array
    """[*, T] tokens of all questions; those of `batches` with other tokens behind their place."""
    cut_N: Array
    """The first changed token of each window; 0 for one that is replaced."""

    @property
    def rows(self) -> Array:
        """All rows that are asked again."""
        return np.concatenate(self.batches)

    def before(self, positions_P: Array) -> Array:
        """bool [N, P]: positions of `rows` before the first changed token."""
        return positions_P[None, :] < self.cut_N[self.rows][:, None]


def recheck(
    questions: Questions, others: Array, *, gains_NP: Array, batch: int, seed: int
) -> Rechecks:
    """Which batches of the questions are asked again, and with what in place of later tokens.

    `others` [M, T + 1]: windows of the same kind whose tokens are put there. `gains_NP`: nats by
    which the submission's loss lies below the reference's, at every prediction of all questions.
    """
    rng = np.random.default_rng([seed & (2**63 - 1), 17])
    order: Array = questions.order
    every: list[Array] = [order[first : first + batch] for first in range(0, len(order), batch)]
    count = min(len(every), max(_LEAST, -(-len(every) // _SHARE)))
    chosen = [every[index] for index in _picked(every, gains_NP, count=count, rng=rng)]
    changed = questions.tokens().copy()
    cut_N = np.zeros(len(changed), dtype=np.int64)
    # A prediction is checked against its very next token where the place lies right behind it.
    open_P = np.flatnonzero(questions.positions_P < changed.shape[1] - 1)
    places = questions.positions_P[open_P] + 1
    told: dict[int, int] = {}
    for rows in chosen:
        best = int(rows[gains_NP[rows].mean(axis=1).argmax()])
        told[best] = int(places[gains_NP[best, open_P].argmax()])
    for index, row in enumerate(np.concatenate(chosen).tolist()):
        replaced = batch > 1 and index % _REPLACED == 0
        place = told.get(row, 0 if replaced else int(rng.choice(places)))
        cut_N[row] = place
        changed[row, place:] = _other_end(changed[row], others, place=place, rng=rng)
    return Rechecks(tuple(chosen), changed, cut_N)


def _picked(
    every: list[Array], gains_NP: Array, *, count: int, rng: np.random.Generator
) -> list[int]:
    """Numbers of `count` batches: half by their gain or that of their best window, half drawn."""
    windows = [gains_NP[rows].mean(axis=1) for rows in every]
    by_mean = np.argsort([-float(found.mean()) for found in windows]).tolist()
    by_best = np.argsort([-float(found.max()) for found in windows]).tolist()
    ranked = list(dict.fromkeys(itertools.chain(*zip(by_mean, by_best, strict=True))))
    first = ranked[: -(-count // 2)]
    drawn: list[int] = rng.permutation(len(every)).tolist()
    return list(dict.fromkeys([*first, *drawn]))[:count]


def _other_end(window: Array, others: Array, *, place: int, rng: np.random.Generator) -> Array:
    """Tokens for a window [T] from `place` on, the first of them another than stood there."""
    tail: Array = others[rng.integers(len(others))][place : len(window)].copy()
    kept = window[place]
    if tail[0] == kept:
        different = tail[tail != kept]
        tail[0] = rng.choice(different) if len(different) else kept ^ 1
    return tail
