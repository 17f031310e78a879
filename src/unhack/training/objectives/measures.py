"""Numbers read off a policy: log-probabilities, entropy, pass@k.

Covered: logits in float32 whatever the precision of the model (arXiv 2510.13786, section 3: the
output matrix in float32 on both sides, because a mismatch of bfloat16 logits between sampler and
trainer biases every ratio). Not covered: how a model is run.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from unhack.core import group as core
from unhack.training.objectives.plain import numbers


def float32_logits(hidden: Tensor, head: Tensor) -> Tensor:
    """[..., D] hidden states and the output matrix [V, D] -> float32 logits [..., V].

    The product itself is in float32: casting bfloat16 logits afterwards does not bring back what
    was lost.
    """
    return functional.linear(hidden.float(), head.float())


def token_logprobs(logits: Tensor, tokens: Tensor) -> Tensor:
    """float32 log-probabilities of `tokens` [...] under `logits` [..., V]."""
    wide = logits.float()
    chosen = wide.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    return chosen - torch.logsumexp(wide, -1)


def entropy(logits: Tensor) -> Tensor:
    """Nats of each distribution, [..., V] -> float32 [...]. Logits of -inf have probability 0."""
    logs = functional.log_softmax(logits.float(), -1)
    return -(logs.exp() * logs.masked_fill(logs == -torch.inf, 0.0)).sum(-1)


def pass_at_k(passed_P: Tensor, *, total: int, k: int) -> Tensor:
    """Unbiased chance [P] that one of k answers passes, from `passed_P` passes of `total`.

    1 - C(n - c, k) / C(n, k), arXiv 2107.03374. Trap: 1 - (1 - c/n)^k is biased low. Raises
    ValueError unless 1 <= k <= total.
    """
    values = [core.pass_at_k(total, int(passed), k) for passed in numbers(passed_P)]
    return torch.tensor(values, dtype=torch.float64, device=passed_P.device)
