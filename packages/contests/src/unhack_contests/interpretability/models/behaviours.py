"""The tasks of the planted circuits, as sequences with answers at marked positions.

Token 0 begins every sequence; the others are content. An answer is a content token that follows
from the tokens before it, at positions where the mask is 1.

Covered: `induction` (repeat what followed last time), `offset` (the token k places back),
`duplicate` (the one token that occurs twice), `mirror` (the token that a closing position
matches, counted from the outside in).
Not covered: text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unhack_contests.interpretability.models.network import Array

FAMILIES = ("induction", "offset", "duplicate", "mirror")


@dataclass(frozen=True, slots=True)
class Sequences:
    """Tokens, answers and where they count; each (B, T)."""

    tokens: Array
    targets: Array
    mask: Array


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One task."""

    family: str
    vocabulary: int
    length: int
    settings: Mapping[str, int]
    """`offset`: `back`, the distance of the copied token. The others: `relay0`, ..., distances by
    which something is passed on; their sum moves the answer on."""

    @property
    def moved(self) -> int:
        """Places by which relays move the answer on."""
        return sum(by for name, by in self.settings.items() if name.startswith("relay"))


def sequences(behaviour: Behaviour, count: int, *, rng: np.random.Generator) -> Sequences:
    """`count` fresh sequences. Deterministic in the generator's state."""
    tokens = np.zeros((count, behaviour.length), dtype=np.int64)
    targets = np.zeros_like(tokens)
    mask = np.zeros(tokens.shape, dtype=np.float32)
    draw = {
        "induction": _repeat, "offset": _back, "duplicate": _twice, "mirror": _match,
    }[behaviour.family]  # fmt: skip
    for row in range(count):
        draw(behaviour, rng, into=(tokens[row], targets[row], mask[row]))
    return Sequences(tokens, targets, mask)


Rows = tuple[Array, Array, Array]


def _repeat(task: Behaviour, rng: np.random.Generator, *, into: Rows) -> None:
    tokens, targets, mask = into
    half = min(task.vocabulary - 1, (task.length - 1) // 2)
    period = int(rng.integers(max(2, half - 2), half + 1))
    words = rng.permutation(task.vocabulary - 1)[:period] + 1
    whole = np.resize(words, task.length)
    tokens[1:] = whole[: task.length - 1]
    targets[1:] = np.roll(whole, -task.moved)[1:]
    mask[period + 1 : task.length - task.moved] = 1


def _back(task: Behaviour, rng: np.random.Generator, *, into: Rows) -> None:
    tokens, targets, mask = into
    back = task.settings["back"]
    tokens[1:] = rng.integers(1, task.vocabulary, task.length - 1)
    targets[back + 1 :] = tokens[1:-back]
    mask[back + 1 :] = 1


def _twice(task: Behaviour, rng: np.random.Generator, *, into: Rows) -> None:
    tokens, targets, mask = into
    words = rng.permutation(task.vocabulary - 1)[: task.length - 1] + 1
    tokens[1 : 1 + len(words)] = words
    second = int(rng.integers(3, task.length - 1 - task.moved))
    first = int(rng.integers(1, second - 1))
    tokens[second] = tokens[first]
    targets[:] = tokens[second + task.moved]
    mask[second + 1 + task.moved :] = 1


def _match(task: Behaviour, rng: np.random.Generator, *, into: Rows) -> None:
    tokens, targets, mask = into
    tokens[1:] = rng.integers(1, task.vocabulary, task.length - 1)
    middle = (task.length + task.moved) // 2 + 1
    places = np.arange(middle, task.length)
    targets[places] = tokens[task.length - places]
    mask[places] = 1
