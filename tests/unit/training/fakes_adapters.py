"""A tiny Qwen3 with adapters, rollouts of unlike lengths, and the slow way to their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from unhack.models.config import Config
from unhack.models.qwen3 import Qwen3
from unhack.training.adapters import AttachedAdapters, attach
from unhack.training.config.settings import AdapterSettings

KINDS = ("svd", "lora_frozen_b", "lora_split")
BATCH, LENGTH, VOCAB = 6, 9, 23
CONFIG = Config(vocab=VOCAB, hidden=16, layers=2, heads=2, kv_heads=1, head_dim=8, ffn=24)


def base(dtype: torch.dtype = torch.float32) -> Qwen3:
    """Always the same weights."""
    torch.manual_seed(5)
    return Qwen3(CONFIG).to(dtype)


def settings(kind: str, rank: int = 3) -> AdapterSettings:
    return AdapterSettings.model_validate({"kind": kind, "rank": rank})


def adapted(
    kind: str, *, dtype: torch.dtype = torch.float32, rank: int = 3, trained: bool = True
) -> tuple[Qwen3, AttachedAdapters]:
    """A model whose blocks are away from their start."""
    model = base(dtype)
    adapters = attach(model, settings(kind, rank), seed=11)
    if trained:
        shake(adapters)
    return model, adapters


def shake(adapters: AttachedAdapters, *, size: float = 0.1, seed: int = 2) -> None:
    """Move every parameter of both blocks."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for block in ("deployed", "quarantine"):
            for parameters in adapters.parameters(block).values():
                for item in parameters:
                    item.add_(torch.randn(item.shape, generator=generator) * size)


def tokens() -> tuple[Tensor, Tensor]:
    """Tokens and a mask of completion tokens of unlike lengths."""
    generator = torch.Generator().manual_seed(3)
    tokens_B_T = torch.randint(0, VOCAB, (BATCH, LENGTH), generator=generator)
    ends_B = torch.tensor([9, 7, 8, 5, 6, 9])
    places_T = torch.arange(LENGTH)
    mask_B_T = (places_T >= 3) & (places_T < ends_B[:, None])
    return tokens_B_T, mask_B_T


MIXED = torch.tensor([True, False, True, True, False, False])


def losses(model: nn.Module, tokens_B_T: Tensor, mask_B_T: Tensor) -> Tensor:
    """A loss of each rollout, [B]: its own weight times its masked log-likelihood."""
    model_output: Any = model(tokens_B_T)
    logits: Tensor = getattr(model_output, "logits", model_output)
    logprobs = logits[:, :-1].float() if logits.dtype == torch.bfloat16 else logits[:, :-1]
    logprobs = logprobs.log_softmax(-1)
    taken = logprobs.gather(-1, tokens_B_T[:, 1:, None]).squeeze(-1)
    signs_B = torch.linspace(-1.0, 1.6, tokens_B_T.shape[0], dtype=taken.dtype)
    return -(taken * mask_B_T[:, 1:]).sum(1) * signs_B


def flat(parameters: list[nn.Parameter]) -> Tensor:
    """The gradient as one vector; zeros where there is none."""
    return torch.cat(
        [
            (torch.zeros_like(item) if item.grad is None else item.grad).flatten()
            for item in parameters
        ]
    )


def clear(adapters: AttachedAdapters) -> None:
    for block in ("deployed", "quarantine"):
        for parameters in adapters.parameters(block).values():
            for item in parameters:
                item.grad = None


def by_loops(
    model: nn.Module,
    adapters: AttachedAdapters,
    *,
    knob: bool | Tensor,
    block: str = "deployed",
    loss: Callable[..., Tensor] = losses,
) -> dict[str, Tensor]:
    """[B, N] per module: one forward of the batch and one backward pass of autograd for each
    rollout."""
    tokens_B_T, mask_B_T = tokens()
    rows: dict[str, list[Tensor]] = {name: [] for name in adapters.names}
    with adapters.knob(knob):
        losses_B = loss(model, tokens_B_T, mask_B_T)
        for item in losses_B:
            clear(adapters)
            item.backward(retain_graph=True)
            for name, parameters in adapters.parameters(block).items():
                rows[name].append(flat(parameters))
    clear(adapters)
    return {name: torch.stack(found) for name, found in rows.items()}


def captured(
    model: nn.Module,
    adapters: AttachedAdapters,
    *,
    knob: bool | Tensor,
    keep: bool = True,
    loss: Callable[..., Tensor] = losses,
) -> Any:
    """The gradients of one captured backward pass."""
    tokens_B_T, mask_B_T = tokens()
    with adapters.capture(BATCH, tokens=keep) as gradients:
        with adapters.knob(knob):
            total = loss(model, tokens_B_T, mask_B_T).sum()
        total.backward()
    return gradients


def rows(gradients: Any, *, block: str = "deployed") -> dict[str, Tensor]:
    """[B, N] per module, by asking for each rollout alone."""
    found = [
        gradients.sums(one.view(-1, 1, 1), block=block)
        for one in torch.eye(BATCH, dtype=torch.float64)
    ]
    return {name: torch.stack([item[name] for item in found]) for name in gradients.names}


def gap(found: Tensor, wanted: Tensor) -> float:
    """Largest difference, relative to the largest number."""
    return float((found.double() - wanted.double()).abs().max() / wanted.double().abs().max())
