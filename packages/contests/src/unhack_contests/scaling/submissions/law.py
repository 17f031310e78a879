"""Predict the loss of training runs with scaling laws, and say how sure it is.

Every law is the entropy floor (or a fitted constant above it) plus power terms in parameters n and
tokens d, in units of their geometric means. Fitted by damped Gauss-Newton steps on Huber-weighted
residuals; the interval joins the spread of the residuals, of the parameters and of the laws.
"""

from typing import Any

import numpy as np

SETTINGS: dict[str, Any] = {
    "forms": ["chinchilla"],
    "space": "log",
    "huber": 1.5,
    "recent": 0.25,
    "prior": 0.3,
    "widen": 1.5,
    "constant": "free",
}


def predict(runs: Any, queries: Any) -> list[tuple[float, float, float]]:
    """(mean, low, high) of every query; the interval is meant to hold four outcomes of five."""
    found = [_forecast(form, runs, queries) for form in SETTINGS["forms"]]
    means = np.array([mean for mean, _ in found])
    errors = np.array([error for _, error in found])
    mean = means.mean(axis=0)
    error = np.sqrt((errors**2).mean(axis=0) + means.var(axis=0))
    reach = 1.2816 * SETTINGS["widen"] * error
    floor = float(runs["floor"])
    mean = np.maximum(mean, floor)
    low = np.maximum(mean - reach, floor)
    return [(float(m), float(a), float(m + r)) for m, a, r in zip(mean, low, reach, strict=True)]


def _forecast(form: str, runs: Any, queries: Any) -> tuple[Any, Any]:
    scale = [float(np.exp(np.log(runs[key]).mean())) for key in ("parameters", "tokens")]
    n, d = runs["parameters"] / scale[0], runs["tokens"] / scale[1]
    floor, loss = float(runs["floor"]), runs["loss"]
    weight = (n * d / np.max(n * d)) ** (0.5 * SETTINGS["recent"])
    best: tuple[float, Any] | None = None
    for exponent in (0.2, 0.5, 0.9):
        start = np.array([np.log(0.3 * (loss.mean() - floor) + 1e-9)] * 3 + [exponent] * 2)
        found = _fit(form, start, data=(n, d, loss, floor), weight=weight)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    theta = best[1]
    residual, slope = _residuals(form, theta, data=(n, d, loss, floor), weight=weight)
    free = max(1, len(loss) - len(theta))
    spread = float(np.sqrt((residual[: len(loss)] ** 2).sum() / free))
    covariance = _inverse(slope.T @ slope + 1e-9 * np.eye(len(theta)))
    at = queries["parameters"] / scale[0], queries["tokens"] / scale[1]
    mean = _law(form, theta, at[0], at[1], floor)

    def ahead(t: Any) -> Any:
        return _outer(_law(form, t, at[0], at[1], floor))

    gradient = _slope(ahead, theta)
    error = spread * np.sqrt(1 + np.einsum("qi,ij,qj->q", gradient, covariance, gradient))
    return mean, error * (mean if SETTINGS["space"] == "log" else 1.0)


def _law(form: str, theta: Any, n: Any, d: Any, floor: float) -> Any:
    """theta: log E, log A, log B, a, b."""
    constant, first, second = np.exp(np.clip(theta[:3], -40, 12))
    a, b = np.clip(theta[3:], 0.01, 3.0)
    if SETTINGS["constant"] == "floor":
        constant = 0.0
    if form == "power_n":
        return floor + constant + first * n**-a
    if form == "power_c":
        return floor + constant + first * (n * d) ** -a
    if form == "kaplan":
        return floor + constant + (first * n ** (-a / b) + second / d) ** b
    if form == "cross":
        return floor + constant + first * n**-a + second * d**-b + 0.5 * first * n**-a * d**-b
    return floor + constant + first * n**-a + second * d**-b


def _outer(values: Any) -> Any:
    return np.log(np.maximum(values, 1e-9)) if SETTINGS["space"] == "log" else values


def _residuals(form: str, theta: Any, *, data: tuple[Any, ...], weight: Any) -> tuple[Any, Any]:
    n, d, loss, floor = data
    wanted = _outer(loss)

    def errors(t: Any) -> Any:
        plain = weight * (_outer(_law(form, t, n, d, floor)) - wanted)
        usual = SETTINGS["prior"] * 0.02 * np.append((t[3:] - 0.5) / 0.25, 0.02 * t[:3])
        return np.concatenate([plain, usual])

    return errors(theta), _slope(errors, theta)


def _slope(law: Any, theta: Any) -> Any:
    columns: list[Any] = []
    for at in range(len(theta)):
        step = np.zeros(len(theta))
        step[at] = 1e-5
        columns.append((law(theta + step) - law(theta - step)) / 2e-5)
    return np.stack(columns, axis=1)


def _fit(form: str, theta: Any, *, data: tuple[Any, ...], weight: Any) -> tuple[float, Any]:
    damping, cost = 1e-2, np.inf
    for _ in range(80):
        residual, slope = _residuals(form, theta, data=data, weight=weight)
        scale = 1.4826 * float(np.median(np.abs(residual[: len(weight)]))) + 1e-9
        huber = np.minimum(1.0, SETTINGS["huber"] * scale / np.maximum(np.abs(residual), 1e-12))
        cost = float((huber * residual**2).sum())
        normal, push = slope.T @ (huber[:, None] * slope), slope.T @ (huber * residual)
        damped = normal + damping * (np.diag(np.diag(normal)) + 1e-9 * np.eye(5))
        step = _clipped(_inverse(damped) @ push)
        following = theta - step
        changed, _ = _residuals(form, following, data=data, weight=weight)
        if float((huber * changed**2).sum()) < cost:
            theta, damping = following, max(damping * 0.4, 1e-9)
            if float(np.abs(step).max()) < 1e-6:
                break
        elif damping > 1e9:
            break
        else:
            damping *= 4
    return cost, theta


def _inverse(matrix: np.ndarray[Any, Any]) -> Any:
    return np.linalg.pinv(matrix)


def _clipped(step: Any) -> Any:
    return np.clip(step, -1.0, 1.0)
