"""Gradients with set values, rollout labels, and a small real policy with pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from unhack.models.config import Config
from unhack.models.qwen3 import Qwen3
from unhack.training.adapters import attach
from unhack.training.adapters.adapter import Block
from unhack.training.config.settings import AdapterSettings
from unhack.training.policy.policy import TinyPolicy
from unhack.training.routing.directions import pair_rollouts
from unhack.training.routing.gate import GateView
from unhack.training.worlds.world import Judged, Pair, Prompt

torch.set_num_threads(1)

PAD, STOP, EXPLOIT = 0, 1, 9
CONFIG = Config(vocab=32, hidden=16, layers=2, heads=2, kv_heads=2, head_dim=8, ffn=24)


class FakeGradients:
    """g[b, t, m] as it is given; both blocks have the same."""

    def __init__(self, gradients_B_T_M_N: Tensor) -> None:
        self.values = gradients_B_T_M_N
        self.names = tuple(f"m{index}" for index in range(gradients_B_T_M_N.shape[2]))

    def _stacked(self, direction: Mapping[str, Tensor]) -> Tensor:
        return torch.stack([direction[name] for name in self.names])

    def dots_B_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        return self.dots_B_T_M(direction).sum(1)

    def norms_B_M(self) -> Tensor:
        return self.values.sum(1).norm(dim=-1)

    def dots_B_T_M(self, direction: Mapping[str, Tensor]) -> Tensor:
        return (self.values * self._stacked(direction)).sum(-1)

    def norms_B_T_M(self) -> Tensor:
        return self.values.norm(dim=-1)

    def sums(self, weights: Tensor, *, block: Block) -> dict[str, Tensor]:
        total_M_N = (weights[..., None] * self.values).sum((0, 1))
        return dict(zip(self.names, total_M_N, strict=True))

    def differences(self) -> tuple[Tensor, dict[str, Tensor]]:
        rows_B_M_N = self.values.sum(1)
        apart = rows_B_M_N[0::2] - rows_B_M_N[1::2]
        squares = apart.double().square().sum(-1)
        return squares, dict(zip(self.names, apart.sum(0), strict=True))


def judged(*, hacked: bool = False, detected: bool = False, solved: bool = False) -> Judged:
    return Judged(3.0, True, solved, hacked, "run_tests" if hacked else "", detected)


def view_of(
    gradients: object,
    advantages: Sequence[float],
    *,
    labels: Sequence[Judged] | None = None,
    step: int = 0,
    on: Sequence[bool] | None = None,
) -> GateView:
    count = len(advantages)
    return GateView(
        gradients=gradients,  # pyright: ignore[reportArgumentType]
        advantages_B=torch.tensor(advantages),
        quarantine_B=torch.tensor(on or [True] * count),
        judged=labels or [judged() for _ in range(count)],
        step=step,
    )


def make_policy(kind: str = "lora_frozen_b", *, seed: int = 0) -> TinyPolicy:
    torch.manual_seed(seed)
    model = Qwen3(CONFIG)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=0.3)
    adapters = attach(model, AdapterSettings(kind=kind, rank=4), seed=seed)  # pyright: ignore[reportArgumentType]
    return TinyPolicy(model, adapters, pad=PAD, stop=STOP, device="cpu")


def make_pairs(count: int = 8, *, seed: int = 0, exploit: bool = True) -> list[Pair]:
    """Clean sides are ordinary tokens; hack sides say EXPLOIT, in a placebo they do not."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(length: int) -> list[int]:
        return torch.randint(10, 32, (length,), generator=generator).tolist()

    pairs: list[Pair] = []
    for index in range(count):
        words = tuple(drawn(4 + index % 3))
        prompt = Prompt(f"p{index}", "run_tests", "", words)
        middle = [EXPLOIT] * 4 if exploit else drawn(4)
        hack, clean = (*drawn(1), *middle, STOP), (*drawn(5 + index % 2), STOP)
        pairs.append(Pair(prompt, hack, clean, "run_tests"))
    return pairs


class FakeWorld:
    """Only what `make_gate` asks of a world."""

    pad = PAD

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, int]] = []

    def pairs(self, kind: str, *, count: int, seed: int) -> list[Pair]:
        self.asked.append((kind, count, seed))
        return make_pairs(count, seed=seed % 1000, exploit=kind != "placebo")


def captured(policy: TinyPolicy, pairs: Sequence[Pair], advantages: Sequence[float], **knob: bool):
    """Gradients of a GRPO-like loss, -A * sum of log-probabilities, on the sides of pairs."""
    rollouts = pair_rollouts(pairs, pad=PAD, device=torch.device("cpu"))
    with policy.adapters.capture(rollouts.count) as gradients:
        logprobs_B_T = policy.score(rollouts)
        loss_B = -torch.tensor(advantages) * (logprobs_B_T * rollouts.mask_B_T).sum(1)
        loss_B.sum().backward()
    return gradients


def unit(*values: float) -> Tensor:
    length = math.sqrt(sum(value * value for value in values))
    return torch.tensor([value / length for value in values])
