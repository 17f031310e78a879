"""Published objectives by name, and the table of settings: every field does something."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from pydantic import ValidationError

from unhack.core.errors import UsageError
from unhack.training import objectives
from unhack.training.config import toml
from unhack.training.config.recipes import RECIPE_FIELDS
from unhack.training.config.settings import ObjectiveSettings, Settings
from unhack.training.objectives import RECIPES, critic

NAMED = (
    "ppo", "grpo", "rloo", "dapo", "dr_grpo", "gspo", "cispo", "dppo_tv", "dppo_kl", "maxrl",
    "real", "scalerl", "dpo",
)  # fmt: skip
REWARDS = torch.tensor([1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.5])
MASK = torch.ones(8, 4, dtype=torch.bool)
MASK[1, 2:] = MASK[6, 1:] = False
GENERATOR = torch.Generator().manual_seed(0)
LOGPROBS = -torch.rand(8, 4, generator=GENERATOR, dtype=torch.float64) - 0.1
OLD = LOGPROBS + torch.randn(8, 4, generator=GENERATOR, dtype=torch.float64) * 0.4
REFERENCE = LOGPROBS + torch.randn(8, 4, generator=GENERATOR, dtype=torch.float64) * 0.4
KNOB = torch.tensor([True] * 4 + [False] * 4)
STATES = torch.randn(8, 4, 3, generator=GENERATOR)


def outcome(settings: ObjectiveSettings) -> torch.Tensor:
    """Gradient of one update by the log-probabilities, through everything that is in this room."""
    shaping: dict[str, Any] = {
        "settings": settings, "max_new": 4, "logprobs_B_T": OLD, "reference_B_T": REFERENCE,
    }  # fmt: skip
    mask = MASK
    if settings.advantage == "gae":
        made = critic.make_critic(3, settings=settings, seed=0)
        made.optimiser.param_groups[0]["lr"] = 0.3  # far enough for the clip to be felt
        rewards_B_T = objectives.token_rewards(REWARDS, MASK, **shaping)
        for _ in range(2):
            judged = made.estimate(STATES, rewards_B_T, MASK)
            for _ in range(2):  # updates of one batch: values have moved in the second
                made.learn(STATES, judged, MASK)
        advantages = made.estimate(STATES, rewards_B_T, MASK).advantages_B_T
    else:
        shaped = objectives.token_rewards(REWARDS, MASK, **shaping).sum(1)
        knob = KNOB if settings.per_knob else None
        advantages, signal = objectives.advantages(
            shaped, group=4, estimator=settings.advantage, knob_B=knob
        )
        mask = objectives.active(MASK, signal, zero_variance=settings.zero_variance)
    leaf = LOGPROBS.clone().requires_grad_(True)
    loss_B, _ = objectives.policy_loss(
        leaf, OLD, advantages, mask,
        settings=settings, group=4, max_new=4, reference_B_T=REFERENCE,
    )  # fmt: skip
    loss_B.sum().backward()
    assert leaf.grad is not None
    return leaf.grad


class TestRecipes:
    def test_every_objective_has_its_name(self) -> None:
        assert tuple(RECIPES) == NAMED
        assert isinstance(RECIPES["dpo"], objectives.DPOSettings)

    @pytest.mark.parametrize("name", RECIPE_FIELDS)
    def test_every_recipe_trains(self, name: str) -> None:
        recipe = RECIPES[name]
        assert isinstance(recipe, ObjectiveSettings)
        assert outcome(recipe).isfinite().all()
        assert outcome(recipe).abs().sum() > 0

    def test_recipes_differ_in_what_they_do(self) -> None:
        found = {name: outcome(ObjectiveSettings(recipe=name)) for name in RECIPE_FIELDS}
        for index, one in enumerate(found):
            for other in list(found)[index + 1 :]:
                assert not torch.allclose(found[one], found[other], rtol=1e-9, atol=0), (one, other)

    def test_a_run_picks_one_by_name(self) -> None:
        from_set = toml.override(Settings(), {"objective.recipe": "dapo"})
        from_table = toml.make_settings({"objective": {"recipe": "dapo", "kl_beta": 0.01}})
        assert from_set.objective == RECIPES["dapo"]
        assert from_table.objective.kl_beta == 0.01
        assert from_table.objective.zero_variance == "refill"
        assert from_table.objective not in RECIPES.values()

    def test_what_is_stored_are_the_fields(self) -> None:
        picked = toml.override(Settings(), {"objective.recipe": "dapo"})
        changed = toml.override(picked, {"objective.clip_high": "0.2"})
        assert picked.objective.recipe == ""
        assert (picked.objective.clip_high, changed.objective.clip_high) == (0.28, 0.2)
        again = Settings.model_validate(picked.model_dump())
        assert again == picked

    def test_a_later_recipe_takes_the_place_of_an_earlier_one(self) -> None:
        first = toml.make_settings({"objective": {"recipe": "grpo", "per_knob": True}})
        second = toml.override(first, {"objective.recipe": "dr_grpo"})
        assert second.objective == RECIPES["dr_grpo"].model_copy(update={"per_knob": True})

    def test_what_is_given_beside_a_recipe_counts_also_where_it_is_the_default(self) -> None:
        given = {"objective.recipe": "grpo", "objective.kl_beta": "0.0"}
        assert toml.override(Settings(), given).objective.kl_beta == 0.0
        table = {"recipe": "grpo", "aggregation": "constant"}
        assert toml.make_settings({"objective": table}).objective.aggregation == "constant"

    def test_an_unknown_recipe_is_a_usage_error_that_lists_them(self) -> None:
        with pytest.raises(UsageError, match="dapo"):
            toml.override(Settings(), {"objective.recipe": "ppo2"})


BASE: dict[str, dict[str, Any]] = {
    "ratio_cap": {"policy": "dppo_tv", "clip_low": 0.9, "clip_high": 0.9},
    "real_temperature": {"policy": "real"},
    "kl": {"kl_beta": 0.5},
    "kl_in_reward": {"kl_beta": 0.5},
    "kl_weighted": {"kl_beta": 0.5},
    "zero_variance": {"aggregation": "sequence_mean"},
    "per_knob": {"advantage": "batch_std"},
    "discount": {"advantage": "gae"},
    "gae_lambda": {"advantage": "gae", "discount": 0.9},
    "value_clip": {"advantage": "gae"},
}
OTHER: dict[str, Any] = {
    "advantage": "grpo", "policy": "reinforce", "aggregation": "token_mean", "clip_low": 0.05,
    "clip_high": 0.05, "dual_clip": 1.2, "ratio_cap": 1.1, "real_temperature": 1.0, "kl": "k2",
    "kl_beta": 0.5, "kl_in_reward": True, "kl_weighted": True, "overlong_share": 0.5,
    "zero_variance": "keep", "per_knob": True, "discount": 0.9,
    "gae_lambda": 0.5, "value_clip": 0.01,
}  # fmt: skip
LOOPS = {"recipe", "updates_per_batch", "retire_share"}
"""Fields that are not about one update."""


class TestTable:
    def test_every_field_is_tried(self) -> None:
        assert set(OTHER) | LOOPS == set(ObjectiveSettings.model_fields)

    @pytest.mark.parametrize("field", OTHER)
    def test_every_field_changes_the_update(
        self, field: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if field == "zero_variance":  # the second prompt is flat
            monkeypatch.setitem(globals(), "REWARDS", torch.tensor([1.0, 0, 0, 1, 1, 1, 1, 1]))
        base = BASE.get(field, {})
        before = outcome(ObjectiveSettings(**base))
        after = outcome(ObjectiveSettings(**{**base, field: OTHER[field]}))
        assert not torch.allclose(before, after, rtol=1e-6, atol=0)

    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            ({"kl": "k1", "kl_beta": 0.1}, "kl_weighted"),
            ({"kl": "k2", "kl_beta": 0.1, "kl_weighted": True}, "k2"),
            ({"dual_clip": 0.5}, "above 1"),
            ({"policy": "real", "advantage": "gae"}, "no critic"),
        ],
    )
    def test_settings_that_make_no_sense_are_refused(
        self, fields: dict[str, Any], says: str
    ) -> None:
        with pytest.raises(ValidationError, match=says):
            ObjectiveSettings(**fields)
