"""Estimates of the divergence from a reference policy, one number per sampled token.

With x = log pi(a) - log ref(a) and a drawn from pi (Schulman 2020, joschu.net/blog/kl-approx.html):

| name | value | mean of the value | mean gradient of the value |
|---|---|---|---|
| k1 | x | KL(pi, ref) | 0 |
| k2 | x^2 / 2 | biased, small near 0 | that of KL(pi, ref) |
| k3 | e^-x + x - 1 | KL(pi, ref) | not that of KL(pi, ref) |

The last column is why placement matters: in the loss, k1 does nothing on average and k2 is exact;
in the reward (a constant for the gradient), k1 and k3 are right and k2 is biased. Times the ratio
pi / old, with its gradient, k1 and k3 have the mean gradient of KL(pi, ref) also when old has drawn
the token (arXiv 2512.02556): `kl_weighted`.

Traps: TRL has k3 only in GRPO's loss, multiplied with the ratio by default
(`use_bias_correction_kl`), and k1 only in RLOO's reward; verl clamps k3 to [-10, 10], where its
gradient ends; verl's `k3+` has the value of k3 and the gradient of k2.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from unhack.core.errors import UnknownNameError

Estimator = Literal["k1", "k2", "k3"]
ESTIMATORS: tuple[str, ...] = ("k1", "k2", "k3")
LARGEST = 20.0
"""Log-ratios beyond this are cut before `exp`, so that one token cannot make the loss infinite."""


def kl(logprobs: Tensor, ref: Tensor, estimator: Estimator | str = "k3") -> Tensor:
    """Nats per token, of the shape of `logprobs`; differentiable through `logprobs`.

    Raises UnknownNameError.
    """
    difference = logprobs - ref
    if estimator == "k1":
        return difference
    if estimator == "k2":
        return 0.5 * difference.square()
    if estimator == "k3":
        return torch.exp((-difference).clamp(max=LARGEST)) + difference - 1.0
    raise UnknownNameError("KL estimator", estimator, valid=ESTIMATORS)
