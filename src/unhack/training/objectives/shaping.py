"""Terms added to a reward before advantages are taken: length and KL.

Covered: DAPO's soft overlong penalty (arXiv 2503.14476, eq. 13) and the KL penalty in the reward
(PPO for language models, arXiv 2203.02155; RLOO, arXiv 2402.14740). Not covered: the world's
reward.

Traps: verl's DAPO manager has no floor of -1 beyond the limit, and its penalty is a factor of the
config; the paper's rewards are +1 and -1, so a penalty of 1 is half of their range. A KL penalty in
the reward is divided by the group's deviation when the estimator does so. A flat group is no longer
flat once a penalty is added: `zero_variance` then sees differences in length or KL.
"""

from __future__ import annotations

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.config.settings import ObjectiveSettings
from unhack.training.objectives.divergence import kl


def soft_overlong(lengths_B: Tensor, *, longest: int, cache: int) -> Tensor:
    """DAPO's penalty [B] for completions of `lengths_B` tokens.

    0 up to longest - cache, then falling linearly to -1 at `longest`, and -1 beyond it. A cache of
    0 gives 0 up to `longest`. Raises UsageError unless 0 <= cache <= longest.
    """
    if not 0 <= cache <= longest:
        raise UsageError(f"the cache must lie between 0 and {longest} tokens, not {cache}")
    if cache == 0:
        return -(lengths_B > longest).float()
    return ((longest - cache - lengths_B) / cache).clamp(-1.0, 0.0)


def token_rewards(
    rewards_B: Tensor,
    mask_B_T: Tensor,
    *,
    settings: ObjectiveSettings,
    max_new: int,
    logprobs_B_T: Tensor | None = None,
    reference_B_T: Tensor | None = None,
) -> Tensor:
    """Rewards [B, T] as a critic wants them: the reward at the last token, the KL at each token.
    `advantages` takes their sums over tokens.

    With `overlong_share` the overlong penalty of a cache of that share of `max_new` is added to the
    last token; with `kl_in_reward` each token gets - kl_beta * KL. Log-probabilities are those of
    the policy that sampled. Raises UsageError when the KL is wanted and they are missing.
    """
    lengths_B = mask_B_T.sum(1)
    last_B = rewards_B.clone()
    cache = round(settings.overlong_share * max_new)
    if cache:
        last_B = last_B + soft_overlong(lengths_B, longest=max_new, cache=cache).to(last_B)
    rewards_B_T = torch.zeros(mask_B_T.shape, dtype=rewards_B.dtype, device=rewards_B.device)
    rewards_B_T.scatter_(1, (lengths_B - 1).clamp_min(0).unsqueeze(1), last_B.unsqueeze(1))
    if settings.kl_in_reward and settings.kl_beta:
        if logprobs_B_T is None or reference_B_T is None:
            raise UsageError("kl_in_reward is set: token_rewards needs both log-probabilities")
        penalty_B_T = kl(logprobs_B_T.detach(), reference_B_T, settings.kl).to(rewards_B)
        rewards_B_T = rewards_B_T - settings.kl_beta * penalty_B_T.masked_fill(~mask_B_T, 0.0)
    return rewards_B_T
