"""Group arithmetic: from rewards to the advantages that GRPO-style training needs.

A group is the rollouts of one problem. A reward of None (unscored) takes no part: it is left out of
every mean and deviation, gets advantage 0, and its mask is False. A group whose rewards are all
exactly equal carries no signal: advantages 0, mask False.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from unhack.core.errors import UnknownNameError

Rewards = Sequence[float | None]
EPSILON = 1e-6
"""Added to a standard deviation before dividing by it."""


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: Sequence[float]) -> float:
    """Sample standard deviation (n - 1), as TRL and verl take it; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    centre = _mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def _grpo(group: Sequence[float], batch: Sequence[float]) -> list[float]:
    """(r - mean) / (sd + eps), arXiv 2402.03300."""
    centre, scale = _mean(group), _deviation(group) + EPSILON
    return [(value - centre) / scale for value in group]


def _dr_grpo(group: Sequence[float], batch: Sequence[float]) -> list[float]:
    """r - mean, arXiv 2503.20783."""
    centre = _mean(group)
    return [value - centre for value in group]


def _rloo(group: Sequence[float], batch: Sequence[float]) -> list[float]:
    """r - mean of the others, arXiv 2402.14740."""
    total = math.fsum(group)
    return [value - (total - value) / (len(group) - 1) for value in group]


def _maxrl(group: Sequence[float], batch: Sequence[float]) -> list[float]:
    """(r - mean) / mean for rewards >= 0, arXiv 2602.02710."""
    if min(group) < 0:
        raise ValueError("maxrl needs rewards that are not negative")
    centre = _mean(group)
    if centre == 0.0:  # rewards so small that their mean underflows
        return [0.0] * len(group)
    return [(value - centre) / centre for value in group]


def _batch_std(group: Sequence[float], batch: Sequence[float]) -> list[float]:
    """(r - group mean) / (sd over the batch + eps), arXiv 2510.13786 and TRL's scale_rewards."""
    centre, scale = _mean(group), _deviation(batch) + EPSILON
    return [(value - centre) / scale for value in group]


ESTIMATORS: dict[str, Callable[[Sequence[float], Sequence[float]], list[float]]] = {
    "grpo": _grpo,
    "dr_grpo": _dr_grpo,
    "rloo": _rloo,
    "maxrl": _maxrl,
    "batch_std": _batch_std,
}


@dataclass(frozen=True, slots=True)
class Advantages:
    """Advantages of a batch, in its order.

    Example:

        advantages = batch.advantages("grpo")
        kept = [a for a, used in zip(advantages.values, advantages.mask) if used]
    """

    values: tuple[float, ...]
    mask: tuple[bool, ...]
    """False for unscored items and for groups without variance: leave them out of the loss."""


def advantages(
    rewards: Rewards, groups: Sequence[Sequence[int]], *, estimator: str = "grpo"
) -> Advantages:
    """Advantage of each reward within its group.

    `groups` holds index lists into `rewards`; each index at most once. A group with fewer than two
    scored rewards has no baseline and is masked. Raises UnknownNameError.
    """
    if estimator not in ESTIMATORS:
        raise UnknownNameError("estimator", estimator, valid=ESTIMATORS)
    compute = ESTIMATORS[estimator]
    values, mask = [0.0] * len(rewards), [False] * len(rewards)
    batch = [reward for reward in rewards if reward is not None]
    for group in groups:
        scored = [(index, reward) for index in group if (reward := rewards[index]) is not None]
        group_rewards = [reward for _, reward in scored]
        if has_no_signal(group_rewards):
            continue
        results = compute(group_rewards, batch)
        for (index, _), value in zip(scored, results, strict=True):
            values[index], mask[index] = value, True
    return Advantages(tuple(values), tuple(mask))


def has_no_signal(rewards: Sequence[float]) -> bool:
    """True when a group is empty, a single item, or exactly equal throughout."""
    return len(rewards) < 2 or all(left == right for left, right in pairwise(rewards))


def pass_at_k(total: int, passed: int, k: int) -> float:
    """Unbiased estimate of the chance that one of k samples passes, arXiv 2107.03374.

    `passed` of `total` samples passed; k at most `total`. Raises ValueError.
    """
    if not 1 <= k <= total:
        raise ValueError(f"k must lie between 1 and the {total} samples, not {k}")
    if total - passed < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / number for number in range(total - passed + 1, total + 1))


@dataclass(frozen=True, slots=True)
class GroupReport:
    """The amount of signal in a batch of groups.

    Example:

        report = batch.report()
        report.no_signal, report.mean_reward
    """

    groups: int
    all_pass: float
    """Share of groups in which every scored item has the full reward 1."""
    all_fail: float
    """Share of groups in which every scored item has reward 0."""
    no_signal: float
    """Share of groups without variance; holds the two above."""
    unscored: int
    """Items without a reward."""
    mean_reward: float | None


def group_report(rewards: Rewards, groups: Sequence[Sequence[int]]) -> GroupReport:
    """Shares of groups by how their rewards vary."""
    scored = [[r for i in group if (r := rewards[i]) is not None] for group in groups]
    filled = [group for group in scored if group]
    count = max(1, len(filled))
    flat = [reward for group in filled for reward in group]
    return GroupReport(
        groups=len(groups),
        all_pass=sum(min(group) == 1.0 for group in filled) / count,
        all_fail=sum(max(group) == 0.0 for group in filled) / count,
        no_signal=sum(has_no_signal(group) for group in filled) / count,
        unscored=sum(reward is None for reward in rewards),
        mean_reward=_mean(flat) if flat else None,
    )
