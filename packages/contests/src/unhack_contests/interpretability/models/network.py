"""A small transformer in numpy whose every component can be replaced while it runs.

A layer has `heads` attention heads and one MLP, all reading the same residual stream (parallel
blocks, no normalisation), so that a component's output reaches another one only through layers
between. Component `(layer, c)` is head `c`, or the MLP where `c == heads`.

Covered: exact joint replacement of component outputs (zero, mean over the batch, another
sequence's) and of single paths component -> component or component -> logits.
Not covered: layer norms, gated MLPs, rotary positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Node = tuple[int, int]
"""(layer, component)."""
Edge = tuple[int, int, int, int]
"""(layer, component, later layer, component); the layer after the last means the logits."""
KINDS = ("resample", "mean", "zero")
_MASKED = np.float32(-1e9)


@dataclass(frozen=True, slots=True)
class Network:
    """Weights as float32. L layers, H heads, d residual width, k head width, m MLP width."""

    embed: Array
    """(vocabulary, d)."""
    position: Array
    """(length, d)."""
    qkv: Array
    """(L, 3, H, d, k): queries carry the softmax scale."""
    output: Array
    """(L, H, k, d)."""
    mlp_in: Array
    """(L, d, m)."""
    mlp_out: Array
    """(L, m, d)."""
    unembed: Array
    """(d, vocabulary)."""

    @property
    def layers(self) -> int:
        return int(self.qkv.shape[0])

    @property
    def heads(self) -> int:
        return int(self.qkv.shape[2])

    @property
    def length(self) -> int:
        return int(self.position.shape[0])

    @property
    def vocabulary(self) -> int:
        return int(self.embed.shape[0])

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every component in order."""
        return tuple((layer, c) for layer in range(self.layers) for c in range(self.heads + 1))

    @property
    def edges(self) -> int:
        """How many pairs of components can be joined by a path through the stream."""
        wide = self.heads + 1
        return wide * wide * self.layers * (self.layers - 1) // 2


@dataclass(frozen=True, slots=True)
class ForwardTrace:
    """An undisturbed run on B sequences of T tokens."""

    tokens: Array
    """(B, T) int64."""
    inputs: Array
    """(L + 1, B, T, d): the stream before each layer, and the last one."""
    outs: Array
    """(L, H + 1, B, T, d)."""
    attention: Array
    """(L, H, B, T, T)."""
    logits: Array
    """(B, T, vocabulary)."""


@dataclass(frozen=True, slots=True)
class Intervention:
    """The replacements during a run."""

    ablate: frozenset[Node] = frozenset()
    edges: frozenset[Edge] = frozenset()
    kind: str = "resample"


def heads_of(net: Network, layer: int, *, stream: Array) -> tuple[Array, Array]:
    """Outputs (H, B, T, d) and attention (H, B, T, T) of a layer's heads on a stream (B, T, d)."""
    batch, length, width = stream.shape
    flat = stream.reshape(batch * length, width)
    heads, size = net.heads, net.qkv.shape[-1]
    fused = net.qkv[layer].transpose(2, 0, 1, 3).reshape(width, 3 * heads * size)
    out = (flat @ fused).reshape(batch, length, 3, heads, size).transpose(2, 3, 0, 1, 4)
    pattern = _softmax(np.matmul(out[0], out[1].swapaxes(-1, -2)))
    return np.matmul(np.matmul(pattern, out[2]), net.output[layer][:, None]), pattern


def layer_of(net: Network, layer: int, *, stream: Array) -> tuple[Array, Array]:
    """Outputs (H + 1, B, T, d) and attention (H, B, T, T) of a layer."""
    outs, pattern = heads_of(net, layer, stream=stream)
    hidden = np.maximum(stream @ net.mlp_in[layer], 0)
    return np.concatenate([outs, (hidden @ net.mlp_out[layer])[None]]), pattern


def trace(net: Network, tokens: Array) -> ForwardTrace:
    """An undisturbed run; `tokens` (B, T) with T at most the network's length."""
    stream = net.embed[tokens] + net.position[: tokens.shape[1]]
    inputs: list[Array] = [stream]
    outs: list[Array] = []
    patterns: list[Array] = []
    for layer in range(net.layers):
        out, pattern = layer_of(net, layer, stream=stream)
        stream = stream + out.sum(0)
        inputs.append(stream)
        outs.append(out)
        patterns.append(pattern)
    logits = stream @ net.unembed
    return ForwardTrace(tokens, np.stack(inputs), np.stack(outs), np.stack(patterns), logits)


def disturbed(
    net: Network, clean: ForwardTrace, *, plan: Intervention, donor: ForwardTrace | None = None
) -> Array:
    """Logits (B, T, vocabulary) when `plan` is carried out on the sequences of `clean`.

    `resample` takes outputs from `donor` (the same shape), else from the next sequence of the
    batch; `mean` takes the mean over the batch at each position.
    """
    first = min([node[0] for node in plan.ablate] + [edge[2] for edge in plan.edges] + [net.layers])
    new = list(clean.outs)
    stream = clean.inputs[first]
    for layer in range(first, net.layers):
        moved = layer > first
        outs = layer_of(net, layer, stream=stream)[0] if moved else clean.outs[layer].copy()
        for edge_end in sorted({edge[3] for edge in plan.edges if edge[2] == layer}):
            shift = _shift((layer, edge_end), clean=clean, plan=plan, new=new, donor=donor)
            outs[edge_end] = layer_of(net, layer, stream=stream + shift)[0][edge_end]
        for _, part in (node for node in plan.ablate if node[0] == layer):
            outs[part] = _stand_in(clean, (layer, part), kind=plan.kind, donor=donor)
        new[layer] = outs
        stream = stream + outs.sum(0)
    if any(edge[2] == net.layers for edge in plan.edges):
        stream = stream + _shift((net.layers, 0), clean=clean, plan=plan, new=new, donor=donor)
    return stream @ net.unembed


def losses(logits: Array, targets: Array, *, mask: Array) -> Array:
    """Mean cross-entropy in nats of each sequence (B,) over its marked positions."""
    high = logits.max(-1, keepdims=True)
    norm = np.log(np.exp(logits - high).sum(-1)) + high[..., 0]
    taken = np.take_along_axis(logits, targets[..., None], -1)[..., 0]
    return ((norm - taken) * mask).sum(-1) / mask.sum(-1)


def renamed(net: Network, *, shifts: tuple[int, ...]) -> Network:
    """The same function with the heads of layer l moved on by `shifts[l]` places."""
    qkv = np.stack([np.roll(net.qkv[layer], by, axis=1) for layer, by in enumerate(shifts)])
    output = np.stack([np.roll(net.output[layer], by, axis=0) for layer, by in enumerate(shifts)])
    return Network(
        net.embed, net.position, qkv, output, net.mlp_in, net.mlp_out, net.unembed
    )  # fmt: skip


def _shift(
    end: Node, *, clean: ForwardTrace, plan: Intervention, new: list[Array],
    donor: ForwardTrace | None,
) -> Array:  # fmt: skip
    """The sum that replaced paths into `end` add to the stream that it reads."""
    total = np.zeros_like(clean.inputs[0])
    for layer, part, *_ in (edge for edge in plan.edges if edge[2:] == end):
        total += _stand_in(clean, (layer, part), kind=plan.kind, donor=donor) - new[layer][part]
    return total


def _stand_in(clean: ForwardTrace, node: Node, *, kind: str, donor: ForwardTrace | None) -> Array:
    out = clean.outs[node]
    if kind == "zero":
        return np.zeros_like(out)
    if kind == "mean":
        return np.broadcast_to(out.mean(0), out.shape)
    return np.roll(out, -1, axis=0) if donor is None else donor.outs[node]


def _softmax(scores: Array) -> Array:
    length = scores.shape[-1]
    ahead = np.triu(np.ones((length, length), dtype=bool), 1)
    scores = np.where(ahead, _MASKED, scores)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return scores / scores.sum(-1, keepdims=True)
