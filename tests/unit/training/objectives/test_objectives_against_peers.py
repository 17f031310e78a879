"""Our objectives against what TRL's and verl's own functions answered on the same inputs.

`benchmarks/objectives_peers.py` records the answers; this file needs neither library.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from unhack.training import objectives
from unhack.training.config.settings import ObjectiveSettings
from unhack.training.objectives import critic

RECORD: dict[str, Any] = json.loads(
    Path(__file__).with_name("objectives_peers.json").read_text("utf-8")
)
GROUP, MAX_NEW = RECORD["group"], RECORD["max_new"]
GIVEN = {
    name: torch.tensor(values, dtype=torch.bool if name == "mask_B_T" else torch.float64)
    for name, values in RECORD["inputs"].items()
}
TIGHT = {"rtol": 1e-6, "atol": 1e-6}

LOSSES: list[tuple[str, str, dict[str, Any]]] = [
    ("verl", "clip", {"policy": "clip", "aggregation": "sequence_mean"}),
    ("verl", "clip_higher", {"policy": "clip", "aggregation": "token_mean", "clip_high": 0.28}),
    ("verl", "dual_clip", {"policy": "clip", "aggregation": "token_mean", "dual_clip": 1.5}),
    (
        "verl",
        "gspo",
        {"policy": "gspo", "aggregation": "sequence_mean", "clip_low": 0.1, "clip_high": 0.15},
    ),
    (
        "verl",
        "cispo",
        {"policy": "cispo", "aggregation": "token_mean", "clip_low": 1.0, "clip_high": 0.6},
    ),
    (
        "verl",
        "dppo_tv",
        {"policy": "dppo_tv", "aggregation": "token_mean", "clip_low": 0.15, "clip_high": 0.15},
    ),
    (
        "verl",
        "dppo_tv_capped",
        {
            "policy": "dppo_tv", "aggregation": "token_mean", "clip_low": 0.15, "clip_high": 0.15,
            "ratio_cap": 1.2,
        },
    ),
    (
        "verl",
        "dppo_kl",
        {"policy": "dppo_kl", "aggregation": "token_mean", "clip_low": 0.05, "clip_high": 0.05},
    ),
    ("trl", "grpo", {"policy": "clip", "aggregation": "sequence_mean"}),
    ("trl", "grpo_kl", {"policy": "clip", "aggregation": "sequence_mean", "kl_beta": 0.04}),
    (
        "trl",
        "grpo_kl_weighted",
        {"policy": "clip", "aggregation": "sequence_mean", "kl_beta": 0.04, "kl_weighted": True},
    ),
    ("trl", "dapo", {"policy": "clip", "aggregation": "token_mean", "clip_high": 0.28}),
    ("trl", "dual_clip", {"policy": "clip", "aggregation": "token_mean", "dual_clip": 1.5}),
    ("trl", "dr_grpo", {"policy": "clip", "aggregation": "constant"}),
    (
        "trl",
        "gspo",
        {"policy": "gspo", "aggregation": "sequence_mean", "clip_low": 0.1, "clip_high": 0.15},
    ),
    (
        "trl",
        "cispo",
        {"policy": "cispo", "aggregation": "token_mean", "clip_low": 1.0, "clip_high": 0.6},
    ),
]  # fmt: skip


def ours(settings: dict[str, Any], *, old_B_T: Tensor | None = None) -> tuple[Tensor, Tensor, Any]:
    leaf = GIVEN["logprobs_B_T"].clone().requires_grad_(True)
    loss_B, log = objectives.policy_loss(
        leaf,
        GIVEN["old_B_T"] if old_B_T is None else old_B_T,
        GIVEN["advantages_B"],
        GIVEN["mask_B_T"],
        settings=ObjectiveSettings(**settings),
        group=GROUP,
        max_new=MAX_NEW,
        reference_B_T=GIVEN["reference_B_T"],
    )
    loss_B.sum().backward()
    assert leaf.grad is not None
    return loss_B.detach().sum(), leaf.grad, log


def numbers(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


class TestLosses:
    @pytest.mark.parametrize(
        ("peer", "case", "settings"), LOSSES, ids=[f"{peer}-{case}" for peer, case, _ in LOSSES]
    )
    def test_value_and_gradient_are_those_of_the_peer(
        self, peer: str, case: str, settings: dict[str, Any]
    ) -> None:
        recorded = RECORD[peer]["loss"][case]
        loss, gradient_B_T, log = ours(settings)
        torch.testing.assert_close(loss, numbers(recorded["loss"]), **TIGHT)
        torch.testing.assert_close(gradient_B_T, numbers(recorded["gradient_B_T"]), **TIGHT)
        assert 0 < log["bounded_share"] < 1, "the recorded ratios cross the bound of this case"

    def test_on_policy_rloo_of_trl_has_our_gradient(self) -> None:
        settings = {"policy": "reinforce", "aggregation": "sequence_sum"}
        _, gradient_B_T, _ = ours(settings, old_B_T=GIVEN["logprobs_B_T"])
        recorded = RECORD["trl"]["loss"]["rloo_on_policy"]["gradient_B_T"]
        torch.testing.assert_close(gradient_B_T, numbers(recorded), **TIGHT)

    def test_every_recorded_loss_is_compared(self) -> None:
        compared = {(peer, case) for peer, case, _ in LOSSES} | {("trl", "rloo_on_policy")}
        assert compared == {
            (peer, case) for peer in ("trl", "verl") for case in RECORD[peer]["loss"]
        }

    def test_dpo_is_that_of_trl(self) -> None:
        count = len(GIVEN["chosen_B"])
        leaf = torch.cat([GIVEN["chosen_B"], GIVEN["rejected_B"]]).requires_grad_(True)
        loss_B, log = objectives.dpo_loss(
            leaf[:count],
            leaf[count:],
            reference_chosen_B=GIVEN["reference_chosen_B"],
            reference_rejected_B=GIVEN["reference_rejected_B"],
        )
        loss_B.mean().backward()
        recorded = RECORD["trl"]["dpo"]
        torch.testing.assert_close(loss_B.detach().mean(), numbers(recorded["loss"]), **TIGHT)
        torch.testing.assert_close(leaf.grad, numbers(recorded["gradient_B_T"]), **TIGHT)
        assert 0 < log["accuracy"] < 1


class TestAdvantages:
    @pytest.mark.parametrize(
        ("case", "estimator"),
        [
            ("grpo", "grpo"),
            ("dr_grpo", "dr_grpo"),
            ("rloo", "rloo"),
            ("rloo_vectorized", "rloo"),
        ],
    )
    def test_they_are_those_of_verl(self, case: str, estimator: str) -> None:
        mine_B, _ = objectives.advantages(GIVEN["rewards_B"], group=GROUP, estimator=estimator)
        torch.testing.assert_close(mine_B, numbers(RECORD["verl"]["advantages"][case]), **TIGHT)

    @pytest.mark.parametrize(("case", "estimator"), [("none", "dr_grpo"), ("rloo", "rloo")])
    def test_they_are_those_of_trl(self, case: str, estimator: str) -> None:
        mine_B, _ = objectives.advantages(GIVEN["rewards_B"], group=GROUP, estimator=estimator)
        torch.testing.assert_close(mine_B, numbers(RECORD["trl"]["advantages"][case]), **TIGHT)

    @pytest.mark.parametrize(("case", "estimator"), [("group", "grpo"), ("batch", "batch_std")])
    def test_trl_differs_by_its_epsilon_only(self, case: str, estimator: str) -> None:
        rewards_B = GIVEN["rewards_B"]
        deviation_B = (
            rewards_B.view(-1, GROUP).std(1).repeat_interleave(GROUP)
            if case == "group"
            else rewards_B.std().expand_as(rewards_B)
        )
        mine_B, _ = objectives.advantages(rewards_B, group=GROUP, estimator=estimator)
        theirs_B = numbers(RECORD["trl"]["advantages"][case])
        scaled_B = theirs_B * (deviation_B + 1e-4) / (deviation_B + 1e-6)
        torch.testing.assert_close(mine_B, scaled_B, **TIGHT)
        assert not torch.allclose(mine_B, theirs_B, rtol=1e-6, atol=1e-6)

    def test_generalised_advantages_and_returns_are_those_of_verl(self) -> None:
        recorded, mask_B_T = RECORD["verl"]["gae"], GIVEN["mask_B_T"]
        advantages_B_T, returns_B_T = critic.gae(
            GIVEN["token_rewards_B_T"], GIVEN["values_B_T"], mask_B_T, discount=0.99, decay=0.95
        )
        mine_B_T = critic.whiten(advantages_B_T, mask_B_T)
        torch.testing.assert_close(
            mine_B_T[mask_B_T], numbers(recorded["advantages_B_T"])[mask_B_T], **TIGHT
        )
        torch.testing.assert_close(
            returns_B_T[mask_B_T], numbers(recorded["returns_B_T"])[mask_B_T], **TIGHT
        )
        assert not returns_B_T[~mask_B_T].any()


class TestParts:
    @pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
    def test_estimates_of_the_divergence_are_those_of_verl(self, estimator: str) -> None:
        mine_B_T = objectives.kl(GIVEN["logprobs_B_T"], GIVEN["reference_B_T"], estimator)
        torch.testing.assert_close(mine_B_T, numbers(RECORD["verl"]["kl"][estimator]), **TIGHT)

    @pytest.mark.parametrize(
        ("kind", "mode"),
        [
            ("token_mean", "token-mean"),
            ("sequence_sum", "seq-mean-token-sum"),
            ("sequence_mean", "seq-mean-token-mean"),
            ("constant", "seq-mean-token-sum-norm"),
        ],
    )
    def test_aggregations_are_those_of_verl(self, kind: str, mode: str) -> None:
        weights_B_T = objectives.aggregation_weights(
            GIVEN["mask_B_T"], kind=kind, group=GROUP, max_new=MAX_NEW
        )
        mine = (weights_B_T * GIVEN["terms_B_T"]).sum()
        torch.testing.assert_close(mine, numbers(RECORD["verl"]["aggregation"][mode]), **TIGHT)

    def test_the_clipped_value_loss_is_that_of_verl(self) -> None:
        mine = critic.value_loss(
            GIVEN["values_B_T"],
            GIVEN["old_values_B_T"],
            GIVEN["returns_B_T"],
            GIVEN["mask_B_T"],
            clip=0.5,
        )
        torch.testing.assert_close(mine, numbers(RECORD["verl"]["value_loss"]), **TIGHT)

    def test_the_entropy_is_that_of_verl(self) -> None:
        mine_B = objectives.entropy(GIVEN["logits_B_V"]).double()
        torch.testing.assert_close(mine_B, numbers(RECORD["verl"]["entropy_B"]), **TIGHT)

    def test_the_soft_overlong_penalty_is_that_of_trl(self) -> None:
        recorded = RECORD["trl"]["soft_overlong"]
        mine_B = objectives.soft_overlong(numbers(recorded["lengths"]), longest=20, cache=5)
        torch.testing.assert_close(mine_B, numbers(recorded["penalties"]), **TIGHT)
        assert {-1.0, 0.0} < set(recorded["penalties"])
