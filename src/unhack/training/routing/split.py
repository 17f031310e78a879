"""From a gate's fractions to the gradients of both blocks, and the record of what went where.

    deployed.grad   += sum over b, t of (1 - f) g
    quarantine.grad += sum over b, t of f g

When both blocks share their basis (`svd`, `lora_frozen_b`) the two sums add up to the gradient
without routing, so nothing is lost.

Words: a rollout is *active* when its advantage is not zero. The *routed mass* of a step is the sum
of f over active rollouts, each rollout with its mean over modules and tokens that have a gradient.
The *kept share* is 1 - mass / active. *Energy* is the squared norm of a block's summed gradient.

Axes: B rollouts, T positions of the whole sequence, M adapted modules, N numbers of a block's
parameters.

Covered: one batch of one process. Not covered: reduction over processes (the loop sums `.grad`;
the figures here are then of the own part of the batch).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.adapters.adapter import Block, Gradients
from unhack.training.adapters.attached import AttachedAdapters
from unhack.training.objectives.plain import numbers
from unhack.training.routing.gate import Gated, GateView
from unhack.training.worlds.world import Judged

GATE_LOG = "gate.jsonl"
Action = Literal["route", "drop", "reverse"]
"""As `gate.action`."""


@dataclass(frozen=True, slots=True)
class RoutingLog:
    """Measures of a step's routing; plain numbers but for `totals`."""

    mass: float
    active: int
    kept_share: float
    kept_norm: float
    """The kept share weighted by gradient norms: sum of (1 - f) ||g|| over sum of ||g||, over
    rollouts (or tokens) and modules."""
    fractions: tuple[float, ...]
    """Mean f per rollout, rounded to six places; 0 for inactive ones."""
    energy_deployed: float
    energy_quarantine: float
    cosine_blocks: float
    """Cosine of the two blocks' gradients; nan where one is zero or their shapes differ."""
    cosine_deployed: float
    """Cosine of the deployed block's gradient, after routing, with the direction."""
    cosine_quarantine: float
    auroc: float
    """AUROC of the score in ranking hacks above the rest among rollouts with positive advantage, by
    the oracle's labels. For the log only; nan where one class is missing."""
    aurocs: Mapping[str, float]
    """The same for the hacks of each mode alone, where there are any."""
    quarantine: tuple[int, ...]
    """The knob state of each rollout, 1 for on; empty where there is no view."""
    split: Mapping[str, Mapping[str, float]]
    """`count`, mean `fraction` and mean `score` by knob state and advantage sign (`on.positive`),
    and by the oracle's label below that (`on.positive.hacked`, `on.positive.other`), if there is
    an oracle."""
    gate: Mapping[str, float]
    """The gate's report of itself."""
    scores: tuple[float, ...] = ()
    """The score of each rollout of the view, rounded to six places; empty where a gate has none."""
    totals: Mapping[Block, Mapping[str, Tensor]] = field(default_factory=dict[Any, Any])
    """The unrouted gradient of each block, where asked for (`shared_moments`)."""

    def record(self, step: int) -> dict[str, Any]:
        """The line of `gate.jsonl`. Numbers that are not finite become None."""
        names = (
            "mass", "active", "kept_share", "kept_norm", "energy_deployed", "energy_quarantine",
            "cosine_blocks", "cosine_deployed", "cosine_quarantine", "auroc",
        )  # fmt: skip
        return {
            "step": step,
            **{name: _finite(getattr(self, name)) for name in names},
            "aurocs": {mode: _finite(value) for mode, value in self.aurocs.items()},
            "pair_accuracy": _finite(self.gate.get("pair_accuracy", math.nan)),
            "split": {
                key: {name: _finite(value) for name, value in cell.items()}
                for key, cell in self.split.items()
            },
            "gate": {name: _finite(value) for name, value in self.gate.items()},
            "fractions": list(self.fractions),
            "quarantine": "".join(map(str, self.quarantine)),
        }


def route(
    gradients: Gradients,
    gated: Gated,
    adapters: AttachedAdapters,
    *,
    view: GateView | None = None,
    totals: bool = False,
    action: Action = "route",
) -> RoutingLog:
    """Assign both blocks' gradients and say what went where.

    `view` is what the gate saw; without it a rollout is active when it has a gradient, and `split`
    and `auroc` are empty. `totals`: also return each block's unrouted gradient. `action`: what is
    kept from the deployed block goes to the quarantine, nowhere (`drop`), or back to it with the
    opposite sign (`reverse`).
    """
    fractions = gated.fractions
    kept = 1 - fractions if gated.kept is None else gated.kept
    turned = kept - fractions if action == "reverse" else kept
    deployed = gradients.sums(turned, block="deployed")
    given = fractions if action == "route" else torch.zeros_like(fractions)
    quarantine = gradients.sums(given, block="quarantine")
    adapters.assign(deployed, quarantine)
    active_B = gradients.norms_B_M().sum(1) > 0 if view is None else view.advantages_B != 0
    fractions_B = per_rollout(fractions, gradients) * active_B
    sizes = _sizes(gradients, fractions, fractions_B, active_B)
    lines = _Lines([deployed, quarantine, gated.direction])
    mass, active = sizes[0], int(sizes[1])
    return RoutingLog(
        mass=mass,
        active=active,
        kept_share=1.0 - mass / active if active else 1.0,
        kept_norm=sizes[2] / sizes[3] if mass and sizes[3] else 1.0,
        fractions=_rounded(fractions_B),
        energy_deployed=lines.dot(0, 0),
        energy_quarantine=lines.dot(1, 1),
        cosine_blocks=lines.cosine(0, 1),
        cosine_deployed=lines.cosine(0, 2),
        cosine_quarantine=lines.cosine(1, 2),
        auroc=math.nan if view is None else _auroc(view, gated.scores_B),
        aurocs={} if view is None else _aurocs(view, gated.scores_B),
        quarantine=() if view is None else tuple(map(int, numbers(view.quarantine_B))),
        split={} if view is None else _split(view, fractions_B, gated.scores_B),
        gate=dict(gated.log),
        scores=_rounded(gated.scores_B),
        totals=_totals(gradients, fractions) if totals else {},
    )


def _rounded(values_B: Tensor | None) -> tuple[float, ...]:
    return () if values_B is None else tuple(round(value, 6) for value in numbers(values_B))


def per_rollout(fractions: Tensor, gradients: Gradients) -> Tensor:
    """Mean of `fractions` over modules and over positions that have a gradient: [B]."""
    if fractions.shape[1] == 1:
        return fractions.mean((1, 2))
    present_B_T = (gradients.norms_B_T_M().sum(2) > 0).to(fractions.dtype)
    means_B_T = fractions.mean(2)
    return (means_B_T * present_B_T).sum(1) / present_B_T.sum(1).clamp(min=1)


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """Routing of a finished run at a step."""

    mass: float
    active: int
    kept_share: float
    fractions: tuple[float, ...]
    """Of the active rollouts only, falling."""


def read_gate_log(folder: Path, *, knob: bool | None = None) -> dict[int, RecordedStep]:
    """The recorded routing of a run, by step. A step that occurs twice counts as written last.

    `knob`: of the rollouts of one knob state alone. Raises UsageError where there is no record, or
    none by knob state.
    """
    path = folder / GATE_LOG
    if not path.is_file():
        raise UsageError(f"{path} is missing: run the arm that is replayed first")
    steps: dict[int, RecordedStep] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        entry: dict[str, Any] = json.loads(line)
        if knob is not None:
            steps[int(entry["step"])] = _of_knob(entry, knob=knob, path=path)
            continue
        falling = sorted((float(value) for value in entry["fractions"]), reverse=True)
        steps[int(entry["step"])] = RecordedStep(
            mass=float(entry["mass"]),
            active=int(entry["active"]),
            kept_share=float(entry["kept_share"]),
            fractions=tuple(falling[: int(entry["active"])]),
        )
    return steps


def _of_knob(entry: Mapping[str, Any], *, knob: bool, path: Path) -> RecordedStep:
    """The part of one knob state in a step's record."""
    states, fractions = entry.get("quarantine", ""), entry["fractions"]
    if len(states) != len(fractions):
        raise UsageError(
            f"{path} does not tell knob states apart: run the arm that is replayed anew"
        )
    name = "on" if knob else "off"
    active = sum(
        int(cell["count"])
        for key, cell in entry["split"].items()
        if key in (f"{name}.positive", f"{name}.negative")
    )
    own = [
        float(value) for state, value in zip(states, fractions, strict=True) if int(state) == knob
    ]
    falling = tuple(sorted(own, reverse=True)[:active])
    mass = math.fsum(falling)
    kept = 1.0 - mass / active if active else 1.0
    return RecordedStep(mass=mass, active=active, kept_share=kept, fractions=falling)


def need_record(folder: str, *, steps: int) -> None:
    """Raises UsageError unless a run of `steps` updates can replay the record of `folder`."""
    last = max(read_gate_log(Path(folder)), default=-1) + 1
    if last < steps:
        raise UsageError(
            f"{folder} has a record of {last} steps, and {steps} are to be trained: train that run "
            "further, or set run.steps"
        )


def recorded_step(steps: Mapping[int, RecordedStep], step: int, *, folder: str) -> RecordedStep:
    """The record of a step; a step that left no record within the run had nothing to route.

    Raises UsageError where the recorded run is shorter.
    """
    if step > max(steps, default=-1):
        raise UsageError(f"{folder} has no record of step {step}; it must be at least as long")
    return steps.get(step, RecordedStep(mass=0.0, active=0, kept_share=1.0, fractions=()))


def _totals(gradients: Gradients, fractions: Tensor) -> dict[Block, dict[str, Tensor]]:
    ones = torch.ones(fractions.shape[0], 1, 1, dtype=fractions.dtype, device=fractions.device)
    blocks: tuple[Block, Block] = ("deployed", "quarantine")
    return {block: gradients.sums(ones, block=block) for block in blocks}


def _sizes(
    gradients: Gradients, fractions: Tensor, fractions_B: Tensor, active_B: Tensor
) -> list[float]:
    """Routed mass, number of active rollouts, the norms that are kept and all norms, of what
    `fractions` tell apart: rollouts or tokens, by module. One look at the device."""
    whole = fractions.shape[1] == 1
    norms = gradients.norms_B_M()[:, None] if whole else gradients.norms_B_T_M()
    kept = (1 - fractions) * norms
    found = (fractions_B.sum(), active_B.sum(), kept.sum(), norms.sum())
    return numbers(torch.stack([item.double() for item in found]))


class _Lines:
    """Inner products of vectors that are given module by module, in float64."""

    def __init__(self, vectors: Sequence[Mapping[str, Tensor] | None]) -> None:
        shapes = [
            None if item is None else {name: value.shape for name, value in item.items()}
            for item in vectors
        ]
        self._alike = [[one is not None and one == other for other in shapes] for one in shapes]
        lines = [_line(item) for item in vectors]
        pairs = [
            (one, other) for one in range(len(lines)) for other in range(one, len(lines))
            if self._alike[one][other] and lines[one].numel()
        ]  # fmt: skip
        dots = [torch.dot(lines[one], lines[other]) for one, other in pairs]
        found = numbers(torch.stack(dots)) if dots else []
        self._dots = dict(zip(pairs, found, strict=True))

    def dot(self, one: int, other: int) -> float:
        """The inner product, `one` being no later than `other`; 0 of nothing."""
        return self._dots.get((one, other), 0.0)

    def cosine(self, one: int, other: int) -> float:
        """nan where a vector is missing or zero, or their shapes differ."""
        if not self._alike[one][other]:
            return math.nan
        scale = math.sqrt(self.dot(one, one) * self.dot(other, other))
        return self.dot(one, other) / scale if scale else math.nan


def _line(vectors: Mapping[str, Tensor] | None) -> Tensor:
    """All modules one after the other, by name."""
    pieces = [vectors[name] for name in sorted(vectors)] if vectors else []
    return torch.cat(pieces).double() if pieces else torch.zeros(0, dtype=torch.float64)


def _aurocs(view: GateView, scores_B: Tensor | None) -> dict[str, float]:
    modes = sorted({item.mechanism for item in view.judged if item.hacked})
    return {mode: _auroc(view, scores_B, mode=mode) for mode in modes}


def _auroc(view: GateView, scores_B: Tensor | None, *, mode: str = "") -> float:
    """`mode`: of the hacks of that mode alone; others are left out."""
    if scores_B is None or not view.judged:
        return math.nan
    positive_B = view.advantages_B > 0
    hacked_B = torch.tensor([bool(item.hacked) for item in view.judged], device=scores_B.device)
    own = [not mode or item.mechanism == mode for item in view.judged]
    own_B = torch.tensor(own, device=scores_B.device)
    hacks_P, others_Q = scores_B[positive_B & hacked_B & own_B], scores_B[positive_B & ~hacked_B]
    if not hacks_P.numel() or not others_Q.numel():
        return math.nan
    above_P_Q = hacks_P[:, None] > others_Q[None, :]
    equal_P_Q = hacks_P[:, None] == others_Q[None, :]
    return (above_P_Q.double() + 0.5 * equal_P_Q.double()).mean().item()


def _split(
    view: GateView, fractions_B: Tensor, scores_B: Tensor | None
) -> dict[str, dict[str, float]]:
    signs = numbers(view.advantages_B.sign())
    fractions = numbers(fractions_B)
    scores = [math.nan] * len(fractions) if scores_B is None else numbers(scores_B)
    cells: dict[str, list[tuple[float, float]]] = {}
    knobs = numbers(view.quarantine_B)
    labels = [_label(item) for item in view.judged] or [""] * len(knobs)
    for knob, sign, label, fraction, score in zip(
        knobs, signs, labels, fractions, scores, strict=True
    ):
        if sign == 0:
            continue
        key = f"{'on' if knob else 'off'}.{'positive' if sign > 0 else 'negative'}"
        for name in (key, f"{key}.{label}") if label else (key,):
            cells.setdefault(name, []).append((fraction, score))
    return {
        name: {
            "count": float(len(cell)),
            "fraction": math.fsum(item[0] for item in cell) / len(cell),
            "score": math.fsum(item[1] for item in cell) / len(cell),
        }
        for name, cell in sorted(cells.items())
    }


def _label(judged: Judged) -> str:
    """The oracle's label; empty where there is no oracle."""
    if judged.hacked is None:
        return ""
    return "hacked" if judged.hacked else "other"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
