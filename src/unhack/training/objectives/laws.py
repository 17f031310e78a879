"""Curves fitted to runs: over-optimisation against divergence, reward against compute.

Over-optimisation (Gao et al., arXiv 2210.10760), d = sqrt(KL(pi, pi_init)):

    best-of-n      R(d) = R_0 + d (alpha - beta d)        peak at d = alpha / (2 beta)
    reinforcement  R(d) = R_0 + d (alpha - beta log d)    peak at d = exp(alpha / beta - 1)

ScaleRL (arXiv 2510.13786), C compute:

    R(C) = R_0 + (A - R_0) / (1 + (C_mid / C)^B)

Traps: d is the root of the KL, not the KL; R_0 is 0 in Gao's paper, where rewards are shifted so;
the KL must be measured against the *initial* policy, also when the anchor of the penalty moves;
ScaleRL leaves out the first part of a run, before the sigmoid holds, and its asymptote is known to
about 0.02 only when the run has passed C_mid.

Covered: least squares in float64, with the residual. Not covered: intervals; repeat over seeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.objectives.plain import numbers

Form = Literal["best_of_n", "reinforcement"]
_ROUNDS, _SIDE = 24, 33


@dataclass(frozen=True, slots=True)
class Overoptimisation:
    """Gold reward as a function of d, the root of the KL in nats."""

    form: Form
    alpha: float
    beta: float
    base: float
    """R_0, at the initial policy."""
    residual: float
    """Root mean square of what the fit leaves."""

    def gold(self, kl: float) -> float:
        """The fitted reward at a KL."""
        first, second = _columns(torch.tensor([kl], dtype=torch.float64), self.form)
        return self.base + self.alpha * first.item() - self.beta * second.item()

    @property
    def peak_kl(self) -> float:
        """The KL at which the gold reward is largest; infinite when it keeps rising."""
        if self.beta <= 0:
            return math.inf if self.alpha > 0 or self.form == "reinforcement" else 0.0
        if self.form == "best_of_n":
            return max(0.0, self.alpha / (2 * self.beta)) ** 2
        return math.exp(min(2 * (self.alpha / self.beta - 1), 700.0))


def fit_overoptimisation(
    kl_N: Tensor, gold_N: Tensor, *, form: Form | str, base: float | None = None
) -> Overoptimisation:
    """Fit one of Gao's forms to (KL, gold reward) points of a run.

    `kl_N` in nats, at least 0; `gold_N` what the sealed oracle says. `base` fixes R_0; without it
    R_0 is fitted. Raises UnknownNameError, and UsageError for fewer points than unknowns.
    """
    if form not in ("best_of_n", "reinforcement"):
        raise UnknownNameError("form", form, valid=("best_of_n", "reinforcement"))
    kl_N, gold_N = _points(kl_N, gold_N, least=2 if base is not None else 3)
    first_N, second_N = _columns(kl_N, form)
    columns = [first_N, -second_N]
    if base is None:
        columns.append(torch.ones_like(first_N))
    design = torch.stack(columns, 1)
    target = (gold_N - (base or 0.0)).unsqueeze(1)
    inverse = cast(Tensor, torch.linalg.pinv(design))  # pyright: ignore[reportUnknownMemberType]
    solution = numbers(torch.matmul(inverse, target).squeeze(1))
    left = design.matmul(torch.tensor(solution, dtype=torch.float64).unsqueeze(1)) - target
    fitted = solution[2] if base is None else base
    return Overoptimisation(
        form, solution[0], solution[1], fitted, left.square().mean().sqrt().item()
    )


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """Reward as a function of compute (any unit, the same for C and C_mid)."""

    start: float
    """R_0."""
    asymptote: float
    """A: the reward that more compute approaches."""
    middle: float
    """C_mid: the compute of half of the gain."""
    exponent: float
    """B: how steep the gain is in the logarithm of compute."""
    residual: float

    def reward(self, compute: float) -> float:
        """The fitted or extrapolated reward at a compute above 0."""
        return self.start + (self.asymptote - self.start) / (
            1.0 + (self.middle / compute) ** self.exponent
        )


def fit_sigmoid(
    compute_N: Tensor, reward_N: Tensor, *, start: float, ceiling: float = math.inf
) -> Sigmoid:
    """Fit ScaleRL's sigmoid: A in closed form, C_mid and B by a grid that closes in on the best.

    `compute_N` is above 0; `start` is R_0, measured before training; `ceiling` bounds A. The grid
    begins at C_mid from a tenth of the smallest to a hundred times the largest compute and B from
    0.1 to 10. Raises UsageError for fewer than three points or for compute that is not above 0.
    """
    compute_N, reward_N = _points(compute_N, reward_N, least=3)
    if bool((compute_N <= 0).any()):
        raise UsageError("compute must lie above 0")
    logs_N = compute_N.log()
    low = torch.stack([logs_N.min() - math.log(10.0), torch.tensor(math.log(0.1))])
    high = torch.stack([logs_N.max() + math.log(100.0), torch.tensor(math.log(10.0))])
    floor, top = low.clone(), high.clone()
    best = (low + high) / 2
    for _ in range(_ROUNDS):
        best, _gain, _error = _best(logs_N, reward_N - start, (low, high), ceiling - start)
        half = (high - low) / 4
        low, high = torch.maximum(best - half, floor), torch.minimum(best + half, top)
    _, gain, error = _best(logs_N, reward_N - start, (best, best), ceiling - start)
    middle, exponent = numbers(best.exp())
    return Sigmoid(start, start + gain, middle, exponent, math.sqrt(error / len(logs_N)))


def _best(
    logs_N: Tensor, gains_N: Tensor, box: tuple[Tensor, Tensor], ceiling: float
) -> tuple[Tensor, float, float]:
    """(log C_mid and log B, gain A - R_0, squared error) of the best point of a grid over a box."""
    steps = torch.linspace(0.0, 1.0, _SIDE, dtype=torch.float64).unsqueeze(1)
    axes = box[0] + (box[1] - box[0]) * steps
    points_K_2 = torch.cartesian_prod(axes[:, 0], axes[:, 1])
    shape_K_N = torch.sigmoid(points_K_2[:, 1:].exp() * (logs_N - points_K_2[:, :1]))
    energy_K = shape_K_N.square().sum(1).clamp_min(1e-300)
    gain_K = ((shape_K_N * gains_N).sum(1) / energy_K).clamp(max=ceiling)
    error_K = (gain_K.unsqueeze(1) * shape_K_N - gains_N).square().sum(1)
    chosen = int(error_K.argmin())
    return points_K_2[chosen], gain_K[chosen].item(), error_K[chosen].item()


def _columns(kl_N: Tensor, form: str) -> tuple[Tensor, Tensor]:
    distance_N = kl_N.sqrt()
    if form == "best_of_n":
        return distance_N, kl_N
    return distance_N, torch.xlogy(distance_N, distance_N)


def _points(first_N: Tensor, second_N: Tensor, *, least: int) -> tuple[Tensor, Tensor]:
    if first_N.shape != second_N.shape or first_N.dim() != 1 or len(first_N) < least:
        raise UsageError(f"a fit needs two lists of the same length, at least {least}")
    if bool((first_N < 0).any()) or not bool((first_N.isfinite() & second_N.isfinite()).all()):
        raise UsageError("a fit needs finite numbers, the first of each pair at least 0")
    return first_N.double().cpu(), second_N.double().cpu()
