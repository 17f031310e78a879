"""One AdamW over both blocks, with two additions that routing calls for.

**Shared second moments** (`optimiser.shared_moments`). Adam divides by the size of a gradient, so
a block that gets a hundredth of the gradient still makes full steps: a small leak into a block
grows to a whole update there. With this option the first moment of a block follows its routed
gradient and the second moment its *unrouted* one, so a share of the gradient is a share of the
step (after the split-moment optimiser of label-based routing, see the explanation page).

**Matched shrinkage** (`optimiser.shrink`). A control: the update of the deployed block is scaled,
step by step, by the kept share that another run recorded. The moments are left alone.

Clipping is by the norm over both blocks together. There is no weight decay.

Covered: plain AdamW (`torch.optim.AdamW` itself), the two additions, a rate that rises and falls in
lines, state that resumes bit for bit. Not covered: other schedules, other optimisers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.training.adapters.adapter import Block
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.config.settings import OptimiserSettings
from unhack.training.routing.split import RecordedStep, read_gate_log, recorded_step

BLOCKS: tuple[Block, Block] = ("deployed", "quarantine")

Totals = Mapping[Block, Mapping[str, Tensor]]
"""The unrouted gradient of each block, flattened [N] per module (`RoutingLog.totals`)."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """Measures of an update."""

    norm_deployed: float
    """Norm of the block's gradient before clipping."""
    norm_quarantine: float
    rate: float
    kept: float
    """Factor of the deployed update; 1 without shrinkage."""


class Optimiser:
    """Steps both blocks from their `.grad`, which is None afterwards.

    Raises UsageError where `optimiser.shrink` has no record.
    """

    def __init__(self, settings: OptimiserSettings, adapters: AttachedAdapters) -> None:
        self._settings = settings
        self._named = {
            block: [
                (name, item)
                for name, items in adapters.parameters(block).items()
                for item in items
            ]
            for block in BLOCKS
        }  # fmt: skip
        everything = [item for block in BLOCKS for _, item in self._named[block]]
        self._everything = everything
        rule: type[_Plain] | type[_Shared] = _Shared if settings.shared_moments else _Plain
        self._rule: _Rule = rule(everything, settings)
        self._recorded: dict[int, RecordedStep] = {}
        if settings.shrink:
            self._recorded = read_gate_log(Path(settings.shrink))
        self.steps = 0
        """Updates done."""

    def step(self, totals: Totals | None = None, *, at: int | None = None) -> Stepped:
        """Make one update.

        `totals`: the unrouted gradients, needed with `shared_moments` where the blocks do not share
        a basis (`lora_split`); otherwise the sum of both gradients is used.
        `at`: the step of the run, by which the recorded kept share is looked up; by default the
        number of updates done. Raises UsageError where the recorded run is shorter.
        """
        settings = self._settings
        kept = 1.0
        if settings.shrink:
            place = self.steps if at is None else at
            kept = recorded_step(self._recorded, place, folder=settings.shrink).kept_share
        for item in self._everything:
            if item.grad is None:
                item.grad = torch.zeros_like(item)
        norms = {block: _norm([item for _, item in self._named[block]]) for block in BLOCKS}
        unrouted = self._unrouted_gradients(totals) if settings.shared_moments else []
        norm = nn.utils.clip_grad_norm_(self._everything, settings.clip)
        scale = (settings.clip / (norm + 1e-6)).clamp(max=1.0)
        rate = settings.rate * _share(settings, self.steps)
        deployed = [item for _, item in self._named["deployed"]]
        before = [item.detach().clone() for item in deployed] if kept != 1.0 else []
        with torch.no_grad():
            self._rule.step(rate, [total * scale for total in unrouted])
            for item, old in zip(deployed, before, strict=bool(before)):
                item.copy_(old + kept * (item - old))
        for item in self._everything:
            item.grad = None
        self.steps += 1
        return Stepped(norms["deployed"], norms["quarantine"], rate, kept)

    def state(self) -> dict[str, Any]:
        """Plain data and tensors that a resumed run needs."""
        return {"steps": self.steps, "moments": self._rule.state()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from `state` bit for bit. Raises ValueError for a state of other shapes."""
        self.steps = int(state["steps"])
        self._rule.load(state["moments"])

    def _unrouted_gradients(self, totals: Totals | None) -> list[Tensor]:
        if totals:
            return [
                part
                for block in BLOCKS
                for part in _parts(totals[block], self._named[block])
            ]  # fmt: skip
        left = [item for _, item in self._named["deployed"]]
        right = [item for _, item in self._named["quarantine"]]
        if [item.shape for item in left] != [item.shape for item in right]:
            raise UsageError("shared_moments needs the unrouted gradients of these blocks")
        both = [_gradient(one) + _gradient(two) for one, two in zip(left, right, strict=True)]
        return [*both, *both]


class _Rule(Protocol):
    """A rule that turns gradients into a step."""

    def step(self, rate: float, unrouted: Sequence[Tensor]) -> None: ...

    def state(self) -> list[dict[str, Any]]:
        """The moments of each parameter, in order; empty before the first step."""
        ...

    def load(self, state: Sequence[Mapping[str, Any]]) -> None: ...


class _Plain:
    """torch's own AdamW."""

    def __init__(self, parameters: Sequence[nn.Parameter], settings: OptimiserSettings) -> None:
        self._adamw = torch.optim.AdamW(
            parameters, lr=settings.rate, betas=settings.betas, weight_decay=0.0
        )

    def step(self, rate: float, unrouted: Sequence[Tensor]) -> None:
        """The unrouted gradients are not used."""
        self._adamw.param_groups[0]["lr"] = rate
        self._adamw.step()  # pyright: ignore[reportUnknownMemberType]

    def state(self) -> list[dict[str, Any]]:
        moments: dict[int, dict[str, Any]] = self._adamw.state_dict()["state"]
        return [dict(moments[index]) for index in sorted(moments)]

    def load(self, state: Sequence[Mapping[str, Any]]) -> None:
        whole = self._adamw.state_dict()
        whole["state"] = {index: dict(entry) for index, entry in enumerate(state)}
        self._adamw.load_state_dict(whole)


class _Shared:
    """AdamW whose second moment follows the unrouted gradient."""

    def __init__(self, parameters: Sequence[nn.Parameter], settings: OptimiserSettings) -> None:
        self._parameters = parameters
        self._betas = settings.betas
        self._count = 0
        self._first = [torch.zeros_like(item) for item in parameters]
        self._second = [torch.zeros_like(item) for item in parameters]

    def step(self, rate: float, unrouted: Sequence[Tensor]) -> None:
        self._count += 1
        slow, slower = self._betas
        grown, spread = 1 - slow**self._count, 1 - slower**self._count
        entries = zip(self._parameters, self._first, self._second, unrouted, strict=True)
        for item, first, second, total in entries:
            first.lerp_(_gradient(item), 1 - slow)
            second.mul_(slower).addcmul_(total, total, value=1 - slower)
            size = (second / spread).sqrt_().add_(1e-8)
            item.addcdiv_(first, size, value=-rate / grown)

    def state(self) -> list[dict[str, Any]]:
        return [
            {"step": self._count, "exp_avg": first, "exp_avg_sq": second}
            for first, second in zip(self._first, self._second, strict=True)
        ]

    def load(self, state: Sequence[Mapping[str, Any]]) -> None:
        entries = zip(state, self._first, self._second, strict=True)
        for entry, first, second in entries:
            self._count = int(entry["step"])
            first.copy_(entry["exp_avg"])
            second.copy_(entry["exp_avg_sq"])


def _share(settings: OptimiserSettings, done: int) -> float:
    """The part of the rate that the update after `done` others has."""
    begin, end = settings.cooldown
    rise = (done + 1) / max(1, settings.warmup)
    fall = (end - done) / (end - begin) if end else 1.0
    return max(0.0, min(1.0, rise, fall))


def _gradient(item: nn.Parameter) -> Tensor:
    return torch.zeros_like(item) if item.grad is None else item.grad


def _norm(parameters: Sequence[nn.Parameter]) -> float:
    squares = [_gradient(item).double().square().sum() for item in parameters]
    return torch.stack(squares).sum().sqrt().item() if squares else 0.0


def _parts(
    flat: Mapping[str, Tensor], named: Sequence[tuple[str, nn.Parameter]]
) -> list[Tensor]:  # fmt: skip
    """Flattened sums cut into the shapes of a block's parameters, in their order."""
    begun: dict[str, int] = {}
    found: list[Tensor] = []
    for name, item in named:
        begin = begun.get(name, 0)
        found.append(flat[name][begin : begin + item.numel()].view_as(item))
        begun[name] = begin + item.numel()
    return found
