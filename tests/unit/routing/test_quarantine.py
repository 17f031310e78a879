"""Knob states, sampling, deletion and export, on maps of several forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.unit.routing.models import VOCAB, SmallModel, gate, made
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.routing import LeakAlarm, Quarantine, Router, attach, claimed_share

KINDS = ["lora_frozen_b", "lora_split", "svd"]
TOKENS = torch.randint(0, VOCAB, (4, 5), generator=torch.Generator().manual_seed(2))


class ByteLinear(nn.Module):
    """A linear map that holds bytes and widens them when it is called."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.step = float(linear.weight.detach().abs().max()) / 127
        self.register_buffer("codes", (linear.weight.detach() / self.step).round().to(torch.int8))
        self.register_buffer("bias", None if linear.bias is None else linear.bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        weight: Any = self.codes
        return nn.functional.linear(x, weight.to(x.dtype) * self.step, self.bias)  # type: ignore[arg-type]


class WrappedLinear(nn.Module):
    """What PEFT makes of a linear map: the map as `base_layer`, low-rank parts beside it."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.base_layer = linear
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.lora_A = nn.ModuleDict({"default": nn.Linear(linear.in_features, 2, bias=False)})

    def forward(self, x: Tensor) -> Tensor:
        return self.base_layer(x)


def bytes_model() -> SmallModel:
    torch.manual_seed(1)
    model = SmallModel().double()
    model.up = ByteLinear(model.up)  # type: ignore[assignment]
    model.mix = ByteLinear(model.mix)  # type: ignore[assignment]
    return model


def shaken(quarantine: Quarantine) -> Quarantine:
    generator = torch.Generator().manual_seed(5)
    for item in quarantine.parameters():
        item.data += 0.3 * torch.randn(item.shape, generator=generator, dtype=item.dtype)
    return quarantine


def states(pattern: str) -> Tensor:
    return torch.tensor([letter == "1" for letter in pattern])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pattern", ["0000", "1111", "0011", "1100", "0110", "0001"])
@torch.no_grad()
def test_sampling_runs_each_rollout_in_its_state(kind: str, pattern: str) -> None:
    quarantine = made(kind)
    before = quarantine.model(TOKENS)
    wanted = []
    for knob in (False, True):
        with quarantine.knob(knob):
            wanted.append(quarantine.model(TOKENS))
    knob_B = states(pattern)
    expected = torch.where(knob_B[:, None, None], wanted[1], wanted[0])
    with quarantine.sampling(knob_B):
        torch.testing.assert_close(quarantine.model(TOKENS), expected, rtol=1e-9, atol=1e-12)
    assert torch.equal(quarantine.model(TOKENS), before)
    assert not torch.allclose(wanted[0], wanted[1])


@torch.no_grad()
def test_a_batch_that_is_scored_in_pieces_keeps_its_states() -> None:
    quarantine, knob_B = made(), states("0110")
    with quarantine.knob(knob_B):
        expected = quarantine.model(TOKENS)
    with quarantine.rows(knob_B):
        found = torch.cat([quarantine.model(TOKENS[rows]) for rows in (slice(3), slice(3, 4))])
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
    with quarantine.rows(knob_B), pytest.raises(UsageError, match="more rollouts are scored"):
        quarantine.model(TOKENS.repeat(2, 1))


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_what_is_deployed_is_the_quarantine_off_bit_for_bit(kind: str) -> None:
    quarantine = made(kind)
    with quarantine.knob(False):
        off = quarantine.model(TOKENS)
    quarantine.deploy()
    assert torch.equal(quarantine.model(TOKENS), off)
    assert not any("quarantine" in name for name in quarantine.state())
    assert not any("quarantine" in name for name, _ in quarantine.model.named_parameters())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_the_written_factors_are_what_is_kept(kind: str, tmp_path: Path) -> None:
    quarantine = made(kind)
    with quarantine.knob(False):
        off = quarantine.model(TOKENS)
    folder = quarantine.to_peft(tmp_path / "out")
    config = json.loads((folder / "adapter_config.json").read_text())
    tensors = load_file(folder / "adapter_model.safetensors")
    torch.manual_seed(1)
    base = SmallModel().double()
    for name in config["target_modules"]:
        read, out = (
            tensors[f"base_model.model.{name}.lora_{side}.weight"].double() for side in "AB"
        )
        rank = config["rank_pattern"].get(name, config["r"])
        assert read.shape[0] == out.shape[1] == rank
        assert config["alpha_pattern"].get(name, config["lora_alpha"]) == rank
        base.get_submodule(name).weight += out @ read  # type: ignore[operator]
    torch.testing.assert_close(base(TOKENS), off, rtol=1e-5, atol=1e-6)


def test_all_maps_are_taken_but_the_output_embedding() -> None:
    assert attach(SmallModel()).adapters.names == ("mix", "up", "down")
    with pytest.raises(UsageError, match="no linear module is named one of q_proj"):
        attach(SmallModel(), targets=["q_proj"])


@pytest.mark.sample
@pytest.mark.slow  # torch.compile loads a compiler
@pytest.mark.filterwarnings("ignore")
def test_a_compiled_model_has_the_blocks_and_the_export_of_its_plain_one(tmp_path: Path) -> None:
    torch.manual_seed(1)
    plain = shaken(attach(SmallModel(), rank=2))
    torch.manual_seed(1)
    compiled = shaken(attach(torch.compile(SmallModel(), backend="eager"), rank=2))  # type: ignore[arg-type]
    assert compiled.adapters.names == plain.adapters.names
    for state in (False, True):
        with plain.knob(state), compiled.knob(state):
            torch.testing.assert_close(compiled.model(TOKENS), plain.model(TOKENS))
    written = [
        load_file(one.to_peft(tmp_path / str(number)) / "adapter_model.safetensors")
        for number, one in enumerate((plain, compiled))
    ]
    assert written[0].keys() == written[1].keys()
    assert all(torch.equal(item, written[1][name]) for name, item in written[0].items())


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"kind": "lora"}, "kind='lora': it is one of svd, lora_frozen_b, lora_split"),
        ({"rank": 0}, "rank=0: it is a whole number from 1 on"),
        ({"rank": 2.5}, "rank=2.5"),
    ],
)
def test_settings_of_blocks_are_told_in_words(named: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        attach(SmallModel(), **named)


def test_one_target_may_stand_alone() -> None:
    assert attach(SmallModel(), targets="up").adapters.names == ("up",)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(UsageError, match="out: no folder can be made there"):
        made().to_peft(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_a_deleted_quarantine_routes_no_more() -> None:
    quarantine = made()
    quarantine.deploy()
    with pytest.raises(UsageError, match="the quarantine is deleted: attach to a fresh base"):
        Router(quarantine, gate())


def test_a_map_at_two_places_is_not_exported(tmp_path: Path) -> None:
    model = SmallModel()
    model.again = model.up  # type: ignore[assignment]
    quarantine = attach(model)
    assert model.again is model.up
    with pytest.raises(UsageError, match="up stands at 2 places of the model"):
        quarantine.to_peft(tmp_path / "out")


def test_a_wrapped_map_is_adapted_inside_its_wrapper() -> None:
    model = SmallModel()
    model.up = WrappedLinear(model.up)  # type: ignore[assignment]
    assert attach(model).adapters.names == ("mix", "up.base_layer", "down")


class TestQuantised:
    def test_logits_stay_and_blocks_act_beside_the_map(self) -> None:
        model = bytes_model()
        before = model(TOKENS)
        quarantine = attach(model, rank=2)
        assert quarantine.adapters.names == ("mix", "up", "down")
        assert torch.equal(model(TOKENS), before)
        shaken(quarantine)
        with quarantine.base():
            assert torch.equal(model(TOKENS), before)
        with quarantine.knob(False):
            off = model(TOKENS)
        with quarantine.sampling(states("0011")):
            mixed = model(TOKENS)
        torch.testing.assert_close(mixed[:2], off[:2], rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(mixed[2:], model(TOKENS)[2:], rtol=1e-9, atol=1e-12)
        assert not torch.allclose(mixed[2:], off[2:])

    @pytest.mark.parametrize("kind", ["lora_frozen_b", "lora_split"])
    def test_recorded_gradients_are_those_of_autograd(self, kind: Any) -> None:
        quarantine = shaken(attach(bytes_model(), rank=2, kind=kind))
        router = Router(quarantine, gate(recentre=False, share=0.0))
        with quarantine.knob(True):
            quarantine.model(TOKENS).log_softmax(-1)[:, :, 0].sum().backward()
        kept = quarantine.adapters.parameters("deployed").values()
        wanted = [item.grad for items in kept for item in items]
        for item in quarantine.parameters():
            item.grad = None
        with router.record(torch.ones(4), states("1111")):
            quarantine.model(TOKENS).log_softmax(-1)[:, :, 0].sum().backward()
        router.route()
        found = [item.grad for items in kept for item in items]
        assert found
        for one, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)

    def test_what_is_saved_has_the_names_of_the_base(self) -> None:
        model = bytes_model()
        wanted = {name: item.clone() for name, item in model.state_dict().items()}
        shaken(attach(model, rank=2))
        saved = model.state_dict()
        assert all(torch.equal(saved[name], item) for name, item in wanted.items())
        assert all("deployed" in name or "quarantine" in name for name in saved.keys() - wanted)
        other = bytes_model()
        attach(other, rank=2)
        other.load_state_dict(saved)
        assert torch.equal(other(TOKENS), model(TOKENS))

    def test_its_weight_cannot_be_decomposed_or_merged(self) -> None:
        with pytest.raises(UsageError, match="kind svd decomposes the weight"):
            attach(bytes_model(), kind="svd")
        quarantine = attach(bytes_model())
        with (
            pytest.raises(UsageError, match="takes no merged adapter"),
            quarantine.adapters.merge(quarantine=False),
        ):
            pass


class TestClaims:
    def test_what_a_quarantine_that_does_nothing_reads_it_claims(self) -> None:
        quarantine = made()
        for items in quarantine.adapters.parameters("quarantine").values():
            for item in items:
                item.data.zero_()
        assert quarantine.claims(lambda: scores(quarantine), MASK) == [True] * 4

    def test_it_is_asked_in_both_states_without_gradients(self) -> None:
        quarantine = shaken(made())
        seen: list[Tensor] = []

        def asked() -> Tensor:
            seen.append(scores(quarantine))
            return seen[-1]

        quarantine.claims(asked, MASK)
        with quarantine.knob(True):
            on = scores(quarantine)
        with quarantine.knob(False):
            off = scores(quarantine)
        assert torch.equal(seen[0], on)
        assert torch.equal(seen[1], off)
        assert not any(item.requires_grad for item in seen)

    def test_an_alarm_of_a_loop_is_raised_by_what_is_claimed(self) -> None:
        quarantine, alarm = made(), LeakAlarm()
        for items in quarantine.adapters.parameters("quarantine").values():
            for item in items:
                item.data.zero_()
        for _ in range(8):
            claims = quarantine.claims(lambda: scores(quarantine), MASK)
            alarm.observe(claimed_share([1.0, 0.0, 1.0, 0.0], claims))
        assert alarm.raised


MASK = torch.ones(4, 4, dtype=torch.bool)


def scores(quarantine: Quarantine) -> Tensor:
    """Log-probabilities of TOKENS but for their first."""
    logprobs = quarantine.model(TOKENS[:, :-1]).log_softmax(-1)
    return logprobs.gather(2, TOKENS[:, 1:, None]).squeeze(2)
