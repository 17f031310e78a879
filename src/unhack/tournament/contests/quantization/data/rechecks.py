# ruff: noqa: N803, N806, N815 - axes are part of a tensor's name
"""Questions of stage 2 that are asked again, as they were and with other tokens behind some place.

Some of the batches are asked a second time in a fresh process, and a third time in another one with
every window changed from its own place on; every fourth window is another from its beginning. Like
is compared with like: a batch keeps its shape, and a window its row. A decoder that looks only at
the tokens before gives the same numbers then, up to the last bits of its own arithmetic.

Axes: N windows, T tokens, P positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack.tournament.contests.quantization.data.questions import Questions

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


def recheck(questions: Questions, others: Array, *, batch: int, seed: int) -> Rechecks:
    """Which batches of the questions are asked again, and with what in place of later tokens.

    `others` [M, T + 1]: windows of the same kind whose tokens are put there.
    """
    rng = np.random.default_rng([seed & (2**63 - 1), 17])
    order: Array = questions.order
    every: list[Array] = [order[first : first + batch] for first in range(0, len(order), batch)]
    count = min(len(every), max(_LEAST, -(-len(every) // _SHARE)))
    picked: list[int] = rng.permutation(len(every))[:count].tolist()
    chosen = tuple(every[index] for index in picked)
    changed = questions.tokens().copy()
    cut_N = np.zeros(len(changed), dtype=np.int64)
    # A prediction is checked against its very next token where the place lies right behind it.
    places = questions.positions_P[questions.positions_P < changed.shape[1] - 1] + 1
    rows: list[int] = np.concatenate(chosen).tolist()
    for index, row in enumerate(rows):
        place = 0 if batch > 1 and index % _REPLACED == 0 else int(rng.choice(places))
        cut_N[row] = place
        tail = others[rng.integers(len(others))][place : changed.shape[1]]
        kept = changed[row, place]
        changed[row, place:] = tail
        if changed[row, place] == kept:
            different = tail[tail != kept]
            changed[row, place] = rng.choice(different) if len(different) else kept ^ 1
    return Rechecks(chosen, changed, cut_N)
