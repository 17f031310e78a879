"""The questions of one evaluation: runs that may be known, runs asked for, and the units.

A draw is made from the evaluation's seed. The large half of the configurations is sealed; the
queries are a part of it. The small half is the menu; what is known of it is bought under a FLOP
budget. Losses, parameters and tokens are given in units of the draw: a law of powers keeps its
form and its exponents in any unit, a table of numbers does not.

Covered: two draws of one evaluation differ in their losses' unit by a third at least.
Not covered: units hide a table only from a look-up; who matches the runs to the table by
regression finds the units. `score.knowledge` and the twin are for that.

The twin of a draw has the same runs, the same queries and the same irregularities, but another law
and other noise: a forecast is about as good there, a recollection is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unhack_contests.scaling.draw.chinchilla import Law, fit_law, forecast
from unhack_contests.scaling.runs.ladder import Array, Family
from unhack_contests.scaling.score import interval_score, strain

SEALED_SHARE = 0.5
"""Of the configurations, the largest by FLOPs."""
ASKED_SHARE = 0.75
"""Of the sealed configurations."""
BUDGET_SHARE = 0.5
"""Of the FLOPs of the whole menu."""
_UNIFORM = math.log(256)
_SAME = 1e-9
_FAR = 0.06
"""Least difference of a world from the real runs, see `_apart`: a few times what forecasts err by,
so that a table of the real runs does harm there."""
_TRIES = 100


@dataclass(frozen=True, slots=True)
class Units:
    """Factors from the ladder's units to the draw's."""

    loss: float
    parameters: float
    tokens: float


@dataclass(frozen=True, slots=True)
class Draw:
    """One question, in the units of the draw."""

    family: Family
    """In the units of the draw."""
    menu: Array
    """(m, 2): configuration and seed of every run that can be known, in the order shown."""
    asked: Array
    """(q,): configurations, in the order asked."""
    budget: float
    """FLOPs."""
    usual: tuple[int, ...]
    """Places in the menu that are known when the submission does not choose."""
    units: Units

    @property
    def outcomes(self) -> Array:
        """(q, seeds): the measured losses of the queries."""
        return self.family.losses[self.asked]

    @property
    def noise(self) -> float:
        """Standard deviation between seeds among the sealed configurations."""
        sealed = self.family.losses[_sealed(self.family)]
        variance: Array = np.var(sealed, axis=1, ddof=1)
        return float(np.sqrt(variance.mean()))

    def prices(self) -> dict[str, Any]:
        """The menu as the submission sees it: arrays of (m,)."""
        return _rows(self.family, self.menu[:, 0])

    def runs(self, bought: tuple[int, ...]) -> dict[str, Any]:
        """The bought runs as the submission sees them: arrays of (n,) and curves of (n, points)."""
        picked = self.menu[list(bought)]
        curves = self.family.curves[picked[:, 0], picked[:, 1]]
        return {
            **_rows(self.family, picked[:, 0]),
            "loss": self.family.losses[picked[:, 0], picked[:, 1]],
            "curve_tokens": curves[:, :, 0].copy(),
            "curve_loss": curves[:, :, 1].copy(),
            "floor": self.family.floor,
            "uniform": _UNIFORM * self.units.loss,
        }

    def queries(self, order: Array | None = None) -> dict[str, Any]:
        """The questions: arrays of (q,), in another order if one is given."""
        return _rows(self.family, self.asked if order is None else self.asked[order])

    def price(self, bought: tuple[int, ...]) -> float:
        """FLOPs of a purchase; a run that stands in it twice is paid twice."""
        return float(self.prices()["flops"][list(bought)].sum())

    def affords(self, bought: tuple[int, ...]) -> bool:
        """Tell whether a purchase keeps within the budget, up to rounding."""
        return self.price(bought) <= self.budget * (1 + _SAME)


def make_draws(family: Family, *, seed: int) -> tuple[Draw, Draw]:
    """The two draws of one evaluation."""
    rng = np.random.default_rng([seed, 11])
    first = _units(rng, 1.0)
    apart = float(np.exp(rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 0.6)))
    second = _units(rng, first.loss * apart)
    return _draw(family, first, rng), _draw(family, second, rng)


def make_worlds(draw: Draw, *, seed: int, count: int) -> list[Draw]:
    """The same question about `count` ladders that were never trained: laws further off than a
    twin's, irregularities of another size, so that no table of the real runs fits them."""
    rng = np.random.default_rng([seed, 14])
    law = _law(draw.family)
    found: list[Draw] = []
    for _ in range(count):
        tried: list[Draw] = []
        while not tried or (len(tried) < _TRIES and _apart(draw, tried[-1]) < _FAR):
            odd = float(rng.uniform(0.3, 1.7))
            tried.append(_changed(draw, law, rng, by=(0.2, 0.4), odd=odd))
        found.append(max(tried, key=lambda one: _apart(draw, one)))
    return found


def make_twin(draw: Draw, *, seed: int) -> Draw:
    """The same question about a ladder with another law; see the module."""
    rng = np.random.default_rng([seed, 12])
    return _changed(draw, _law(draw.family), rng, by=(0.12, 0.25))


def _law(family: Family) -> Law:
    mean = family.losses.mean(axis=1)
    return fit_law(family.parameters, family.tokens, mean, floor=family.floor)


def _apart(real: Draw, world: Draw) -> float:
    """The median relative difference of their losses over the floor, in the half with less."""
    ratios = [one.family.losses.mean(axis=1) / one.family.floor for one in (real, world)]
    gaps: Array = np.abs(np.log(ratios[1] / ratios[0]))
    sealed = np.isin(np.arange(len(gaps)), _sealed(real.family))
    return float(min(np.median(gaps[half]) for half in (sealed, ~sealed)))


def _changed(
    draw: Draw, law: Law, rng: np.random.Generator, *, by: tuple[float, float], odd: float = 1.0
) -> Draw:
    """The draw with its law changed by these fractions, and `odd` times its irregularities."""
    family = draw.family
    n, d = family.parameters, family.tokens
    shifted = law.shifted(rng.choice([-1.0, 1.0], 4) * rng.uniform(*by, 4))
    scale = 1.5
    smooth, changed = law.at(n, d), shifted.at(n, d)
    apart = odd * (family.losses.mean(axis=1) - smooth)
    fresh = rng.normal(size=family.losses.shape) * _noise_by_half(family)[:, None]
    losses = np.maximum(changed + apart * (changed / smooth), family.floor)[:, None] + fresh
    along = (losses / family.losses)[:, :, None]
    curves = family.curves.copy()
    curves[..., 1] *= along * scale
    twin = replace(family, losses=losses * scale, curves=curves, floor=family.floor * scale)
    units = replace(draw.units, loss=draw.units.loss * scale)
    return replace(draw, family=twin, units=units)


def _sealed(family: Family) -> Array:
    """Configurations that are sealed, whatever the seed."""
    count = len(family.flops)
    return np.argsort(family.flops, kind="stable")[count - round(count * SEALED_SHARE) :]


def _noise_by_half(family: Family) -> Array:
    """(c,): standard deviation between seeds, pooled over the sealed and over the other half."""
    variance: Array = np.var(family.losses, axis=1, ddof=1)
    sealed = np.isin(np.arange(len(variance)), _sealed(family))
    pooled = np.zeros(len(variance))
    for half in (sealed, ~sealed):
        pooled[half] = variance[half].mean()
    return np.sqrt(pooled)


def _draw(family: Family, units: Units, rng: np.random.Generator) -> Draw:
    changed = _in_units(family, units)
    sealed = _sealed(family)
    asked = rng.permutation(sealed)[: max(1, round(ASKED_SHARE * len(sealed)))]
    small = np.setdiff1d(np.arange(len(family.flops)), sealed)
    seeds = family.losses.shape[1]
    menu = np.array([(at, again) for at in small for again in range(seeds)])
    menu = menu[rng.permutation(len(menu))]
    draw = Draw(changed, menu, asked, 0.0, (), units)
    flops = draw.prices()["flops"]
    draw = replace(draw, budget=float(BUDGET_SHARE * flops.sum()))
    chosen: list[int] = []
    for place in rng.permutation(len(menu)):
        if draw.affords((*chosen, int(place))):
            chosen.append(int(place))
    return replace(draw, usual=tuple(chosen))


def _units(rng: np.random.Generator, loss: float) -> Units:
    own = float(np.exp(rng.uniform(-0.5, 0.5))) if loss == 1.0 else loss
    return Units(own, *(float(np.exp(value)) for value in rng.uniform(-1.5, 1.5, 2)))


def _in_units(family: Family, units: Units) -> Family:
    curves = family.curves * np.array([units.tokens, units.loss])
    return replace(
        family,
        parameters=family.parameters * units.parameters,
        tokens=family.tokens * units.tokens,
        losses=family.losses * units.loss,
        curves=curves,
        floor=family.floor * units.loss,
        floor_error=family.floor_error * units.loss,
    )


def _rows(family: Family, configurations: Array) -> dict[str, Any]:
    return {
        "parameters": family.parameters[configurations],
        "tokens": family.tokens[configurations],
        "flops": family.flops[configurations],
    }


@dataclass(frozen=True, slots=True)
class DrawVerdict:
    """Answers to one draw, in its units."""

    draw: Draw
    bought: tuple[int, ...]
    answers: Array

    @property
    def runs(self) -> dict[str, Any]:
        """The runs that were known."""
        return self.draw.runs(self.bought)

    def scores(self) -> Array:
        """(q,): of the answers, in units of the draw's floor, so that draws can be joined."""
        return interval_score(self.answers, self.draw.outcomes) / self.draw.family.floor

    def baseline(self) -> Array:
        """(q,): of the judge's own law on the runs that are known to who does not choose."""
        runs, asked = self.draw.runs(self.draw.usual), self.draw.queries()
        known = runs["parameters"], runs["tokens"], runs["loss"]
        wanted = asked["parameters"], asked["tokens"]
        law = forecast(known, wanted, floor=self.draw.family.floor)
        return interval_score(law, self.draw.outcomes) / self.draw.family.floor

    def noise(self) -> Array:
        """(q,): standard deviation between seeds, in units of the floor."""
        return np.full(len(self.answers), self.draw.noise / self.draw.family.floor)

    def strain(self) -> float:
        """See `score.strain`."""
        return strain(self.answers, self.draw.outcomes, noise=self.draw.noise)
