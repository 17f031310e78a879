"""Forward passes in PyTorch: on a card, each in its turn of the queue for it, or on the processors.

Numbers are computed in float64 and told to a millionth. So sums that another card, another batch
or the processors take in another order give the same numbers, and `replay` finds them again.
Between two turns nothing of a model is on the card. Experiments of one request run side by side.

Covered: the same replacements as `network.disturbed`, to the rounding of its float32.
Not covered: cards that are slow in float64 (those for games are); a trace that no card holds is an
error which says so.

Axes: H heads and the MLP, E experiments, B sequences, T tokens, d width, k head width.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import torch as library

from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.sandbox.gpu.cards import Card, check_free, own_processes
from unhack.tournament.kit import SandboxUnavailableError
from unhack_contests.interpretability.models.behaviours import Sequences
from unhack_contests.interpretability.models.network import Array, Intervention, Network, Node
from unhack_contests.interpretability.models.runs import Disturbance

torch: Any = library
_QUEUE_S = 3600.0
_DAY_S = 86_400.0
_PARTS = 1e6
_SIDE_BY_SIDE_BYTES = 4 << 30
"""Of what experiments that run at once may take; one alone may take more."""
_NUMBER_BYTES = 8
_LEFT_BYTES = 128 << 20
"""PyTorch may keep so much for the next turn; giving it back takes longer than a small request."""
_LOOKS_S = 2.0
"""Between two looks for strangers on the card: a dialogue has hundreds of turns."""
_TURNS: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
"""By card: threads of this process stand in the queue one at a time, which asks seldom."""


@dataclass(frozen=True, slots=True)
class _Weights:
    """Those of a network on the device, float64."""

    embed: Any
    position: Any
    fused: Any
    """(L, d, 3 H k)."""
    output: Any
    """(L, H, k, d)."""
    mlp_in: Any
    mlp_out: Any
    unembed: Any


@dataclass(frozen=True, slots=True)
class _Clean:
    """An undisturbed run on the device."""

    inputs: Any
    """(L + 1, B, T, d)."""
    outs: Any
    """(L, H + 1, B, T, d)."""
    attention: Any
    """(L, H, B, T, T)."""


class TorchBackend:
    """`ForwardBackend` on a device of PyTorch's; with `card`, in the queue for that card."""

    def __init__(self, device: str, card: Card | None = None) -> None:
        self.device = device
        self._card = card
        self.waits_s = _DAY_S if card else 0.0
        self._thread = threading.local()
        self._looked_s = -_LOOKS_S

    @contextlib.contextmanager
    def turn(self) -> Generator[None]:
        """See `ForwardBackend`. Raises SandboxUnavailableError, also where memory is short."""
        if getattr(self._thread, "held", None) is not None:
            yield
            return
        with contextlib.ExitStack() as stack:
            if self._card is not None:
                stack.enter_context(_TURNS[self._card.key])
                stack.enter_context(CardQueue(self._card.key).turn(timeout_s=_QUEUE_S))
                self._check_strangers(self._card)
            self._thread.held = {}
            try:
                yield
            except torch.OutOfMemoryError as error:
                raise SandboxUnavailableError(
                    f"{self._card.name if self._card else self.device} has too little memory for "
                    "these models and sequences: take smaller ones (size=, width=, sequences=), "
                    f"or another card (device=cuda:N). PyTorch says: {str(error).splitlines()[0]}"
                ) from None
            finally:
                self._thread.held = None
                if self._fills_card():
                    torch.cuda.empty_cache()

    def _fills_card(self) -> bool:
        on_card = self.device.startswith("cuda")
        return on_card and torch.cuda.memory_reserved(self.device) > _LEFT_BYTES

    def _check_strangers(self, card: Card) -> None:
        if time.monotonic() - self._looked_s >= _LOOKS_S:
            check_free(card, ours=own_processes())
            self._looked_s = time.monotonic()

    def runs(self, net: Network) -> TorchRuns:
        """See `ForwardBackend`."""
        return TorchRuns(net, self)

    def held(self) -> dict[Any, Any]:
        """The tensors that lie on the device until the turn ends. To be called within one."""
        held: dict[Any, Any] | None = getattr(self._thread, "held", None)
        assert held is not None, "forward passes are computed within a turn"
        return held


class TorchRuns:
    """`NetworkRuns` on a backend's device. Batches are kept as tokens and run anew in each turn."""

    def __init__(self, net: Network, backend: TorchBackend) -> None:
        self._net, self._backend = net, backend
        self._batches: list[Sequences] = []
        layers, width = net.layers, net.embed.shape[1]
        fused = net.qkv.transpose(0, 3, 1, 2, 4).reshape(layers, width, -1)
        self._plain = (
            net.embed, net.position, np.ascontiguousarray(fused), net.output,
            net.mlp_in, net.mlp_out, net.unembed,
        )  # fmt: skip

    def add(self, batch: Sequences) -> int:
        """See `NetworkRuns`; nothing is computed yet."""
        self._batches.append(batch)
        return len(self._batches) - 1

    @torch.inference_mode()
    def attention(self, number: int) -> Array:
        """See `NetworkRuns`."""
        return _told(self._kept(number).attention.permute(2, 0, 1, 3, 4))

    @torch.inference_mode()
    def logits(self, number: int, disturbance: Disturbance) -> Array:
        """See `NetworkRuns`."""
        plan, donor = disturbance
        other = self._clean(donor) if donor >= 0 else None
        return _told(self._disturbed(self._kept(number), [plan], other)[0])

    @torch.inference_mode()
    def losses(self, number: int, disturbances: Sequence[Disturbance]) -> Array:
        """See `NetworkRuns`."""
        batch, clean = self._batches[number], self._kept(number)
        rows = np.zeros((len(disturbances), len(batch.tokens)), dtype=np.float32)
        targets, mask = (self._there(part) for part in (batch.targets, batch.mask))

        def order(at: int) -> tuple[int, int]:
            plan, donor = disturbances[at]
            return donor, _first(plan, self._net.layers)

        ranked = sorted(range(len(disturbances)), key=order)
        for donor, group in groupby(ranked, key=lambda at: disturbances[at][1]):
            other = self._clean(donor) if donor >= 0 else None
            waiting = list(group)
            size = self._at_once(batch, [disturbances[at][0] for at in waiting])
            for start in range(0, len(waiting), size):
                chosen = waiting[start : start + size]
                logits = self._disturbed(clean, [disturbances[at][0] for at in chosen], other)
                rows[chosen] = _told(_losses(logits, targets, mask))
        return rows

    def _there(self, array: Array) -> Any:
        """An array on the device: whole numbers as they are, others in float64."""
        found = torch.from_numpy(np.ascontiguousarray(array)).to(self._backend.device)
        return found if found.dtype == torch.int64 else found.double()

    def _weights(self) -> _Weights:
        held, key = self._backend.held(), (self, "weights")
        if key not in held:
            held[key] = _Weights(*map(self._there, self._plain))
        return held[key]

    def _kept(self, number: int) -> _Clean:
        """The undisturbed run of a batch; that of one batch is kept until the turn ends."""
        held, key = self._backend.held(), (self, "clean")
        if key not in held or held[key][0] != number:
            held.pop(key, None)
            held[key] = (number, self._clean(number))
        return held[key][1]

    def _clean(self, number: int) -> _Clean:
        weights, tokens = self._weights(), self._there(self._batches[number].tokens)
        stream = weights.embed[tokens] + weights.position[: tokens.shape[1]]
        inputs, outs, patterns = [stream], list[Any](), list[Any]()
        for layer in range(self._net.layers):
            out, pattern = self._layer(layer, stream)
            stream = stream + out.sum(0)
            inputs.append(stream)
            outs.append(out)
            patterns.append(pattern)
        return _Clean(torch.stack(inputs), torch.stack(outs), torch.stack(patterns))

    def _layer(self, layer: int, stream: Any) -> tuple[Any, Any]:
        """Outputs (H + 1, N, T, d) and attention (H, N, T, T) on streams (N, T, d)."""
        weights, heads = self._weights(), self._net.heads
        count, length, _ = stream.shape
        fused = (stream @ weights.fused[layer]).reshape(count, length, 3, heads, -1)
        query, key, value = fused.permute(2, 3, 0, 1, 4)
        ahead = torch.ones(length, length, dtype=torch.bool, device=stream.device).triu(1)
        pattern = (query @ key.mT).masked_fill(ahead, -torch.inf).softmax(-1)
        mixed = (pattern @ value).reshape(heads, count * length, -1)
        outs = torch.bmm(mixed, weights.output[layer]).reshape(heads, count, length, -1)
        hidden = (stream @ weights.mlp_in[layer]).relu()
        return torch.cat([outs, (hidden @ weights.mlp_out[layer])[None]]), pattern

    def _at_once(self, batch: Sequences, plans: Sequence[Intervention]) -> int:
        """How many of these run side by side."""
        net = self._net
        wide, length = net.embed.shape[1], batch.tokens.shape[1]
        sources = len({edge[:2] for plan in plans for edge in plan.edges})
        token = 6 * net.heads * net.qkv.shape[-1] + (4 * (net.heads + 1) + sources) * wide
        each = batch.tokens.size * (token + 3 * net.heads * length) * _NUMBER_BYTES
        return max(1, _SIDE_BY_SIDE_BYTES // each)

    def _disturbed(self, clean: _Clean, plans: Sequence[Intervention], donor: _Clean | None) -> Any:
        """Logits (E, B, T, vocabulary)."""
        passes = _SideBySide(clean, plans, donor)
        layers, shape = self._net.layers, clean.inputs.shape[1:]
        first = min(_first(plan, layers) for plan in plans)
        stream = clean.inputs[first].expand(len(plans), *shape)
        for layer in range(first, layers):
            outs = self._layer(layer, stream.reshape(-1, *shape[1:]))[0]
            outs = outs.reshape(len(outs), len(plans), *shape)
            self._redirect(passes, layer, stream, outs)
            passes.replace(layer, outs)
            stream = stream + outs.sum(0)
        ends = [at for at, plan in enumerate(plans) if any(e[2] == layers for e in plan.edges)]
        if ends:
            stream = stream.clone()
            for at in ends:
                stream[at] += passes.shift(at, (layers, 0))
        return stream @ self._weights().unembed

    def _redirect(self, passes: _SideBySide, layer: int, stream: Any, outs: Any) -> None:
        """Let the ends of replaced paths in `outs` (H + 1, E, B, T, d) read what they then get."""
        ends = passes.ends(layer)
        for start in range(0, len(ends), len(passes.plans)):
            chosen = ends[start : start + len(passes.plans)]
            read = torch.stack([stream[at] + passes.shift(at, (layer, end)) for at, end in chosen])
            again = self._layer(layer, read.reshape(-1, *read.shape[2:]))[0]
            again = again.reshape(len(again), *read.shape)
            for place, (at, end) in enumerate(chosen):
                outs[end, at] = again[end, place]


class _SideBySide:
    """Interventions on one undisturbed run that are carried out at once."""

    def __init__(
        self, clean: _Clean, plans: Sequence[Intervention], donor: _Clean | None
    ) -> None:  # fmt: skip
        self.plans = plans
        self._clean, self._donor = clean, donor
        self._sources = {edge[:2] for plan in plans for edge in plan.edges}
        self._new: dict[Node, Any] = {}

    def ends(self, layer: int) -> list[tuple[int, int]]:
        """(experiment, component) for each end of a replaced path in a layer."""
        return [
            (at, end)
            for at, plan in enumerate(self.plans)
            for end in sorted({edge[3] for edge in plan.edges if edge[2] == layer})
        ]

    def replace(self, layer: int, outs: Any) -> None:
        """Put stand-ins in the places of ablated components; `outs` (H + 1, E, B, T, d)."""
        for kind in sorted({plan.kind for plan in self.plans}):
            for part in range(len(outs)):
                node = (layer, part)
                chosen = [
                    at
                    for at, plan in enumerate(self.plans)
                    if plan.kind == kind and node in plan.ablate
                ]
                if chosen:
                    outs[part, chosen] = self._stand_in(node, kind)
        for node in self._sources:
            if node[0] == layer:
                self._new[node] = outs[node[1]].clone()

    def shift(self, at: int, end: Node) -> Any:
        """The sum (B, T, d) that replaced paths into `end` add to the stream that it reads."""
        plan = self.plans[at]
        total = torch.zeros_like(self._clean.inputs[0])
        for edge in sorted(edge for edge in plan.edges if edge[2:] == end):
            node = edge[:2]
            own = self._new[node][at] if node in self._new else self._clean.outs[node]
            total += self._stand_in(node, plan.kind) - own
        return total

    def _stand_in(self, node: Node, kind: str) -> Any:
        out = self._clean.outs[node]
        if kind == "zero":
            return torch.zeros_like(out)
        if kind == "mean":
            return out.mean(0).expand_as(out)
        return out.roll(-1, 0) if self._donor is None else self._donor.outs[node]


def _first(plan: Intervention, layers: int) -> int:
    """The first layer that an intervention changes."""
    return min([node[0] for node in plan.ablate] + [edge[2] for edge in plan.edges] + [layers])


def _losses(logits: Any, targets: Any, mask: Any) -> Any:
    """(E, B): see `network.losses`."""
    chosen = logits.gather(-1, targets.expand(logits.shape[:-1])[..., None])[..., 0]
    return ((logits.logsumexp(-1) - chosen) * mask).sum(-1) / mask.sum(-1)


def _told(values: Any) -> Array:
    """As float32 in this process's memory, to a millionth; never a negative zero."""
    return ((values * _PARTS).round() / _PARTS + 0.0).float().cpu().numpy()
