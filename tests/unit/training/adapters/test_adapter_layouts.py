"""Adapters in models whose maps are called, shared or hooked in unusual ways."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.training.adapters import AttachedAdapters, attach
from unhack.training.config.settings import AdapterSettings

BATCH, TOKENS, WIDTH = 4, 5, 6
KNOB = torch.tensor([True, False, False, True])
KINDS = ["lora_frozen_b", "lora_split"]


class Flat(nn.Module):
    """As OPT: the maps of the second half see [B * T, D], one in between [B, 1, T, D]."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.up, self.down = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        x = torch.tanh(self.first(x))
        x = torch.tanh(self.up(x[:, None]))[:, 0]
        return self.down(x.reshape(-1, WIDTH)).view(x.shape)


class InPlace(Flat):
    """As Falcon: what a map gave is added to in place."""

    def forward(self, x: Tensor) -> Tensor:
        out = self.first(x)
        out += torch.tanh(self.up(x))
        return self.down(out)


class Looped(Flat):
    """As ALBERT: one map, called three times, between others."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for _ in range(3):
            x = x + torch.tanh(self.up(x))
        return self.down(x)


class Shared(Flat):
    """One map that stands at two places."""

    def __init__(self) -> None:
        super().__init__()
        self.down = self.up

    def forward(self, x: Tensor) -> Tensor:
        return self.down(torch.tanh(self.up(self.first(x))))


class Idle(Flat):
    """As Mamba: the weight of one map is read, the map itself never called."""

    def forward(self, x: Tensor) -> Tensor:
        return self.down(torch.tanh(self.first(x) @ self.up.weight))


class Scaled(nn.Linear):
    """A linear map with a forward of its own."""

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input) / 2


class Hooked(Flat):
    """One map with a hook, one with a forward of its own, one that was given another forward."""

    def __init__(self) -> None:
        super().__init__()
        self.first.register_forward_hook(lambda _, __, out: out + 1)
        self.up = Scaled(WIDTH, WIDTH)
        plain: Any = self.down.forward
        self.down.forward = lambda x: -plain(x)  # type: ignore[method-assign]


class Tied(Flat):
    """Two maps with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.down.weight = self.up.weight


MODELS: list[Any] = [Flat, InPlace, Looped, Shared, Idle, Hooked, Tied]


def made(model: type[nn.Module]) -> nn.Module:
    torch.manual_seed(3)
    return model().double()


def adapted(
    model: type[nn.Module], kind: str, *, targets: tuple[str, ...] = ("first", "up", "down")
) -> tuple[nn.Module, AttachedAdapters]:
    """With both blocks away from their start, but for those of a map that is never called."""
    found = made(model)
    settings = AdapterSettings(kind=kind, rank=2, targets=targets)  # type: ignore[arg-type]
    adapters = attach(found, settings, seed=1)
    generator = torch.Generator().manual_seed(5)
    for block in ("deployed", "quarantine"):
        for name, items in adapters.parameters(block).items():  # type: ignore[arg-type]
            for item in items if not (model is Idle and name == "up") else ():
                item.data += 0.3 * torch.randn(item.shape, generator=generator, dtype=item.dtype)
    return found, adapters


def inputs() -> Tensor:
    generator = torch.Generator().manual_seed(7)
    return torch.randn(BATCH, TOKENS, WIDTH, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("model", MODELS)
def test_outputs_stay_as_they_are_when_blocks_are_attached(model: Any) -> None:
    wanted = made(model)(inputs())
    found = made(model)
    attach(found, AdapterSettings(rank=2, targets=("first", "up", "down")), seed=1)
    assert torch.equal(found(inputs()), wanted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
@torch.no_grad()
def test_each_rollout_runs_in_its_state_merged_or_not(model: Any, kind: str) -> None:
    found, adapters = adapted(model, kind)
    states: dict[bool, Tensor] = {}
    for state in (False, True):
        with adapters.knob(state):
            states[state] = found(inputs())
        if adapters.mergeable:
            with adapters.merge(quarantine=state):
                torch.testing.assert_close(found(inputs()), states[state], rtol=1e-9, atol=1e-12)
    with adapters.knob(KNOB):
        mixed = found(inputs())
    wanted = torch.where(KNOB[:, None, None], states[True], states[False])
    torch.testing.assert_close(mixed, wanted, rtol=1e-9, atol=1e-12)
    adapters.deploy()
    assert torch.equal(found(inputs()), states[False])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_captured_gradients_of_each_rollout_are_those_of_autograd(model: Any, kind: str) -> None:
    found, adapters = adapted(model, kind)
    with adapters.knob(KNOB), adapters.capture(BATCH, tokens=False) as gradients:
        found(inputs()).tanh().sum().backward()
    kept = adapters.parameters("deployed")
    assert BATCH
    for rollout in range(BATCH):
        weights = torch.zeros(BATCH, 1, 1).double()
        weights[rollout] = 1
        sums = gradients.sums(weights, block="deployed")
        with adapters.knob(KNOB):
            loss = found(inputs())[rollout].tanh().sum()
        wanted = torch.autograd.grad(
            loss, [item for items in kept.values() for item in items], materialize_grads=True
        )
        flat = torch.cat([item.flatten() for item in wanted])
        torch.testing.assert_close(
            torch.cat([sums[name] for name in kept]), flat, rtol=1e-9, atol=1e-12
        )


def test_a_tied_weight_is_not_merged_into() -> None:
    _, adapters = adapted(Tied, "lora_frozen_b", targets=("down",))
    assert not adapters.mergeable
    with pytest.raises(UsageError, match="tied to another"), adapters.merge(quarantine=True):
        pass


def test_rows_that_belong_to_nobody_are_refused_with_the_name_of_the_map() -> None:
    class Mixture(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.experts = nn.Linear(WIDTH, WIDTH), nn.ModuleList([Flat()])

        def forward(self, x: Tensor) -> Tensor:
            x = self.first(x)
            expert: Any = self.experts[0]
            return expert.up(x.flatten(0, 1).flip(0)).view(x.shape)

    model, adapters = adapted(Mixture, "lora_frozen_b", targets=("first", "up"))
    words = r"experts.0.up got an input \(20, 6\) in a pass of 4 rollouts.* name the other maps"
    with adapters.knob(KNOB), pytest.raises(UsageError, match=words):
        model(inputs())
    with adapters.knob(True):
        model(inputs())
    flat, others = adapted(Flat, "lora_frozen_b")
    with others.knob(KNOB), pytest.raises(UsageError, match=r"input \(7, 6\) in a pass of 4"):
        flat.get_submodule("down")(inputs()[0, 0].expand(7, -1))


def test_a_map_that_gives_more_than_a_product_is_named() -> None:
    class Pair(nn.Linear):
        def forward(self, input: Tensor) -> Any:
            return super().forward(input), input

    model = made(Flat)
    model.up = Pair(WIDTH, WIDTH).double()
    attach(model, AdapterSettings(rank=2, targets=("first", "up")), seed=1)
    with pytest.raises(UsageError, match=r"up is no linear map.* name the other maps"):
        model(inputs())


def test_a_model_is_attached_to_once() -> None:
    model, _ = adapted(Flat, "lora_frozen_b")
    with pytest.raises(UsageError, match="has adapters already"):
        attach(model, AdapterSettings(rank=2, targets=("first",)), seed=1)


def test_a_backward_pass_that_misses_a_map_that_ran_is_an_error() -> None:
    model, adapters = adapted(Flat, "lora_frozen_b")
    with adapters.knob(KNOB), adapters.capture(BATCH, tokens=False) as gradients:
        first: Any = model.get_submodule("first")
        model(inputs())
        first(inputs()).sum().backward()
    with pytest.raises(UsageError, match="no backward pass has reached up, down"):
        gradients.check_complete()
