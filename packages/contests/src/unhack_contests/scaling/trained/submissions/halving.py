"""Predict losses after a search of the settings: successive halving over rates, then a ladder.

Four rates run briefly, the better half twice as long, the best twice as long again: that gives the
rate's parabola where it matters. A short ladder at the usual rate gives the power of compute, from
the curves too. The parabola is carried over to the targets as it is.
"""

from typing import Any

import numpy as np

SETTINGS: dict[str, Any] = {"rates": [0.4, 0.8, 1.6, 3.2], "first": 0.03, "widen": 2.0}


def study(lab: Any, targets: Any) -> list[tuple[float, float, float]]:
    """(mean, low, high) of every target."""
    low = int(lab.limits["width"][0])
    sides: list[Any] = []
    alive, cost = list(SETTINGS["rates"]), SETTINGS["first"]
    while alive:
        now = [run for rate in alive for run in trained(lab, cost, width=low, rate=rate)]
        sides.append(now)
        now.sort(key=lambda run: run.loss)
        alive = [run.settings["rate"] for run in now[: len(now) // 2]]
        cost *= 2
    ladder = [
        run
        for width, share in ((low, 0.03), (2 * low, 0.06), (3 * low, 0.12), (4 * low, 0.2))
        for run in trained(lab, share, width=width)
    ]
    y = np.array([min(run.loss, lab.uniform) for run in ladder])
    c = np.log([run.flops for run in ladder])
    asked = np.log([item["flops"] for item in targets])
    best: tuple[float, Any] | None = None
    for share in np.linspace(0.3, 0.98, 18):
        floor = share * y.min()
        slope, height = fitted(c, np.log(y - floor), 1)
        error = float(((floor + np.exp(height + slope * c) - y) ** 2).sum())
        if best is None or error < best[0]:
            best = error, floor + np.exp(height + slope * asked)
    assert best is not None
    bend = parabola(sides[0], lab.uniform)
    rates = np.log([item["rate"] for item in targets])
    mean = np.minimum(best[1] + bend[0] * rates + bend[1] * rates**2, lab.uniform)
    spread = np.sqrt(best[0] / 2) + 0.02 + 0.05 * np.abs(rates)
    reach = 1.2816 * SETTINGS["widen"] * spread
    return [(float(m), float(m - r), float(m + r)) for m, r in zip(mean, reach, strict=True)]


def parabola(runs: list[Any], most: float) -> tuple[float, float]:
    """Slope and bend of the loss in the logarithm of the rate, at the usual rate."""
    rates = np.log([run.settings["rate"] for run in runs])
    bend, slope, _ = fitted(rates, [min(run.loss, most) for run in runs], 2)
    return float(slope), max(0.0, float(bend))


def fitted(x: Any, y: Any, degree: int) -> Any:
    """Coefficients of a polynomial, the highest power first."""
    return solved(np.stack([x**power for power in range(degree, -1, -1)], axis=1), np.array(y))


def solved(columns: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> Any:
    """Least squares."""
    return np.linalg.lstsq(columns, wanted, rcond=None)[0]


def trained(lab: Any, cost: float, **settings: Any) -> list[Any]:
    """One run for this share of the budget, or none where that is not for sale."""
    one = lab.price(**{**settings, "steps": 1})["flops"]
    steps = min(int(cost * lab.budget / one), int(lab.limits["steps"][1]))
    if steps < 10 or steps * one > lab.left:
        return []
    return [lab.train(**{**settings, "steps": steps})]
