"""Predict losses from curves of equal compute: at each level, a parabola in the size of the model.

At each level of compute several sizes are trained. The loss at a level is a parabola in the
logarithm of the parameters; its height falls with compute like a power, and where it is lowest
moves with compute like one. All levels are fitted together; targets are read off.
"""

from typing import Any

import numpy as np

SETTINGS: dict[str, Any] = {"levels": [0.02, 0.05, 0.12], "sizes": 4, "widen": 2.0}


def study(lab: Any, targets: Any) -> list[tuple[float, float, float]]:
    """(mean, low, high) of every target."""
    runs: list[Any] = []
    low = int(lab.limits["width"][0])
    widths = [low * factor for factor in (1, 2, 3, 4, 6)][: SETTINGS["sizes"]]
    for level in SETTINGS["levels"]:
        for width in widths:
            one = lab.price(width=width, steps=1)["flops"]
            steps = min(int(level * lab.budget / one), int(lab.limits["steps"][1]))
            if steps >= 10 and steps * one <= lab.left:
                runs.append(lab.train(width=width, steps=steps))
    x = np.array([[np.log(run.flops), np.log(run.parameters)] for run in runs])
    y = np.array([min(run.loss, lab.uniform) for run in runs])
    asked = np.array([[np.log(item["flops"]), np.log(item["parameters"])] for item in targets])
    best: tuple[float, Any, Any, float] | None = None
    for share in np.linspace(0.3, 0.95, 14):
        for power in np.linspace(0.05, 0.6, 12):
            floor = share * float(y.min())
            rows = columns(x, x.mean(axis=0), power)
            weights = solved(rows, y - floor)
            error = float(((rows @ weights - (y - floor)) ** 2).sum())
            if best is None or error < best[0]:
                found = floor + columns(asked, x.mean(axis=0), power) @ weights
                best = error, found, weights, floor
    assert best is not None
    error, found, _, floor = best
    mean = np.clip(found, floor, lab.uniform)
    away = (asked[:, 0] - x[:, 0].max()) / np.log(2)
    spread = np.sqrt(error / max(1, len(y) - 6)) * (1 + 0.5 * away)
    reach = 1.2816 * SETTINGS["widen"] * np.maximum(spread, 0.01)
    return [(float(m), float(m - r), float(m + r)) for m, r in zip(mean, reach, strict=True)]


def columns(x: Any, middle: Any, power: float) -> Any:
    """(rows, 4): a falling height, and a parabola whose bottom moves with compute."""
    c, n = (x - middle).T
    bent = n - 0.5 * c
    return np.stack([np.exp(-power * c), np.ones(len(x)), bent, bent**2], axis=1)


def solved(rows: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> Any:
    """Least squares with a ridge."""
    return np.linalg.solve(rows.T @ rows + 1e-3 * np.eye(rows.shape[1]), rows.T @ wanted)
