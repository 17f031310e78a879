"""A model without the reference: a context model of the text that agents are given.

Interpolated Witten-Bell smoothing (Witten and Bell, 1991): a context that has been followed by `d`
different tokens in `n` observations trusts them with n / (n + d) and its shorter context with the
rest. A submission earns credit only while it is closer to the reference than to this model.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Context = tuple[int, ...]


def context_model(given: Array, *, vocab: int) -> ContextModel:
    """The model of the first half of the agents' text."""
    return ContextModel(given[: len(given) // 2], order=5 if vocab <= 256 else 2, vocab=vocab)


class ContextModel:
    """Counts of what follows contexts of up to `order` tokens."""

    def __init__(self, tokens: Array, *, order: int, vocab: int) -> None:
        self._order, self._vocab = order, vocab
        self._counts: dict[Context, Counter[int]] = {}
        text: list[int] = tokens.tolist()
        for place, token in enumerate(text):
            for length in range(min(order, place) + 1):
                context = tuple(text[place - length : place])
                self._counts.setdefault(context, Counter())[token] += 1
        self._totals = {context: sum(found.values()) for context, found in self._counts.items()}

    def losses(self, windows: Array, positions: Array) -> Array:
        """Nats [N, P] of the token after each position of windows [N, T + 1]."""
        return np.array([
            [self._loss(row, place + 1) for place in positions.tolist()] for row in windows.tolist()
        ])  # fmt: skip

    def _loss(self, row: list[int], place: int) -> float:
        token, chance = row[place], 1.0 / self._vocab
        for length in range(min(self._order, place) + 1):
            context = tuple(row[place - length : place])
            found = self._counts.get(context)
            if found is None:
                break
            total, kinds = self._totals[context], len(found)
            chance = (found[token] + kinds * chance) / (total + kinds)
        return -float(np.log(chance))
