"""The shape of a Qwen3 model, and the names and shapes of its weights.

The names are those of the published checkpoints, so weights move both ways. Block: RMSNorm,
grouped query attention with RMSNorm on queries and keys, rotary positions, SwiGLU; no bias
(arXiv 2505.09388).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any


@dataclass(frozen=True, slots=True)
class Config:
    """Sizes of a model."""

    vocab: int = 256
    hidden: int = 128
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    ffn: int = 384
    rope_theta: float = 10_000.0
    eps: float = 1e-6
    tied: bool = True
    """True where the output matrix is the embedding."""

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return sum(prod(shape) for shape in weight_shapes(self).values())

    @staticmethod
    def from_huggingface(fields: Mapping[str, Any]) -> Config:
        """The sizes that a checkpoint's `config.json` gives."""
        hidden, heads = int(fields["hidden_size"]), int(fields["num_attention_heads"])
        rope: Mapping[str, Any] = fields.get("rope_parameters") or {}
        theta = fields.get("rope_theta") or rope.get("rope_theta") or 10_000.0
        return Config(
            vocab=int(fields["vocab_size"]),
            hidden=hidden,
            layers=int(fields["num_hidden_layers"]),
            heads=heads,
            kv_heads=int(fields.get("num_key_value_heads") or heads),
            head_dim=int(fields.get("head_dim") or hidden // heads),
            ffn=int(fields["intermediate_size"]),
            rope_theta=float(theta),
            eps=float(fields.get("rms_norm_eps") or 1e-6),
            tied=bool(fields.get("tie_word_embeddings")),
        )

    def to_huggingface(self) -> dict[str, Any]:
        """The fields of a `config.json` of this model."""
        return {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            "vocab_size": self.vocab,
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "intermediate_size": self.ffn,
            "rope_theta": self.rope_theta,
            "rope_parameters": {"rope_type": "default", "rope_theta": self.rope_theta},
            "rms_norm_eps": self.eps,
            "tie_word_embeddings": self.tied,
            "hidden_act": "silu",
            "attention_bias": False,
            "max_position_embeddings": 4096,
            "dtype": "float16",
        }


NANO = Config()
"""820 608 parameters over bytes."""


def weight_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Name -> shape, in the order of the computation."""
    query, key = config.heads * config.head_dim, config.kv_heads * config.head_dim
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config.vocab, config.hidden)
    }
    for layer in range(config.layers):
        block = {
            "input_layernorm": (config.hidden,),
            "self_attn.q_proj": (query, config.hidden),
            "self_attn.k_proj": (key, config.hidden),
            "self_attn.v_proj": (key, config.hidden),
            "self_attn.q_norm": (config.head_dim,),
            "self_attn.k_norm": (config.head_dim,),
            "self_attn.o_proj": (config.hidden, query),
            "post_attention_layernorm": (config.hidden,),
            "mlp.gate_proj": (config.ffn, config.hidden),
            "mlp.up_proj": (config.ffn, config.hidden),
            "mlp.down_proj": (config.hidden, config.ffn),
        }
        for name, shape in block.items():
            shapes[f"model.layers.{layer}.{name}.weight"] = shape
    shapes["model.norm.weight"] = (config.hidden,)
    if not config.tied:
        shapes["lm_head.weight"] = (config.vocab, config.hidden)
    return shapes
