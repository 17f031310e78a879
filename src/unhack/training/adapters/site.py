"""One adapted linear module, and the switch that all modules of a model share.

Covered: plain forwards (autograd fills `.grad`), captured forwards (one backward pass leaves every
rollout's own gradient in a `BackwardRecord`), merged forwards, mixed precision (adapter arithmetic
is in the input's dtype, parameters stay wide), autocast, and gradient checkpointing in both forms:
capture happens in the backward pass with the recomputed input, under the knob of the last forward
pass, so between a forward and its backward pass no other adapted forward may run. Not covered:
inputs that are not [B, T, D] while capturing; second derivatives through a captured forward.

Axes: B rollouts, T positions, D inputs, O outputs, R bottleneck.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from unhack.core.errors import UsageError
from unhack.training.adapters.forms import GradientForm, wide
from unhack.training.adapters.kinds import AdapterKind, BackwardCall, Knob, Parts, Pulled, Tensors

Runs = tuple[tuple[int, int, bool], ...]
"""Neighbouring rollouts of one knob state: first, last + 1, state."""

MAX_RUNS = 32
"""More runs than this are too many small products."""


@dataclass(slots=True)
class BackwardRecord:
    """Records of a captured backward pass, by module."""

    rollouts: int
    tokens: bool
    """True where the factors of per-token gradients are kept."""
    deployed: dict[str, GradientForm] = field(default_factory=dict[str, GradientForm])
    quarantine: dict[str, GradientForm] = field(default_factory=dict[str, GradientForm])
    mark: object = field(default_factory=object)
    """Mark of this record, which a forward pass leaves at the modules that it calls. (Compiled
    code is made anew for each state that it reads, a set of names for instance.)"""
    _passes: dict[str, int] = field(default_factory=dict[str, int])

    def put(self, name: str, pulled: Pulled) -> None:
        """Keep one module's gradients; those of a module that a forward pass called several times
        are added up. Raises UsageError for a second backward pass."""
        number = torch._C._current_graph_task_id()  # pyright: ignore
        if self._passes.setdefault(name, number) != number:
            raise UsageError(f"a second backward pass reached {name}: use one capture for each")
        deployed, quarantine = pulled.deployed, pulled.quarantine
        if not self.tokens:
            deployed = pulled.deployed.solid()
            if quarantine is pulled.deployed:
                quarantine = deployed
            elif quarantine is not None:
                quarantine = quarantine.solid()
        before, other = self.deployed.get(name), self.quarantine.get(name)
        shared = quarantine is deployed
        if before is not None:
            deployed = before.rows().plus(deployed.rows())
        if quarantine is not None and other is not None:
            quarantine = deployed if shared else other.rows().plus(quarantine.rows())
        self.deployed[name] = deployed
        if quarantine is not None:
            self.quarantine[name] = quarantine


@dataclass(slots=True)
class Switch:
    """The state that the forwards of all modules look at."""

    knob: bool | Tensor = True
    """Knob state: quarantine on or off, for all or per rollout (bool [B])."""
    bypass: bool = False
    """True while forwards are the plain base's: adapters off, or merged into the weights."""
    merged: bool = False
    record: BackwardRecord | None = None
    runs: Runs = ()
    """Of the last knob per rollout that a forward saw."""
    _shown: tuple[int, int] = (0, 0)
    """Rollouts and positions of the last input that showed both."""
    _last: bool | Tensor = True
    _lifted: tuple[Tensor, Tensor] | None = None
    """The last knob per rollout, and it as factors."""

    def now(self) -> bool | Tensor:
        """The knob, bool [B] where rollouts differ; in a recomputation, that of the forward pass it
        repeats."""
        if torch._C._current_graph_task_id() == -1:  # pyright: ignore
            self._last = self.knob
        return self._last

    def lifted(self, knob: bool | Tensor, dtype: torch.dtype, device: torch.device) -> Knob:
        """A knob as a factor of what is laid out by rollout."""
        if isinstance(knob, bool):
            return knob
        known = self._lifted
        if known is None or known[0] is not knob or known[1].dtype != dtype:
            if known is None or known[0] is not knob:
                self.runs = _runs(cast(Any, knob > 0).tolist())
            known = self._lifted = (knob, knob.to(device, dtype).view(-1, 1, 1))
        return known[1]

    def laid_out(self, x: Tensor, *, rollouts: int, name: str) -> Tensor:
        """A module's input as [B, T, D].

        It is [B, T, D], or [B, ..., D], or [B * T, D] after an input that showed T (OPT, shared
        experts). Raises UsageError for others, and for rows that an expert of a mixture was given:
        nothing says whose they are.
        """
        if x.dim() == 3 and x.shape[0] == rollouts:
            self._shown = (rollouts, x.shape[1])
            return x
        if x.dim() > 3 and x.shape[0] == rollouts:
            return x.flatten(1, -2)
        flat = x.dim() == 2 and "experts" not in name.split(".")
        if flat and self._shown[0] == rollouts and x.shape[0] == self._shown[0] * self._shown[1]:
            return x.view(*self._shown, -1)
        advice = "" if x.dim() == 3 else ", or [B * T, D] after one; name the other maps as targets"
        raise UsageError(
            f"{name} got an input {tuple(x.shape)} in a pass of {rollouts} rollouts:"
            f" [B, T, D] is wanted{advice}"
        )


def _runs(states: list[bool]) -> Runs:
    """Neighbours of one state, as (first, last + 1, state)."""
    found: list[tuple[int, int, bool]] = []
    for number, state in enumerate(states):
        first = found.pop()[0] if found and found[-1][2] == state else number
        found.append((first, number + 1, state))
    return tuple(found)


class AdaptedLinear(nn.Module):
    """Stands in for an nn.Linear: the same weight and bias under the same names, frozen."""

    def __init__(self, linear: nn.Linear, *, name: str, kind: AdapterKind, switch: Switch) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.name, self.kind, self.switch = name, kind, switch
        self.basis = Tensors({}, {})
        self.deployed = Tensors({}, {})
        self.quarantine: Tensors | None = None
        self.called: object = None
        """The mark of the last record whose forward pass called the module."""
        self.tied = False
        """True where another module has the same weight, or reads it (DoRA)."""
        self.halves: Tensor | None = None
        """[2, D, O] while the first half of the rollouts has another knob state than the second:
        the transposed weights of both."""

    @property
    def parts(self) -> Parts:
        return Parts(self.basis, self.deployed, self.quarantine)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, kind={self.kind.name}"

    def forward(self, x: Tensor) -> Tensor:
        switch = self.switch
        if self.halves is not None:
            return self._multiply_halves(x, self.halves)
        if switch.bypass:
            return functional.linear(x, self.weight, self.bias)
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.get_autocast_dtype(x.device.type))
        return self.adapted(x)

    def adapted(self, x: Tensor) -> Tensor:
        """The result of `apply_factors` under the switch's knob, captured where it has a record."""
        switch = self.switch
        knob, record = switch.now(), switch.record
        if isinstance(knob, Tensor) and self.quarantine is None:
            knob = False
        if record is None and isinstance(knob, bool):
            return self.apply_factors(x, knob)[0]
        rollouts = len(cast(Tensor, knob)) if record is None else record.rollouts
        rows_B_T_D = switch.laid_out(x, rollouts=rollouts, name=self.name)
        lift = switch.lifted(knob, x.dtype, x.device)
        if record is None:
            out_B_T_O = self.apply_factors(rows_B_T_D, lift)[0]
        else:
            out_B_T_O = self._captured(rows_B_T_D, lift, record)
        return out_B_T_O if x.dim() == 3 else out_B_T_O.view(*x.shape[:-1], self.out_features)

    def _captured(self, x_B_T_D: Tensor, knob: Knob, record: BackwardRecord) -> Tensor:
        self.called = record.mark
        everyone = ((0, x_B_T_D.shape[0], knob is True),)
        runs = self.switch.runs if isinstance(knob, Tensor) else everyone
        call = _Call(self, knob, runs if self.folds(x_B_T_D, len(runs)) else (), record)
        anchor = self.deployed.trained()[0]
        return _Captured.apply(x_B_T_D, anchor, call)  # pyright: ignore

    def apply_factors(self, x: Tensor, knob: Knob) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The base's output and the adapter's, each by its own factors."""
        base = functional.linear(x, self.weight, self.bias)
        out_BT_O, spared = self.kind.forward(
            x.reshape(-1, self.in_features),
            base.view(-1, self.out_features),
            parts=self.parts,
            knob=knob,
        )
        # No view: a model may add to what it got in place (Falcon).
        unviewed: Any = torch.ops.aten._unsafe_view  # pyright: ignore
        return unviewed(out_BT_O, base.shape), spared

    def base_gradient(self, grad_B_T_O: Tensor, x_B_T_D: Tensor) -> Tensor:
        """The gradient at the input by way of the base's part of `apply_factors`."""
        return torch.matmul(grad_B_T_O, self.weight.to(grad_B_T_O.dtype))

    @torch.no_grad()
    def fold(self, *, both: bool) -> tuple[Tensor, Tensor]:
        """The weight with the deployed block in it, and with both blocks (where that is wanted, and
        there are two); at least float32."""
        weight = self.weight.to(wide(self.weight.dtype))
        off = self.kind.fold(weight, basis=self.basis, block=self.deployed)
        if self.quarantine is None or not both:
            return off, off
        return off, self.kind.fold(off, basis=self.basis, block=self.quarantine)

    def _multiply_halves(self, x: Tensor, weights_2_D_O: Tensor) -> Tensor:
        """One product of both halves of the rollouts with their weights."""
        device = x.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.dtype
        if weights_2_D_O.dtype != dtype:
            self.halves = weights_2_D_O = weights_2_D_O.to(dtype)
        out = torch.bmm(x.to(dtype).reshape(2, -1, self.in_features), weights_2_D_O)
        out = out.view(*x.shape[:-1], self.out_features)
        return out if self.bias is None else out + self.bias.to(dtype)  # pyright: ignore

    def folds(self, x: Tensor, runs: int) -> bool:
        """Tell whether captured passes multiply by folded weights: nothing is lost by rounding, the
        knob's runs are few, and the adapter's own factors would cost a quarter of the base."""
        width, size = self.kind.width(self.parts), self.in_features * self.out_features
        return (
            x.dtype == self.weight.dtype == wide(x.dtype)
            and runs <= MAX_RUNS
            and 4 * width * (self.in_features + self.out_features) > size
            and x.shape[0] * x.shape[1] >= 4 * width
        )


@dataclass(frozen=True, slots=True)
class _Call:
    """One captured forward."""

    site: AdaptedLinear
    knob: Knob
    runs: Runs
    """Empty where the pass goes by factors instead of folded weights."""
    record: BackwardRecord

    def times(self, rows_B_T_D: Tensor, weights: tuple[Tensor, Tensor]) -> Tensor:
        """Each run of rollouts times the matrix of its knob state."""
        if len(self.runs) == 1:
            return torch.matmul(rows_B_T_D, weights[self.runs[0][2]])
        batch, length, _ = rows_B_T_D.shape
        flat, columns = rows_B_T_D.reshape(batch * length, -1), weights[0].shape[1]
        out = flat.new_empty(batch * length, columns)
        for first, last, state in self.runs:
            rows = slice(first * length, last * length)
            torch.mm(flat[rows], weights[state], out=out[rows])
        unviewed: Any = torch.ops.aten._unsafe_view  # pyright: ignore
        return unviewed(out, (batch, length, columns))


class _Captured(torch.autograd.Function):
    """The adapted output whose backward pass leaves per-rollout gradients in a record."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, anchor: Tensor, call: _Call) -> Tensor:
        x, site = x.detach(), call.site
        ctx.call = call
        if not call.runs:
            out, spared = site.apply_factors(x, call.knob)
            ctx.save_for_backward(x, *spared)
            return out
        weights = site.fold(both=call.knob is not False)
        out = call.times(x, (weights[0].t(), weights[1].t()))
        ctx.save_for_backward(x, *weights)
        return out if site.bias is None else out + site.bias  # pyright: ignore

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_B_T_O: Tensor) -> Any:  # pyright: ignore
        call: _Call = ctx.call
        site, (x, *more) = call.site, ctx.saved_tensors
        entered: Tensor | None = None
        if ctx.needs_input_grad[0]:
            if call.runs:
                entered = call.times(grad_B_T_O, (more[0], more[1]))
            else:
                entered = site.base_gradient(grad_B_T_O, x)
        spared = () if call.runs else tuple(more)
        into = None if call.runs or entered is None else entered.flatten(0, 1)
        given = BackwardCall(grad_B_T_O, x, site.parts, call.knob, spared, into)
        call.record.put(site.name, site.kind.backward(given))
        return entered, None, None
