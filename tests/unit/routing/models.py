"""A small causal model in double precision, its pairs and a batch, for tests of routing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from unhack.routing import HackGate, Quarantine, TextPair, attach, hack_gate

torch.set_num_threads(1)

VOCAB, WIDTH, LENGTH, GROUP = 11, 6, 5, 3
PAIRS = [
    TextPair([1, 2, 3], [9, 9, 4], [5, 6, 4]),
    TextPair([2, 1], [9, 3], [7, 3]),
    TextPair([4, 4, 2], [9, 9], [6, 1]),
]


class SmallModel(nn.Module):
    """Token ids [B, S] -> logits [B, S, V]; positions mix causally, one map has a bias."""

    def __init__(self, *, checkpointed: bool = False, reentrant: bool = False) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 8, bias=False), nn.Linear(8, WIDTH)
        self.lm_head = nn.Linear(WIDTH, VOCAB, bias=False)
        self.checkpointed, self.reentrant = checkpointed, reentrant

    def forward(self, tokens_B_S: Tensor) -> Tensor:
        hidden = self.embed(tokens_B_S)
        if self.checkpointed:
            if self.reentrant:
                hidden = hidden.detach().requires_grad_(True)
            found: Any = checkpoint(self._block, hidden, use_reentrant=self.reentrant)
        else:
            found = self._block(hidden)
        return self.lm_head(found)

    def _block(self, hidden: Tensor) -> Tensor:
        hidden = hidden + torch.tanh(self.mix(hidden)).cumsum(1) / 3
        return hidden + self.down(torch.tanh(self.up(hidden)))


def made(
    kind: str = "lora_frozen_b", *, dtype: Any = torch.float64, device: Any = "cpu", **model: Any
) -> Quarantine:
    """The model with both blocks away from their start."""
    torch.manual_seed(1)
    small = SmallModel(**model).to(dtype)
    quarantine = attach(small, rank=3, kind=kind, seed=3)  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(5)
    for item in quarantine.parameters():
        item.data += 0.3 * torch.randn(item.shape, generator=generator, dtype=item.dtype)
    quarantine.model.to(device)
    return quarantine


def gate(**named: Any) -> HackGate:
    """The supported gate of the pairs."""
    return hack_gate(PAIRS, **named)


@dataclass
class Batch:
    """Rollouts of two prompts, prompt by prompt."""

    tokens_B_S: Tensor
    advantages_B: Tensor
    knob_B: Tensor
    group_B: Tensor

    def part(self, rows: Any) -> Batch:
        """Some of the rollouts."""
        return Batch(
            self.tokens_B_S[rows], self.advantages_B[rows], self.knob_B[rows], self.group_B[rows]
        )

    def to(self, device: Any) -> Batch:
        """The same on a device."""
        tensors = (self.tokens_B_S, self.advantages_B, self.knob_B, self.group_B)
        return Batch(*(item.to(device) for item in tensors))

    def losses_B(self, model: nn.Module, *, count: int = 0) -> Tensor:
        """Each rollout's share of the batch's loss."""
        logprobs = model(self.tokens_B_S[:, :-1]).log_softmax(-1)
        chosen = logprobs.gather(2, self.tokens_B_S[:, 1:, None]).squeeze(2)
        weights = self.advantages_B.to(chosen) / (count or len(self.advantages_B))
        return -(weights[:, None] * chosen).sum(1)


def batch(prompts: int = 4) -> Batch:
    """The same at each call."""
    generator = torch.Generator().manual_seed(7)
    count = prompts * GROUP
    return Batch(
        torch.randint(0, VOCAB, (count, LENGTH), generator=generator),
        torch.randn(count, generator=generator),
        (torch.arange(count) // GROUP) % 2 == 0,
        torch.arange(count) // GROUP,
    )


def gradients(quarantine: Quarantine) -> list[Tensor]:
    """`.grad` of everything that trains, which is then without one."""
    found = [item.grad for item in quarantine.parameters()]
    for item in quarantine.parameters():
        item.grad = None
    return [item.clone() for item in found if item is not None]
