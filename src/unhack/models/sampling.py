# ruff: noqa: N803, N806, N815 - axes are part of a tensor's name
"""Completions of a Qwen3 model, with a static cache of keys and values.

The prompts of a batch are read once each, whatever the number of completions per prompt: the
completions of a prompt look at one cache of its keys and values, and at their own. Query heads that
share a key head are rows of one matrix, so nothing is repeated. One call of the generator draws the
uniform numbers of a whole batch, and each row inverts its own cumulative distribution, so what a
row gets depends neither on when the others stop nor on the device. When half of the rows have
stopped they leave the batch.

A map of the model may have `halves`: weights [2, D, O] of which the first half of the rows takes
the first and the second half the second. Such a batch is one loop instead of two.

Axes: N prompts, B = N x group rows (the rows of a prompt are neighbours), P prompt positions, T new
positions, D hidden, H query heads, J key heads, R = H / J, K head size, V vocabulary.

Covered: the model's weights of this moment, in any floating type, logits in float32, and
log-probabilities at temperature 1. Not covered: top-k, top-p, beams; other models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch
from torch import Generator, Tensor
from torch.nn import functional

from unhack.core.errors import UsageError
from unhack.models.qwen3 import Qwen3, rotary, visible

_Parts = Sequence[Generator]
_LOOK_CUDA = 8
"""Steps between two looks at how many rows still run; each look waits for the device."""


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """Settings by which completions are drawn."""

    max_new: int
    stop: int
    """Token that ends a completion and belongs to it; -1: none."""
    pad: int
    group: int = 1
    temperature: float = 1.0
    parts: int = 1
    """Parts of the prompts, of one size each, that draw from generators of their own; 2 where maps
    have `halves`."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Completions, padded on the right to the longest; the rows of a prompt are neighbours."""

    tokens_B_T: Tensor
    mask_B_T: Tensor
    """bool: True up to and with the stop token."""
    logprobs_B_T: Tensor
    """float32, at temperature 1; zero where masked."""


class Decoder(Protocol):
    """A batch of rows that have read their prompts."""

    @property
    def first(self) -> Tensor:
        """Logits [B, V] of the first new token."""
        ...

    def step(self, tokens_B: Tensor, /) -> Tensor:
        """Logits [B, V] after one more token of every row."""
        ...

    def narrow(self, keep_B: Tensor, /) -> None:
        """Go on with these rows alone (indices into the rows of this moment, rising), as many of
        each part."""
        ...


def pad_left(
    prompts: Sequence[Sequence[int]], *, pad: int, device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """Token ids int64 [N, P] and their mask, padded on the left. Raises UsageError when empty."""
    if not prompts or not all(prompts):
        raise UsageError("sampling needs at least one prompt, and a token in every prompt")
    width = max(map(len, prompts))
    rows = [[pad] * (width - len(prompt)) + list(prompt) for prompt in prompts]
    lengths_N = torch.tensor([len(prompt) for prompt in prompts])
    mask_N_P = torch.arange(width) >= width - lengths_N[:, None]
    return torch.tensor(rows).to(device), mask_N_P.to(device)


def uniforms(shape: tuple[int, int], *, generator: Generator, device: torch.device) -> Tensor:
    """float32 in [0, 1), drawn where the generator is: the same numbers for every device."""
    drawn = torch.rand(shape, generator=generator, device=generator.device)
    return drawn.to(device)


def draw(logits_B_V: Tensor, uniform_B: Tensor, *, temperature: float) -> tuple[Tensor, Tensor]:
    """Invert each row's cumulative distribution: tokens int64 [B], and their float32
    log-probabilities at temperature 1."""
    wide_B_V = logits_B_V.float()
    wide_B_V = wide_B_V - wide_B_V.amax(-1, keepdim=True)
    mass_B_V = wide_B_V.exp()
    drawn_B_V = mass_B_V if temperature == 1.0 else (wide_B_V / temperature).exp()
    cumulative_B_V = drawn_B_V.cumsum(-1)
    # Just below the total: a uniform number that rounds up to it would point behind the last token.
    share_B = uniform_B * (1.0 - 2.0**-23)
    point_B = share_B[:, None] * cumulative_B_V[:, -1:]
    tokens_B_1 = torch.searchsorted(cumulative_B_V, point_B, right=True)
    chosen_B = wide_B_V.gather(1, tokens_B_1).squeeze(1)
    return tokens_B_1.squeeze(1), chosen_B - mass_B_V.sum(-1).log()


def sample(
    model: Qwen3, prompt_N_P: Tensor, *, mask_N_P: Tensor, plan: SamplingPlan, generators: _Parts
) -> Sampled:
    """Draw `plan.group` completions of each prompt from the model's weights of this moment.

    Prompts are padded on the left (`pad_left`). Raises UsageError for a temperature or a length
    that is not above zero.
    """
    with torch.inference_mode():
        run = _Run(model, prompt_N_P, mask_N_P, plan=plan)
        return completions(run, plan, generators=generators)


def completions(run: Decoder, plan: SamplingPlan, *, generators: _Parts) -> Sampled:
    """The loop over positions, for any decoder; a generator for each part of the rows."""
    if plan.temperature <= 0 or plan.max_new < 1 or plan.group < 1:
        raise UsageError("temperature, max_new and group of a sample are above zero")
    rows, device = run.first.shape[0], run.first.device
    if len(generators) != plan.parts or rows % plan.parts:
        raise UsageError(f"{rows} rows in {plan.parts} parts, {len(generators)} generators")
    shape = (plan.max_new, rows // plan.parts)
    noise = [uniforms(shape, generator=item, device=device) for item in generators]
    noise_T_B = torch.cat(noise, dim=1)
    tokens_T_B = torch.full((plan.max_new, rows), plan.pad, device=device)
    logprobs_T_B = torch.zeros(plan.max_new, rows, device=device)
    look = _LOOK_CUDA if device.type == "cuda" else 1
    index_B = torch.arange(rows, device=device)
    running_B = torch.ones(rows, dtype=torch.bool, device=device)
    logits_B_V, step, written = run.first, 0, 0
    drawn: list[Tensor] = []
    chosen: list[Tensor] = []
    while True:
        token_B, logprob_B = draw(logits_B_V, noise_T_B[step], temperature=plan.temperature)
        drawn.append(token_B)
        chosen.append(logprob_B)
        step += 1
        left = index_B.numel()
        if plan.stop >= 0:
            running_B = running_B & (token_B != plan.stop)
            if step % look == 0:
                counts: list[int] = cast(Any, running_B.view(plan.parts, -1).sum(1)).tolist()
                left = plan.parts * max(counts)
        finished = left == 0 or step == plan.max_new
        if finished or 2 * left <= index_B.numel():
            tokens_T_B[written:step, index_B] = torch.stack(drawn)
            logprobs_T_B[written:step, index_B] = torch.stack(chosen)
            written = step
            drawn.clear()
            chosen.clear()
            if finished:
                break
            keep = _running(running_B, parts=plan.parts, count=left)
            run.narrow(keep)
            noise_T_B = noise_T_B[:, keep]
            index_B, running_B, token_B = index_B[keep], running_B[keep], token_B[keep]
        logits_B_V = run.step(token_B)
    stops_T_B = tokens_T_B == plan.stop
    mask_T_B = (stops_T_B.cumsum(0) - stops_T_B.long()) == 0
    mask_T_B[step:] = False
    length = int(mask_T_B.any(1).sum())
    tokens_T_B = tokens_T_B.where(mask_T_B, plan.pad)[:length]
    logprobs_T_B = logprobs_T_B.where(mask_T_B, 0.0)[:length]
    kept = (tokens_T_B.t(), mask_T_B[:length].t(), logprobs_T_B.t())
    with torch.inference_mode(mode=False):  # What is made within cannot be used by autograd.
        return Sampled(*(tensor.clone(memory_format=torch.contiguous_format) for tensor in kept))


def _running(running_B: Tensor, *, parts: int, count: int) -> Tensor:
    """Indices of `count` rows, as many of each part, those that run before those that stopped."""
    stopped_P_B = (~running_B).view(parts, -1).long()
    chosen_P_K = stopped_P_B.argsort(dim=1, stable=True)[:, : count // parts].sort(1).values
    starts_P = torch.arange(parts, device=running_B.device) * stopped_P_B.shape[1]
    return (chosen_P_K + starts_P[:, None]).flatten()


def fused(*maps: Any) -> Tensor:
    """The weights of linear maps of one input side by side: [O, D], or [2, D, O] of `halves`."""
    halves: list[Tensor | None] = [getattr(item, "halves", None) for item in maps]
    if all(item is None for item in halves):
        return maps[0].weight if len(maps) == 1 else torch.cat([item.weight for item in maps])
    pairs = zip(maps, halves, strict=True)
    both = [item.weight.t().expand(2, -1, -1) if half is None else half for item, half in pairs]
    return both[0] if len(both) == 1 else torch.cat(both, dim=2)


def multiply(x: Tensor, weight: Tensor) -> Tensor:
    """[.., D] times what `fused` gave."""
    if weight.dim() == 2:
        return functional.linear(x, weight)
    return torch.bmm(x.reshape(2, -1, x.shape[-1]), weight).view(*x.shape[:-1], weight.shape[2])


@dataclass(slots=True)
class _Layer:
    """One block's weights, fused, and its caches."""

    qkv: Tensor
    """[(H + 2 J) K, D]; as all four, with two halves where maps have them."""
    out: Tensor
    first_gain: Tensor
    gain: Tensor
    """[H + J, K] of the norms of queries and keys; the queries' has the scale of attention."""
    second_gain: Tensor
    gate_up: Tensor
    down: Tensor
    prompt_keys: Tensor
    """[N J, K, P]: transposed, so that the product with queries reads along rows."""
    prompt_values: Tensor
    """[N J, P, K]."""
    keys: Tensor
    """[N J G, K, T]."""
    values: Tensor
    """[N J G, T, K]."""


class _Run:
    """The caches of one batch, and the next logits."""

    def __init__(
        self, model: Qwen3, prompt_N_P: Tensor, mask_N_P: Tensor, *, plan: SamplingPlan
    ) -> None:
        self.model, self.config = model, model.config
        self.prompts, self.width = prompt_N_P.shape
        self.group, self.done = plan.group, 0
        x_N_P_D = model.model.embed_tokens(prompt_N_P)
        cosine, sine = rotary(self.config, self.width + plan.max_new, like=x_N_P_D)
        half = self.config.head_dim // 2
        self.cosine = cosine
        self.sine = torch.cat([-sine[:, :half], sine[:, half:]], dim=1)
        self.last_gain = _widen(model.model.norm.weight)
        self.head = fused(model.lm_head).float()
        self.bias: Tensor | None = None
        mask = None
        if not bool(mask_N_P.all()):
            mask = visible(mask_N_P)
            bias_N_P = torch.zeros(mask_N_P.shape, dtype=x_N_P_D.dtype, device=mask_N_P.device)
            bias_N_P = bias_N_P.masked_fill(~mask_N_P, float("-inf"))
            self.bias = bias_N_P.repeat_interleave(self.config.kv_heads, dim=0)[:, None]
        self.layers: list[_Layer] = []
        for block in model.model.layers:
            layer = self._load_layer(block, plan.max_new)
            x_N_P_D = self._read(layer, x_N_P_D, mask)
            self.layers.append(layer)
        self.first = self._logits(x_N_P_D[:, -1]).repeat_interleave(plan.group, dim=0)

    def _logits(self, x_B_D: Tensor) -> Tensor:
        last_B_D = _rms_norm(x_B_D, self.last_gain, eps=self.config.eps)
        return multiply(last_B_D.float(), self.head)

    def _load_layer(self, block: Any, max_new: int) -> _Layer:
        """Fuse a block's weights and make room for its keys and values."""
        config, attention, forward = self.config, block.self_attn, block.mlp
        qkv = fused(attention.q_proj, attention.k_proj, attention.v_proj)
        scaled = _widen(attention.q_norm.weight) * config.head_dim**-0.5
        gains = [scaled] * config.heads + [_widen(attention.k_norm.weight)] * config.kv_heads
        lines = self.prompts * self.group * config.kv_heads
        empty = qkv.new_empty(0)
        return _Layer(
            qkv=qkv,
            out=fused(attention.o_proj),
            first_gain=_widen(block.input_layernorm.weight),
            gain=torch.stack(gains),
            second_gain=_widen(block.post_attention_layernorm.weight),
            gate_up=fused(forward.gate_proj, forward.up_proj),
            down=fused(forward.down_proj),
            prompt_keys=empty,
            prompt_values=empty,
            keys=qkv.new_empty(lines, config.head_dim, max_new),
            values=qkv.new_empty(lines, max_new, config.head_dim),
        )

    def _heads(self, layer: _Layer, x: Tensor, *, place: slice | int) -> tuple[Tensor, Tensor]:
        """Queries and keys [.., H + J, K], normed and turned, and values [.., J, K]."""
        config = self.config
        both = config.heads + config.kv_heads
        heads = multiply(_rms_norm(x, layer.first_gain, eps=config.eps), layer.qkv)
        heads = heads.view(*x.shape[:-1], both + config.kv_heads, config.head_dim)
        turned, values = heads[..., :both, :], heads[..., both:, :]
        turned = _rms_norm(turned, layer.gain, eps=config.eps)
        cosine, sine = self.cosine[place], self.sine[place]
        if isinstance(place, slice):
            cosine, sine = cosine[:, None], sine[:, None]
        swapped = turned.roll(config.head_dim // 2, dims=-1)
        return torch.addcmul(turned * cosine, swapped, sine), values

    def _after(self, layer: _Layer, x: Tensor, mixed: Tensor) -> Tensor:
        """The residuals and the feed-forward; `mixed` is [.., H K]."""
        x = x + multiply(mixed, layer.out)
        both = multiply(_rms_norm(x, layer.second_gain, eps=self.config.eps), layer.gate_up)
        gate, up = both.chunk(2, dim=-1)
        return x + multiply(functional.silu(gate) * up, layer.down)

    def _read(self, layer: _Layer, x_N_P_D: Tensor, mask: Tensor | None) -> Tensor:
        """A block over the prompts; keeps their keys and values."""
        config = self.config
        turned, values = self._heads(layer, x_N_P_D, place=slice(0, self.width))
        queries, keys = turned[:, :, : config.heads], turned[:, :, config.heads :]
        layer.prompt_keys = keys.permute(0, 2, 3, 1).flatten(0, 1).contiguous()
        layer.prompt_values = values.transpose(1, 2).flatten(0, 1).contiguous()
        repeats = config.heads // config.kv_heads
        mixed = functional.scaled_dot_product_attention(
            queries.transpose(1, 2),
            keys.transpose(1, 2).repeat_interleave(repeats, dim=1),
            values.transpose(1, 2).repeat_interleave(repeats, dim=1),
            attn_mask=mask,
            is_causal=mask is None,
            scale=1.0,
        )
        return self._after(layer, x_N_P_D, mixed.transpose(1, 2).flatten(2))

    def step(self, tokens_B: Tensor) -> Tensor:
        """Logits [B, V] after one more token of every row."""
        x_B_D = self.model.model.embed_tokens(tokens_B)
        for layer in self.layers:
            x_B_D = self._after(layer, x_B_D, self._mix_tokens(layer, x_B_D))
        self.done += 1
        return self._logits(x_B_D)

    def _mix_tokens(self, layer: _Layer, x_B_D: Tensor) -> Tensor:
        """Attention of one new position over the prompt and the completion: [B, H K].

        Rows lie as [N, J, G]: all of a prompt's queries of one key head are one matrix, and each
        row's are one too, without a copy between the two views.
        """
        config, end = self.config, self.done + 1
        heads, size = config.kv_heads, config.head_dim
        repeats, both = config.heads // heads, config.heads + heads
        turned, values = self._heads(layer, x_B_D, place=self.width + self.done)
        shape = (self.prompts, self.group, heads)
        new = (self.prompts, heads, self.group)
        keys, stored = turned[:, config.heads : both].view(*shape, size), values.view(*shape, size)
        layer.keys.view(*new, size, -1)[..., self.done] = keys.transpose(1, 2)
        layer.values.view(*new, -1, size)[..., self.done, :] = stored.transpose(1, 2)
        queries = turned[:, : config.heads].view(*shape, repeats, size).transpose(1, 2)
        queries = queries.reshape(-1, repeats, size)
        together = (self.prompts * heads, self.group * repeats)
        if self.bias is None:
            old = torch.bmm(queries.view(*together, size), layer.prompt_keys)
        else:
            old = torch.baddbmm(self.bias, queries.view(*together, size), layer.prompt_keys)
        fresh = torch.bmm(queries, layer.keys[:, :, :end])
        weights = torch.cat([old.view(-1, repeats, self.width), fresh], dim=-1)
        weights = weights.softmax(-1, dtype=torch.float32).to(x_B_D.dtype)
        mixed = torch.bmm(weights.view(*together, -1)[..., : self.width], layer.prompt_values)
        mixed = torch.baddbmm(
            mixed.view(-1, repeats, size), weights[..., self.width :], layer.values[:, :end]
        )
        return mixed.view(*new, repeats * size).transpose(1, 2).reshape(-1, config.heads * size)

    def narrow(self, keep_B: Tensor) -> None:
        """Each row then has its own copy of its prompt's cache, as groups differ in size."""
        owner = torch.div(keep_B, self.group, rounding_mode="floor")
        place = keep_B - owner * self.group
        for layer in self.layers:
            layer.prompt_keys = self._kept(layer.prompt_keys, owner)
            layer.prompt_values = self._kept(layer.prompt_values, owner)
            layer.keys = self._kept(layer.keys, owner, place)
            layer.values = self._kept(layer.values, owner, place)
        if self.bias is not None:
            self.bias = self._kept(self.bias, owner)
        self.prompts, self.group = keep_B.numel(), 1

    def _kept(self, cache: Tensor, owner: Tensor, place: Tensor | None = None) -> Tensor:
        """Lines of some prompts, or of some rows, as a batch of rows with a group of one."""
        heads, rest = self.config.kv_heads, cache.shape[1:]
        if place is None:
            return cache.view(self.prompts, heads, *rest)[owner].flatten(0, 1)
        return cache.view(self.prompts, heads, self.group, *rest)[owner, :, place].flatten(0, 1)


def _rms_norm(x: Tensor, gain: Tensor, *, eps: float) -> Tensor:
    """RMSNorm over the last axis in float32, on a GPU in one kernel and the product with the gain.
    `gain` is the norm's times the root of the axis's size on the CPU (`_widen`), which saves the
    division of a mean."""
    wide = x.float()
    if x.is_cuda:
        return (functional.rms_norm(wide, wide.shape[-1:], None, eps) * gain).to(x.dtype)
    scale = torch.rsqrt(wide.square().sum(-1, keepdim=True) + eps * wide.shape[-1])
    return (wide * scale * gain).to(x.dtype)


def _widen(gain: Tensor) -> Tensor:
    return gain.float() if gain.is_cuda else gain.float() * gain.shape[-1] ** 0.5
