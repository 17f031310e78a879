"""The learner of tier 5: writes completions and learns from their rewards.

Axes: B rollouts (the G of a group are neighbours), T tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from unhack.training.config.settings import ObjectiveSettings
from unhack.training.discovery.grammar import Written
from unhack.training.objectives import advantages, policy_loss

_OBJECTIVE = ObjectiveSettings(advantage="grpo", policy="clip", aggregation="sequence_mean")
"""GRPO (arXiv 2402.03300) without a reference model: group-normalised, a mean over sequences."""


@dataclass(frozen=True, slots=True)
class LearnerUpdate:
    """Measures of one step of the optimiser."""

    loss: float
    entropy: float
    """Nats a token, before the step."""


class Learner(Protocol):
    """A policy in training."""

    name: str
    parameters: int

    def draw(self, problems: Sequence[int], *, group: int, step: int) -> list[Written]:
        """`group` completions of each problem (by number), neighbours in a row."""
        ...

    def learn(self, rewards: Sequence[float], *, group: int) -> LearnerUpdate:
        """One update on what was drawn last."""
        ...


def update_loss(
    logprobs_B_T: Tensor,
    old_B_T: Tensor,
    *,
    rewards_B: Tensor,
    mask_B_T: Tensor,
    group: int,
    max_new: int,
) -> Tensor:
    """The scalar GRPO loss of an update."""
    advantages_B, kept_B = advantages(rewards_B, group=group, estimator=_OBJECTIVE.advantage)
    losses_B, _ = policy_loss(
        logprobs_B_T, old_B_T, advantages_B, mask_B_T & kept_B[:, None].bool(),
        settings=_OBJECTIVE, group=group, max_new=max_new,
    )  # fmt: skip
    return losses_B.sum()
