"""The baseline `detector_penalty`: what people do instead of routing, with the same weak detector.

It takes `strength` off the reward of every rollout that the detector labels.

Covered: a pure function of one batch. Not covered: labels (the world makes them).

Axes: B rollouts.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unhack.training.config.settings import BaselineSettings
from unhack.training.worlds.world import Judged


def penalise(rewards_B: Tensor, judged: Sequence[Judged], settings: BaselineSettings) -> Tensor:
    """Rewards [B] under a baseline; the very same tensor without one."""
    if settings.kind == "none":
        return rewards_B
    labels = [bool(item.detected) for item in judged]
    flagged_B = torch.tensor(labels, dtype=rewards_B.dtype, device=rewards_B.device)
    return rewards_B - settings.strength * flagged_B
