# ruff: noqa: N803, N806 - axes are part of a tensor's name
"""The Qwen3 forward pass in numpy: float32, no cache, equal to the torch model within 1e-4.

Axes: B windows, T tokens, P asked positions, D hidden, H heads, G key/value heads, K head size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack.models.config import Config

Weights = Mapping[str, NDArray[Any]]


def forward(
    weights: Weights,
    config: Config,
    *,
    tokens_B_T: NDArray[Any],
    positions_P: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Logits float32 [B, P, vocab] of what follows each asked position (all T without a choice).

    `weights`: by the names of `config.weight_shapes`, any float type. A token's logits depend on
    that token and those before it.
    """
    table_V_D = _plain(weights, "model.embed_tokens")
    hidden_B_T_D = table_V_D[tokens_B_T]
    cosine_T_K, sine_T_K = _rotary(config, tokens_B_T.shape[1])
    for layer in range(config.layers):
        at = f"model.layers.{layer}."
        normed = _norm(hidden_B_T_D, _plain(weights, at + "input_layernorm"), config.eps)
        heads = _attention(weights, config, prefix=at, x_B_T_D=normed, turn=(cosine_T_K, sine_T_K))
        hidden_B_T_D = hidden_B_T_D + heads
        normed = _norm(hidden_B_T_D, _plain(weights, at + "post_attention_layernorm"), config.eps)
        gate = normed @ _plain(weights, at + "mlp.gate_proj").T
        inner = _silu(gate) * (normed @ _plain(weights, at + "mlp.up_proj").T)
        hidden_B_T_D = hidden_B_T_D + inner @ _plain(weights, at + "mlp.down_proj").T
    if positions_P is not None:
        hidden_B_T_D = hidden_B_T_D[:, positions_P]
    normed = _norm(hidden_B_T_D, _plain(weights, "model.norm"), config.eps)
    return normed @ (table_V_D if config.tied else _plain(weights, "lm_head")).T


def log_softmax(logits: NDArray[Any]) -> NDArray[Any]:
    """Natural-log probabilities over the last axis, in the precision of the input."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _plain(weights: Weights, name: str) -> NDArray[Any]:
    return np.asarray(weights[name + ".weight"], dtype=np.float32)


def _norm(x: NDArray[Any], gain: NDArray[Any], eps: float) -> NDArray[Any]:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(eps)) * gain


def _silu(x: NDArray[Any]) -> NDArray[Any]:
    return x / (1.0 + np.exp(-np.maximum(x, np.float32(-80.0))))


def _rotary(config: Config, length: int) -> tuple[NDArray[Any], NDArray[Any]]:
    half = np.arange(0, config.head_dim, 2, dtype=np.float64) / config.head_dim
    angle = np.arange(length)[:, None] * (config.rope_theta**-half)[None, :]
    both = np.concatenate([angle, angle], axis=1)
    return np.cos(both).astype(np.float32), np.sin(both).astype(np.float32)


def _rotate(x: NDArray[Any], turn: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[Any]:
    half = x.shape[-1] // 2
    swapped = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * turn[0] + swapped * turn[1]


def _attention(
    weights: Weights,
    config: Config,
    *,
    prefix: str,
    x_B_T_D: NDArray[Any],
    turn: tuple[NDArray[Any], NDArray[Any]],
) -> NDArray[Any]:
    batch, length, _ = x_B_T_D.shape
    at = prefix + "self_attn."

    def heads(name: str, count: int) -> NDArray[Any]:
        flat = x_B_T_D @ _plain(weights, at + name).T
        return flat.reshape(batch, length, count, config.head_dim).transpose(0, 2, 1, 3)

    queries = _norm(heads("q_proj", config.heads), _plain(weights, at + "q_norm"), config.eps)
    keys = _norm(heads("k_proj", config.kv_heads), _plain(weights, at + "k_norm"), config.eps)
    values = heads("v_proj", config.kv_heads)
    repeats = config.heads // config.kv_heads
    keys, values = np.repeat(_rotate(keys, turn), repeats, 1), np.repeat(values, repeats, 1)
    scores = _rotate(queries, turn) @ keys.transpose(0, 1, 3, 2)
    scores *= np.float32(config.head_dim**-0.5)
    scores += np.triu(np.full((length, length), -np.inf, dtype=np.float32), 1)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ values
    joined = mixed.transpose(0, 2, 1, 3).reshape(batch, length, -1)
    return joined @ _plain(weights, at + "o_proj").T
