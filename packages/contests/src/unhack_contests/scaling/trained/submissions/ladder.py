"""Predict losses from a ladder of small runs: fit laws by penalised least squares, average them.

The ladder spends its share of the budget on runs of several shapes and lengths at the usual rate
and mix; what is left goes to runs that vary the rate and the mix of one shape. A law says what
parameters and tokens do; a parabola in the logarithm of the rate and one in the mix are added.
"""

from typing import Any

import numpy as np

SETTINGS: dict[str, Any] = {
    "forms": ["chinchilla"],
    "costs": [0.02, 0.04, 0.08, 0.08, 0.16, 0.3],
    "rates": 2,
    "mixes": 2,
    "side_cost": 0.03,
    "widen": 1.5,
}


def study(lab: Any, targets: Any) -> list[tuple[float, float, float]]:
    """(mean, low, high) of every target."""
    runs = bought(lab, targets)
    rows = [{**run.settings, "parameters": run.parameters, "tokens": run.tokens} for run in runs]
    losses = np.array([min(run.loss, lab.uniform) for run in runs])
    found = [fitted(form, rows, losses, targets) for form in SETTINGS["forms"]]
    mean = np.mean([part[0] for part in found], axis=0)
    spread = np.sqrt(
        np.mean([part[1] ** 2 for part in found], axis=0)
        + np.var([part[0] for part in found], axis=0)
    )
    reach = 1.2816 * SETTINGS["widen"] * spread
    return [(float(m), float(m - r), float(m + r)) for m, r in zip(mean, reach, strict=True)]


def bought(lab: Any, targets: Any) -> list[Any]:
    """The runs of the ladder, then those beside it."""
    widest = max(item["width"] for item in targets)
    low = int(lab.limits["width"][0])
    widths = [w for w in (low, low + 8, 2 * low, 3 * low, 4 * low, 6 * low) if w <= widest]
    depths = sorted({item["depth"] for item in targets})
    found: list[Any] = []
    for number, cost in enumerate(SETTINGS["costs"]):
        width = widths[(2 * number + number // len(widths)) % len(widths)]
        shape = {"width": width, "depth": depths[number % len(depths)]}
        found += trained(lab, cost, shape)
    side = {"width": widths[len(widths) // 2], "depth": depths[0]}
    for rate in [0.5, 2.0, 0.7, 1.4, 0.35, 2.8][: SETTINGS["rates"]]:
        found += trained(lab, SETTINGS["side_cost"], {**side, "rate": rate})
    for mix in [0.15, 0.85, 0.35, 0.65][: SETTINGS["mixes"]]:
        found += trained(lab, SETTINGS["side_cost"], {**side, "mix": mix})
    return found


def trained(lab: Any, cost: float, settings: dict[str, Any]) -> list[Any]:
    """One run for this share of the budget, or none where that is not for sale."""
    one = lab.price(**{**settings, "steps": 1})["flops"]
    steps = min(int(cost * lab.budget / one), int(lab.limits["steps"][1]))
    if steps < 10 or steps * one > lab.left:
        return []
    return [lab.train(**{**settings, "steps": steps})]


def features(rows: Any) -> Any:
    """(rows, 4): logarithms of parameters, tokens and rate, and the mix."""
    return np.array(
        [[np.log(r["parameters"]), np.log(r["tokens"]), np.log(r["rate"]), r["mix"]] for r in rows]
    )


def value(form: str, theta: Any, x: Any) -> Any:
    """The law of a form at rows x (n, 4), centred."""
    n, d, rate, mix = x.T
    beside = theta[0] * rate + theta[1] * rate**2 + theta[2] * mix + theta[3] * mix**2
    free = theta[4:]
    if form == "chinchilla":
        law = np.exp(free[0]) + np.exp(free[1] - free[2] * n) + np.exp(free[3] - free[4] * d)
    elif form == "power":
        law = np.exp(free[0]) + np.exp(free[1] - free[2] * (n + d))
    else:
        squares = free[3] * n**2 + free[4] * n * d + free[5] * d**2
        law = np.exp(free[0] + free[1] * n + free[2] * d + squares)
    return law + beside


def start(form: str, low: float) -> tuple[Any, Any]:
    """Means and deviations of what is believed before a run is seen."""
    beside = [0.0, 0.03, 0.0, 0.15], [0.04, 0.02, 0.1, 0.1]
    if form == "chinchilla":
        free = [np.log(0.8 * low), np.log(0.1 * low), 0.3, np.log(0.1 * low), 0.4]
        wide = [0.25, 1.0, 0.2, 1.0, 0.2]
    elif form == "power":
        free = [np.log(0.8 * low), np.log(0.2 * low), 0.25]
        wide = [0.25, 1.0, 0.15]
    else:
        free = [np.log(low), -0.03, -0.05, 0.0, 0.0, 0.0]
        wide = [0.3, 0.05, 0.06, 0.02, 0.02, 0.02]
    return np.array([*beside[0], *free]), np.array([*beside[1], *wide])


def fitted(form: str, rows: Any, losses: Any, targets: Any) -> tuple[Any, Any]:
    """Mean and standard deviation of every target under one form."""
    x, wanted = features(rows), features(targets)
    middle = x.mean(axis=0) * [1, 1, 0, 0] + [0, 0, 0, rows[0]["mix"]]
    x, wanted = x - middle, wanted - middle
    prior, wide = start(form, float(losses.min()))
    noise = 0.01
    theta = prior.copy()
    for _ in range(3):
        theta = climbed(form, theta, x, losses, believed=(prior, wide), noise=noise)
        error = value(form, theta, x) - losses
        noise = max(0.005, float(np.sqrt((error**2).mean() * len(losses) / 4)) / 2)
    slope, ahead = jacobian(form, theta, x), jacobian(form, theta, wanted)
    inverse = inverted(slope.T @ slope / noise**2 + np.diag(wide**-2.0))
    spread = np.einsum("qi,ij,qj->q", ahead, inverse, ahead)
    return value(form, theta, wanted), np.sqrt(spread + noise**2)


def climbed(
    form: str, theta: Any, x: Any, losses: Any, *, believed: tuple[Any, Any], noise: float
) -> Any:
    """Levenberg and Marquardt on the penalised squares; `believed`: as `start` gives it."""
    prior, wide = believed

    def cost(at: Any) -> float:
        error = (value(form, at, x) - losses) / noise
        return float((error**2).sum() + (((at - prior) / wide) ** 2).sum())

    damping, best = 1.0, cost(theta)
    for _ in range(60):
        slope = jacobian(form, theta, x)
        error = value(form, theta, x) - losses
        gradient: Any = slope.T @ error / noise**2 + (theta - prior) / wide**2
        matrix = slope.T @ slope / noise**2 + np.diag(wide**-2.0)
        step = inverted(matrix + damping * np.diag(np.diag(matrix))) @ gradient
        trial = cost(theta - step)
        if trial < best:
            theta, best, damping = theta - step, trial, damping / 3
        else:
            damping *= 4
    return theta


def inverted(matrix: np.ndarray[Any, Any]) -> Any:
    """The inverse."""
    return np.linalg.inv(matrix)


def jacobian(form: str, theta: Any, x: Any) -> Any:
    """(rows, parameters), by differences."""
    columns = [
        (value(form, theta + move, x) - value(form, theta - move, x)) / 2e-5
        for move in 1e-5 * np.eye(len(theta))
    ]
    return np.stack(columns, axis=1)
