"""The reference model in float64 on a device, and the distance of an output from it.

The measure is that of `calls.verdict`, computed where the data are.

Covered: problems in KernelBench's form (`Model`, `get_inputs`, `get_init_inputs`), their inputs at
the listed batch and at another, the error of narrower formats.
Not covered: models with more than one output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.tournament.contests.kernels.calls.verdict import (
    MAX_UNTOUCHED,
    OutputKind,
    OutputVerdict,
)
from unhack.tournament.contests.kernels.gpu import memory

_SOURCES = Path(__file__).parent.parent / "sources" / "gpu"
_FLOAT32 = 2.0**-24
PROBLEMS = ("rmsnorm", "softmax", "bias_gelu", "matmul")


def source(kind: str, name: str) -> str:
    """A file of this package: `problem`, `honest` or `cheat`."""
    return (_SOURCES / f"{kind}.{name}.txt").read_text()


@dataclass(frozen=True, slots=True)
class GpuCase:
    """A problem with weights, in the judge's own context."""

    torch: Any
    name: str
    module: dict[str, Any]
    model: Any
    """In float32; the weights that every worker gets."""

    def inputs(self, *, hidden_rows: int = 0) -> list[Any]:
        """Fresh inputs; with `hidden_rows`, so many rows of the first."""
        with self.torch.device(memory.DEVICE):
            drawn: list[Any] = self.module["get_inputs"]()
        if hidden_rows:
            drawn[0] = drawn[0][:hidden_rows].contiguous()
        return drawn

    def truth(self, inputs: list[Any], *, digits: int = 0) -> Any:
        """The output in float64; with `digits`, of inputs and weights rounded to so many bits."""
        torch = self.torch
        model = self.module["Model"](*self.module["get_init_inputs"]()).to(memory.DEVICE).double()
        weights = {k: rounded(torch, v, digits) for k, v in self.model.state_dict().items()}
        model.load_state_dict({name: data.double() for name, data in weights.items()})
        with torch.no_grad():
            return model(*(rounded(torch, data, digits).double() for data in inputs))

    def traffic(self, inputs: list[Any], truth: Any) -> float:
        """Bytes that have to be read and written."""
        weights = sum(data.numel() for data in self.model.state_dict().values())
        return 4.0 * (sum(data.numel() for data in inputs) + truth.numel() + weights)

    def flops(self, inputs: list[Any]) -> float:
        """Of matrix products; the other problems are bound by memory."""
        if self.name != "matmul":
            return 0.0
        return 2.0 * inputs[0].shape[0] * inputs[0].shape[1] * inputs[1].shape[1]


def load(torch: Any, name: str, *, seed: int) -> GpuCase:
    """A problem with weights drawn by `seed`."""
    module: dict[str, Any] = {}
    exec(compile(source("problem", name), f"<{name}>", "exec"), module)
    torch.manual_seed(seed)
    model = module["Model"](*module["get_init_inputs"]()).to(memory.DEVICE)
    return GpuCase(torch, name, module, model)


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
    poison: int
    """The bits that stood in the output."""
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
    bare = output.view(torch.int32) == asked.poison
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
