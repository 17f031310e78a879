"""Published objectives by name, as fields of the settings table `objective`.

`[objective] recipe = "dapo"` and `--set objective.recipe=dapo` pick one. A recipe sets what differs
from PPO's clip between the papers: estimator, policy term, aggregation, bounds, KL and filters;
rates, batch and lengths stay the run's own.

Covered: all objectives of `unhack.training.objectives` that train on rollouts. Not covered: DPO,
which trains on pairs (`objectives.dpo_loss`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RECIPE_FIELDS: dict[str, dict[str, Any]] = {
    # arXiv 1707.06347; KL in the reward and lambda 0.95 as in arXiv 2203.02155
    "ppo": {
        "advantage": "gae", "policy": "clip", "aggregation": "token_mean", "clip_low": 0.2,
        "clip_high": 0.2, "kl": "k1", "kl_beta": 0.02, "kl_in_reward": True,
        "zero_variance": "keep", "discount": 1.0, "gae_lambda": 0.95, "value_clip": 0.2,
    },
    # arXiv 2402.03300
    "grpo": {
        "advantage": "grpo", "policy": "clip", "aggregation": "sequence_mean", "clip_low": 0.2,
        "clip_high": 0.2, "kl": "k3", "kl_beta": 0.04, "zero_variance": "keep",
    },
    # arXiv 2402.14740; the coefficient is TRL's default
    "rloo": {
        "advantage": "rloo", "policy": "reinforce", "aggregation": "sequence_sum", "kl": "k1",
        "kl_beta": 0.05, "kl_in_reward": True, "zero_variance": "keep",
    },
    # arXiv 2503.14476; 4096 of 20480 tokens are the cache
    "dapo": {
        "advantage": "grpo", "policy": "clip", "aggregation": "token_mean", "clip_low": 0.2,
        "clip_high": 0.28, "overlong_share": 0.2, "zero_variance": "refill",
    },
    # arXiv 2503.20783
    "dr_grpo": {
        "advantage": "dr_grpo", "policy": "clip", "aggregation": "constant", "clip_low": 0.2,
        "clip_high": 0.2, "zero_variance": "keep",
    },
    # arXiv 2507.18071
    "gspo": {
        "advantage": "grpo", "policy": "gspo", "aggregation": "sequence_mean", "clip_low": 3e-4,
        "clip_high": 4e-4, "zero_variance": "keep",
    },
    # arXiv 2506.13585: no floor; the cap of 5 is ScaleRL's
    "cispo": {
        "advantage": "grpo", "policy": "cispo", "aggregation": "token_mean", "clip_low": 1.0,
        "clip_high": 4.0, "zero_variance": "keep",
    },
    # arXiv 2602.04879
    "dppo_tv": {
        "advantage": "dr_grpo", "policy": "dppo_tv", "aggregation": "constant", "clip_low": 0.15,
        "clip_high": 0.15, "zero_variance": "keep",
    },
    "dppo_kl": {
        "advantage": "dr_grpo", "policy": "dppo_kl", "aggregation": "constant", "clip_low": 0.05,
        "clip_high": 0.05, "zero_variance": "keep",
    },
    # arXiv 2602.02710, on policy
    "maxrl": {
        "advantage": "maxrl", "policy": "reinforce", "aggregation": "sequence_sum",
        "zero_variance": "keep",
    },
    # arXiv 2602.05630
    "real": {
        "advantage": "dr_grpo", "policy": "real", "real_temperature": 0.5, "zero_variance": "keep",
    },
    # arXiv 2510.13786
    "scalerl": {
        "advantage": "batch_std", "policy": "cispo", "aggregation": "prompt_mean", "clip_low": 1.0,
        "clip_high": 4.0, "zero_variance": "drop", "retire_share": 0.9,
    },
}  # fmt: skip


_SET_BY_RECIPES = frozenset(field for fields in RECIPE_FIELDS.values() for field in fields)


def resolve_recipe(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `data["recipe"]`, and over them those that `data` has.

    Raises ValueError for an unknown recipe.
    """
    name = data["recipe"]
    if name not in RECIPE_FIELDS:
        raise ValueError(f"no recipe {name!r}; there are {', '.join(RECIPE_FIELDS)}")
    return {**RECIPE_FIELDS[name], **data, "recipe": ""}


def overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the table `objective` with later ones on top. A recipe among the later ones takes
    the place of whatever recipes set, an earlier recipe included."""
    kept = {
        field: value
        for field, value in below.items()
        if not above.get("recipe") or field not in _SET_BY_RECIPES
    }
    return {**kept, **above}
