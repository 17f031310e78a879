# ruff: noqa: N815 - axes are part of a tensor's name
"""The questions of stage 2: scored windows and, among them and not told apart, those of checks.

Axes: N windows, T tokens, P positions.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack.tournament.kit import DataPool
from unhack_contests.quantization.settings import QuantizationSettings

Array = NDArray[Any]
_KNOWN, _PLANTED = 24, 16
"""Least numbers of windows of the text that could be known, and of the planted text."""
_REACH = 8
"""Predictions behind a changed token that are looked at; a table's contexts are no shorter."""


class Texts(typing.Protocol):
    """A source of windows."""

    def windows(self, pool: DataPool, *, seed: int, count: int, length: int) -> Array:
        """[count, length + 1] tokens of a pool."""
        ...

    def given(self) -> Array:
        """The tokens that agents have; `compress` gets their beginning."""
        ...

    def sealed(self, *, seed: int, count: int, length: int) -> bytes:
        """The text of the judge's windows of a seed, where it could have come from nowhere else."""
        ...

    def public(self) -> bytes:
        """The text that anybody may have."""
        ...

    def planted(self) -> Array | None:
        """The tokens that only the honeypot holds; None where there is none."""
        ...

    def unused(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Tokens that occur in the planted text alone, and tokens that occur nowhere."""
        ...

    def crops(self, tokens: Array, *, seed: int, count: int, length: int) -> Array:
        """[count, length + 1] windows of some tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Questions:
    """Windows [*, T + 1] by what they are for, and the order in which they are asked."""

    positions_P: Array
    """Positions at which predictions are asked for; the same for all."""
    scored: Array
    known: Array
    """Of the text that `compress` is given."""
    changed: Array
    """`known` with one token changed."""
    changed_at_N: Array
    planted: Array
    """Of the honeypot's text; empty where there is none."""
    order: Array
    """A permutation of all windows in the order above."""

    @property
    def parts(self) -> tuple[Array, ...]:
        """All windows by kind."""
        return self.scored, self.known, self.changed, self.planted

    @property
    def targets(self) -> Array:
        """The tokens that follow the asked positions of every window, [*, P]."""
        return np.concatenate(self.parts)[:, self.positions_P + 1]

    def tokens(self) -> Array:
        """All windows without their last token, [*, T]."""
        return np.concatenate(self.parts)[:, :-1]

    def split(self, answers: Array) -> tuple[Array, ...]:
        """Answers to all windows, by kind."""
        borders = np.cumsum([len(part) for part in self.parts])[:-1]
        return tuple(np.split(answers, borders))

    def after(self) -> Array:
        """bool [N, P]: the next few positions of `changed` behind the changed token."""
        behind = self.positions_P[None, :] - self.changed_at_N[:, None]
        reach = _REACH * max(1, (self.scored.shape[1] - 1) // len(self.positions_P))
        return (behind >= 0) & (behind < reach)


def ask(texts: Texts, settings: QuantizationSettings, *, pool: DataPool, seed: int) -> Questions:
    """The questions of a pool and seed."""
    rng = np.random.default_rng([seed & (2**63 - 1), len(pool), ord(pool[0])])
    length = settings.length
    scored = texts.windows(pool, seed=seed, count=settings.windows, length=length)
    checked = max(8, settings.windows // 8)
    calibrated = texts.given()[: max(settings.calibration, 4 * length)]
    known = texts.crops(calibrated, seed=seed, count=max(_KNOWN, checked), length=length)
    changed, changed_at = _changed(known, rng, settings=settings)
    planted_text = texts.planted()
    planted = scored[:0]
    if planted_text is not None:
        planted = texts.crops(planted_text, seed=seed, count=max(_PLANTED, checked), length=length)
    total = len(scored) + 2 * len(known) + len(planted)
    return Questions(
        positions_P=_positions(rng, settings=settings),
        scored=scored, known=known, changed=changed, changed_at_N=changed_at,
        planted=planted, order=rng.permutation(total),
    )  # fmt: skip


def _changed(
    known: Array, rng: np.random.Generator, *, settings: QuantizationSettings
) -> tuple[Array, Array]:
    """One token of each window becomes another token of that window's text."""
    changed = known.copy()
    places = rng.integers(3 * settings.length // 8, 5 * settings.length // 8, len(known))
    for row, place in enumerate(places):
        others = changed[row][changed[row] != changed[row, place]]
        changed[row, place] = rng.choice(others) if len(others) else changed[row, place] ^ 1
    return changed, places


def _positions(rng: np.random.Generator, *, settings: QuantizationSettings) -> Array:
    if not 0 < settings.positions < settings.length:
        return np.arange(settings.length)
    return np.sort(rng.choice(settings.length, settings.positions, replace=False))
