# ruff: noqa: N803, N806 - axes are part of a tensor's name
"""The Qwen3 block in torch. The state dict has the names of the published checkpoints.

Axes: B windows, T tokens, D hidden, H heads, K head size, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from unhack.models.config import Config


class RMSNorm(nn.Module):
    """Scale to unit mean square, in float32, then by a learnt gain (arXiv 1910.07467).

    On a GPU it is one kernel where all is in float32.
    """

    def __init__(self, size: int, *, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        if x.is_cuda and x.dtype == self.weight.dtype == torch.float32:
            return functional.rms_norm(x, self.weight.shape, self.weight, self.eps)
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


class Attention(nn.Module):
    """Causal grouped-query attention with normed, rotated queries and keys."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        query, key = config.heads * config.head_dim, config.kv_heads * config.head_dim
        self.q_proj = nn.Linear(config.hidden, query, bias=False)
        self.k_proj = nn.Linear(config.hidden, key, bias=False)
        self.v_proj = nn.Linear(config.hidden, key, bias=False)
        self.o_proj = nn.Linear(query, config.hidden, bias=False)
        self.q_norm = RMSNorm(config.head_dim, eps=config.eps)
        self.k_norm = RMSNorm(config.head_dim, eps=config.eps)

    def forward(
        self, x_B_T_D: Tensor, turn: tuple[Tensor, Tensor], *, mask: Tensor | None = None
    ) -> Tensor:
        batch, length, _ = x_B_T_D.shape
        shape = (batch, length, -1, self.config.head_dim)
        queries = self.q_norm(self.q_proj(x_B_T_D).view(shape)).transpose(1, 2)
        keys = self.k_norm(self.k_proj(x_B_T_D).view(shape)).transpose(1, 2)
        values = self.v_proj(x_B_T_D).view(shape).transpose(1, 2)
        repeats = self.config.heads // self.config.kv_heads
        keys = _rotate(keys, turn).repeat_interleave(repeats, dim=1)
        values = values.repeat_interleave(repeats, dim=1)
        mixed = functional.scaled_dot_product_attention(
            _rotate(queries, turn), keys, values, attn_mask=mask, is_causal=mask is None
        )
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))


class SwiGLU(nn.Module):
    """silu(gate) * up, then down (arXiv 2002.05202)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden, config.ffn, bias=False)
        self.up_proj = nn.Linear(config.hidden, config.ffn, bias=False)
        self.down_proj = nn.Linear(config.ffn, config.hidden, bias=False)

    def forward(self, x_B_T_D: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x_B_T_D)) * self.up_proj(x_B_T_D))


class Block(nn.Module):
    """Attention and feed-forward, each behind a norm and beside a residual."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden, eps=config.eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden, eps=config.eps)
        self.mlp = SwiGLU(config)

    def forward(
        self, x_B_T_D: Tensor, turn: tuple[Tensor, Tensor], *, mask: Tensor | None = None
    ) -> Tensor:
        x_B_T_D = x_B_T_D + self.self_attn(self.input_layernorm(x_B_T_D), turn, mask=mask)
        return x_B_T_D + self.mlp(self.post_attention_layernorm(x_B_T_D))


class Trunk(nn.Module):
    """Embedding, blocks and the last norm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab, config.hidden)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.hidden, eps=config.eps)


class Qwen3(nn.Module):
    """Tokens int64 [B, T] -> logits [B, T, V].

    `mask_B_T` (bool) is False at padding, which no other position looks at. Positions are those in
    the row: rotary attention depends on differences alone, so padding on the left changes nothing.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.model = Trunk(config)
        self.lm_head = nn.Linear(config.hidden, config.vocab, bias=False)
        if config.tied:
            self.lm_head.weight = self.model.embed_tokens.weight
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def hidden(self, tokens_B_T: Tensor, *, mask_B_T: Tensor | None = None) -> Tensor:
        """Input of the output matrix: [B, T, D]."""
        hidden_B_T_D = self.model.embed_tokens(tokens_B_T)
        turn = rotary(self.config, tokens_B_T.shape[1], like=hidden_B_T_D)
        mask = None if mask_B_T is None else visible(mask_B_T)
        for block in self.model.layers:
            hidden_B_T_D = block(hidden_B_T_D, turn, mask=mask)
        return self.model.norm(hidden_B_T_D)

    def forward(self, tokens_B_T: Tensor, *, mask_B_T: Tensor | None = None) -> Tensor:
        return self.lm_head(self.hidden(tokens_B_T, mask_B_T=mask_B_T))


def visible(mask_B_T: Tensor) -> Tensor:
    """Mask of visible positions, bool [B, 1, T, T]. Padding sees itself: its softmax is finite."""
    length = mask_B_T.shape[1]
    ones_T_T = torch.ones(length, length, dtype=torch.bool, device=mask_B_T.device)
    own_T_T = torch.eye(length, dtype=torch.bool, device=mask_B_T.device)
    return (ones_T_T.tril() & mask_B_T[:, None, None, :]) | own_T_T


def rotary(config: Config, length: int, *, like: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine and sine [T, K] of rotary positions, on the device of `like` (arXiv 2104.09864)."""
    half = torch.arange(0, config.head_dim, 2, device=like.device, dtype=torch.float32)
    angle = torch.outer(
        torch.arange(length, device=like.device, dtype=torch.float32),
        config.rope_theta ** -(half / config.head_dim),
    )
    both = torch.cat([angle, angle], dim=-1)
    return both.cos().to(like.dtype), both.sin().to(like.dtype)


def export_weights(model: Qwen3) -> dict[str, NDArray[Any]]:
    """The weights as float16 arrays by their published names, the tied matrix once."""
    state: Mapping[str, Tensor] = model.state_dict()
    return {
        name: tensor.detach().float().cpu().numpy().astype(np.float16)
        for name, tensor in state.items()
        if not (name == "lm_head.weight" and model.config.tied)
    }


def from_weights(config: Config, weights: Mapping[str, NDArray[Any]]) -> Qwen3:
    """A model with given weights, in float32. Raises RuntimeError where names or shapes differ."""
    model = Qwen3(config)
    state = {name: torch.tensor(np.asarray(array, np.float32)) for name, array in weights.items()}
    if config.tied:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state)
    return model


def _rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    half = x.shape[-1] // 2
    swapped = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * turn[0] + swapped * turn[1]
