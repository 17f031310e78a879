"""The reference model in float64 on a card, and the distance of an output from it.

The measure is that of `calls.verdict`, computed where the data are.

Covered: problems in KernelBench's form (`Model`, `get_inputs`, `get_init_inputs`), their inputs at
the listed batch and at another, inputs that share most values with earlier ones, the error of
narrower formats, the roofline.
Not covered: models with more than one output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

from unhack.tournament.contests.kernels.calls.verdict import (
    MAX_UNTOUCHED,
    OutputKind,
    OutputVerdict,
)
from unhack.tournament.contests.kernels.gpu.problems import registry

DEVICE = "cuda"
_FLOAT32 = 2.0**-24
_SMALLER = (("65536, 4096", "64, 96"), ("16384, 4096", "64, 96"), ("4096, 4096", "96, 64"),
            ("[4096", "[96"))  # fmt: skip
"""Sizes for tests of the judge without a card."""


class Rates(Protocol):
    """Rates of a device, measured on it."""

    @property
    def bytes_per_s(self) -> float: ...
    @property
    def flops_per_s(self) -> float:
        """Of products with 10-bit mantissas: float32 accuracy costs at least as much."""
        ...


@dataclass(frozen=True, slots=True)
class GpuCase:
    """A problem with weights, in the judge's own context."""

    torch: Any
    name: str
    reference: str
    """Source of the module whose `Model` is the reference."""
    module: dict[str, Any]
    weights: dict[str, Any]
    """In float32: the state of `Model`, the same on every side."""
    hidden_rows: int

    @property
    def init(self) -> list[Any]:
        """Arguments of `Model`."""
        return self.module["get_init_inputs"]()

    def inputs(self, *, hidden: bool, seed: int) -> list[Any]:
        """Fresh inputs; the shapes are the same for every seed."""
        self.torch.manual_seed(seed)
        with self.torch.device(DEVICE):
            drawn: list[Any] = self.module["get_inputs"]()
        if hidden:
            drawn[0] = drawn[0][: self.hidden_rows].contiguous()
        return drawn

    def alike(self, inputs: list[Any], *, hidden: bool, seed: int) -> list[Any]:
        """Inputs that share all but an eighth of their values with given ones."""
        made: list[Any] = []
        for old, new in zip(inputs, self.inputs(hidden=hidden, seed=seed), strict=True):
            data, part = old.clone(), old.numel() // 8
            data.view(-1)[part * 3 : part * 4] = new.view(-1)[:part]
            made.append(data)
        return made

    def truth(self, inputs: list[Any], *, digits: int = 0) -> Any:
        """The output in float64; with `digits`, of inputs and weights rounded to so many bits."""
        torch = self.torch
        model = self.module["Model"](*self.init).to(DEVICE).double()
        weights = {k: rounded(torch, v, digits) for k, v in self.weights.items()}
        model.load_state_dict({name: data.double() for name, data in weights.items()})
        with torch.no_grad():
            return model(*(rounded(torch, data, digits).double() for data in inputs))

    def output_like(self, inputs: list[Any]) -> tuple[tuple[int, ...], Any]:
        """(shape, dtype) of the output."""
        return tuple(self.truth(inputs).shape), self.torch.float32

    def floor_s(self, inputs: list[Any], roof: Rates) -> float:
        """The time below which nobody can be: all bytes read and written once, and products at the
        rate of the matrix units."""
        weights = sum(data.numel() for data in self.weights.values())
        shape, _ = self.output_like(inputs)
        moved = 4.0 * (sum(data.numel() for data in inputs) + math.prod(shape) + weights)
        flops = 2.0 * math.prod(inputs[0].shape) * inputs[1].shape[1] if len(inputs) > 1 else 0.0
        return max(moved / roof.bytes_per_s, flops / roof.flops_per_s)


def load(torch: Any, name: str, *, seed: int, small: bool = False) -> GpuCase:
    """A problem with weights drawn by `seed`. Raises UnknownNameError."""
    text = registry.find(name)
    for large, little in _SMALLER if small else ():
        text = text.replace(large, little)
    module: dict[str, Any] = {}
    exec(compile(text, f"<{name}>", "exec"), module)
    torch.manual_seed(seed)
    model = module["Model"](*module["get_init_inputs"]()).to(DEVICE)
    weights = {key: data.detach() for key, data in model.state_dict().items()}
    rows = module["get_inputs"]()[0].shape[0]
    hidden = rows * 5 // 8 + 3 + seed % (64 if rows > 1024 else 8) * 2
    return GpuCase(torch, name, text, module, weights, hidden)


def rounded(torch: Any, data: Any, digits: int) -> Any:
    """To so many significant bits; 0 leaves it as it is."""
    if not digits:
        return data
    mantissa, exponent = torch.frexp(data.double())
    return torch.ldexp(torch.round(mantissa * 2.0**digits), exponent - digits)


def error_of(torch: Any, output: Any, truth: Any) -> float:
    """The largest error of any element, relative to it and to its row."""
    if not bool(torch.isfinite(output).all()):
        return math.inf
    size = truth.pow(2).mean(dim=-1, keepdim=True).sqrt()
    scale = truth.abs() + size + 1e-38
    return float(((output.double() - truth).abs() / scale).max())


@dataclass(frozen=True, slots=True)
class Asked:
    """One call's inputs and what is known of the answer."""

    case: GpuCase
    inputs: list[Any]
    truth: Any
    reference: Any
    """The output of the reference."""
    poison: Any
    """The bytes (uint8) that stood in the output before the call."""
    earlier: list[Any]
    """Truths of earlier calls of this shape."""


def examine(output: Any, asked: Asked) -> OutputVerdict:
    """The verdict on an output (see `calls.verdict.examine`)."""
    torch, truth = asked.case.torch, asked.truth
    base = max(_FLOAT32, error_of(torch, asked.reference, truth))
    error = error_of(torch, output, truth)
    if error <= 2 * base:
        return OutputVerdict(OutputKind.RIGHT, error, 2 * base)
    half = error_of(torch, asked.case.truth(asked.inputs, digits=11), truth)
    brain = error_of(torch, asked.case.truth(asked.inputs, digits=8), truth)
    allowed = max(2 * base, math.sqrt(base * half))
    if error <= allowed:
        return OutputVerdict(OutputKind.RIGHT, error, allowed)
    now = output.view(-1).view(torch.uint8)
    bare = (now == asked.poison).view(output.numel(), -1).all(dim=1).view(output.shape)
    share = float(bare.double().mean())
    return OutputVerdict(
        _wrongness(output, asked, bare, (error, allowed, brain)), error, allowed, share
    )


def _wrongness(
    output: Any, asked: Asked, bare: Any, errors: tuple[float, float, float]
) -> OutputKind:
    torch = asked.case.torch
    error, allowed, brain = errors
    share = float(bare.double().mean())
    if share == 1.0:
        return OutputKind.UNTOUCHED
    if any(error_of(torch, output, old) <= allowed for old in asked.earlier):
        return OutputKind.REPLAYED
    mended = torch.where(bare, asked.truth, output.double())
    if share > MAX_UNTOUCHED and error_of(torch, mended, asked.truth) <= allowed:
        return OutputKind.PARTIAL
    if bool((output == output.flatten()[0]).all()):
        return OutputKind.CONSTANT
    return OutputKind.NARROW if error <= 4 * brain else OutputKind.WRONG
