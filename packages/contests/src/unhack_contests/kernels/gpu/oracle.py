"""A problem with drawn shapes and weights, its truth in float64, and the distance of an output.

The measure is that of `calls.verdict`, computed where the data are. Let `b` be the error of eager
PyTorch on the same inputs, at most what honest arithmetic leaves (`GpuProblem.bound`) and at least
a 32nd of that, and `h` the error of the true result when the inputs are rounded to the next
narrower format, at most eight of its roundings. Errors up to `sqrt(b * h)`, at least `2 b`, are
right: an honest reordering of sums stays near `b`, the narrower format lies at `h`.

Covered: our problems and files in KernelBench's form; whole and exact outputs, every bit of them;
inputs that share most of their values with earlier ones; the roofline.
Not covered: problems with more than one output.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhack.tournament.kit import UnknownNameError
from unhack_contests.kernels.calls.verdict import MAX_UNTOUCHED, OutputKind, OutputVerdict
from unhack_contests.kernels.gpu import kernelbench
from unhack_contests.kernels.gpu.problem import NARROWER, UNITS, GpuProblem
from unhack_contests.kernels.gpu.problems import registry
from unhack_contests.kernels.gpu.settings import GpuRoofline

DEVICE = "cuda"
_CACHE_BYTES = 128 << 20
"""Written bytes that may stay in a cache when the clock stops: no card has a larger one."""
_SLACK = 0.9
"""Of the roofline: the rates are measured, and a measurement may be a little low."""
_TINY = 1e-38
_ROW = 0.1
"""Of the root mean square of the whole output: the least that a row counts as."""
_LEAST = 1 / 32
"""Of the bound: a reference that happens to add up in float64 asks nobody else to."""
_APART = 251
"""Elements between two fresh ones where inputs look like earlier ones."""
_ROUNDINGS = 8
"""So many roundings in a row the narrower format may seem to cost: no ill-conditioned element makes
the line as wide as it likes."""
_KEPT = 3
_COMMON = 0.5
"""Of the mean error of the narrower format: with less an output is wrong in places, not narrow."""


@dataclass(frozen=True, slots=True)
class GpuCase:
    """A problem with shapes and weights, in the judge's own context."""

    torch: Any
    name: str
    level: int
    reference: str
    """Source of the module whose `Model` is the reference."""
    init: list[Any]
    """Arguments of `Model`, as JSON holds them."""
    weights: dict[str, Any]
    """The state of `Model`: the same on every side."""
    subject: OwnProblem | kernelbench.LoadedFile
    outputs: dict[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], Any]] = field(
        default_factory=dict[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], Any]]
    )
    """Shape and format of the output by the shapes of the inputs."""

    def inputs(self, *, hidden: bool, seed: int) -> list[Any]:
        """Fresh inputs; the shapes are the same for every seed."""
        self.torch.manual_seed(seed)
        return [data.contiguous() for data in self.subject.inputs(hidden=hidden)]

    def alike(self, inputs: list[Any], *, hidden: bool, seed: int) -> list[Any]:
        """Inputs that share their beginning and end, and most of the rest, with given ones: who
        keeps answers under a sample of the values is wrong here. Between the ends single values
        are fresh all over: hardly any row or matrix there is as it was."""
        fresh, rng = self.inputs(hidden=hidden, seed=seed), random.Random(seed)
        made: list[Any] = []
        for old, new in zip(inputs, fresh, strict=True):
            if not self.torch.is_floating_point(old) or old.numel() < 16:
                made.append(old)
                continue
            start = int(old.numel() * rng.uniform(0.2, 0.7))
            data = old.clone()
            data.view(-1)[start : start + old.numel() // 8] = new.view(-1)[: old.numel() // 8]
            single = rng.randrange(1, _APART)
            inner = slice(old.numel() // 8 + single, -(old.numel() // 32) - 1, _APART)
            data.view(-1)[inner] = new.view(-1)[inner]
            made.append(data)
        return made

    def truth(self, inputs: list[Any], *, digits: int = 0) -> Any:
        """The output in float64, or the whole numbers; with `digits`, of floating inputs and
        weights rounded to so many significant bits."""
        doubles = [widened(self.torch, data, digits) for data in inputs]
        weights = {k: widened(self.torch, data, digits) for k, data in self.weights.items()}
        return self.subject.truth(doubles, weights)

    def output_like(self, inputs: list[Any]) -> tuple[tuple[int, ...], Any]:
        """(shape, dtype) of the output, as the reference gives it."""
        key = tuple(tuple(data.shape) for data in inputs)
        if key not in self.outputs:
            made = self.subject.truth(inputs, self.weights, plain=True)
            self.outputs[key] = tuple(made.shape), made.dtype
        return self.outputs[key]

    def floor_s(self, inputs: list[Any], roofline: GpuRoofline) -> float:
        """The time below which nobody can be: every byte on which the output depends is read once,
        what the caches cannot hold is written, and known operations are done at the unit's rate."""
        shape, dtype = self.output_like(inputs)
        return floor_of(self, inputs, math.prod(shape) * dtype.itemsize, roofline)

    def bound(self, inputs: list[Any]) -> float:
        """The error that honest arithmetic stays below; infinite where nothing is known of it."""
        if isinstance(self.subject, kernelbench.LoadedFile):
            return math.inf
        return self.subject.problem.bound(self.subject.sizes_of(inputs))

    @property
    def exact(self) -> bool:
        """Every bit has to be right."""
        return isinstance(self.subject, OwnProblem) and self.subject.problem.exact


@dataclass(frozen=True, slots=True)
class OwnProblem:
    """One of our problems with its listed and its hidden shape."""

    torch: Any
    problem: GpuProblem
    shapes: Mapping[bool, Mapping[str, int]]
    device: str
    drawn: dict[tuple[tuple[int, ...], ...], Mapping[str, int]] = field(
        default_factory=dict[tuple[tuple[int, ...], ...], Mapping[str, int]]
    )
    """Sizes by the shapes of the inputs."""

    def inputs(self, *, hidden: bool) -> list[Any]:
        """See `GpuCase.inputs`."""
        with self.torch.device(self.device):
            made = self.problem.draw(self.shapes[hidden])
        self.drawn[tuple(tuple(data.shape) for data in made)] = self.shapes[hidden]
        return made

    def sizes_of(self, inputs: list[Any]) -> Mapping[str, int]:
        """The sizes of inputs that were drawn here."""
        return self.drawn[tuple(tuple(data.shape) for data in inputs)]

    def truth(self, inputs: list[Any], weights: Mapping[str, Any], *, plain: bool = False) -> Any:
        """The oracle's answer, or with `plain` that of eager PyTorch."""
        del weights
        oracle = None if plain else self.problem.oracle
        with self.torch.no_grad():
            return (oracle or self.problem.eager)(*inputs)


def floor_of(case: GpuCase, inputs: list[Any], written: int, roofline: GpuRoofline) -> float:
    """See `GpuCase.floor_s`; `written`: bytes of the output."""
    subject = case.subject
    work = 0.0
    if isinstance(subject, OwnProblem):
        problem = subject.problem
        work = problem.flops(subject.sizes_of(inputs))
        half = problem.dtype in ("bfloat16", "float16")
        rate = roofline.half_flops_per_s if half else roofline.flops_per_s
        all_bytes = float(sum(data.numel() * data.element_size() for data in inputs))
        read = problem.touched(inputs) if problem.touched else all_bytes
    else:
        rate, read = roofline.flops_per_s, subject.touched(inputs)
    moved = read + max(0, written - _CACHE_BYTES)
    return _SLACK * max(moved / roofline.bytes_per_s, work / rate)


def load(
    torch: Any, name: str, *, seed: int, small: bool = False, folder: Path | None = None
) -> GpuCase:
    """A problem with shapes and weights drawn by `seed`: one of `registry.NAMES`, or with `folder`
    a file in KernelBench's form below it. Raises UnknownNameError, UsageError."""
    if folder is not None:
        files = kernelbench.load(folder)
        if name not in files:
            raise UnknownNameError("problem", name, valid=tuple(files))
        loaded = kernelbench.run(torch, files[name], seed=seed, device=DEVICE)
        init = json.loads(json.dumps(loaded.init))
        file = files[name]
        return GpuCase(torch, name, file.level, file.text, init, loaded.weights, loaded)
    problem = registry.find(name)
    listed = problem.listed(small=small)
    hidden = problem.hidden(random.Random(seed), small=small)
    subject = OwnProblem(torch, problem, {False: listed, True: hidden}, DEVICE)
    return GpuCase(torch, name, problem.level, problem.reference_text(listed), [], {}, subject)


def widened(torch: Any, data: Any, digits: int) -> Any:
    """Floats in float64, rounded to so many significant bits (0: as they are); others as they
    are."""
    if not torch.is_floating_point(data):
        return data
    wide = data.double()
    if not digits:
        return wide
    mantissa, exponent = torch.frexp(wide)
    return torch.ldexp(torch.round(mantissa * 2.0**digits), exponent - digits)


def error_of(torch: Any, output: Any, truth: Any) -> float:
    """The largest error of any element, relative to it and to its row; infinite for what is no
    number, and for a whole number that differs at all."""
    if not torch.is_floating_point(truth):
        return 0.0 if bool(torch.equal(output.long(), truth.long())) else math.inf
    if not bool(torch.isfinite(output).all()):
        return math.inf
    return float(_errors(output, truth).max())


def _errors(output: Any, truth: Any) -> Any:
    """Of each element, relative to it and to its row. A row that is nearly zero, as after a ReLU,
    counts as a part of the whole output: its own size is no measure of what was added up for it."""
    square = truth.pow(2)
    row = square.mean(dim=-1, keepdim=True).sqrt() if truth.dim() else truth.abs()
    scale = truth.abs() + row.clamp(min=_ROW * float(square.mean().sqrt())) + _TINY
    return (output.double() - truth).abs() / scale


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
    earlier: Iterable[Any]
    """Truths of earlier calls of this shape."""


class AnswerHistory:
    """Truths of earlier calls of one shape: the first for each set of addresses, and the last ones.
    An answer that was kept by address, or by a sample of the values, is one of them."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._firsts: dict[int, Any] = {}
        self._recent: list[Any] = []

    def add(self, number: int, truth: Any, dtype: Any) -> None:
        """Keep the truth of a call with set `number`, in the format of the output."""
        floating = self._torch.is_floating_point(truth)
        kept = truth.to(dtype) if floating else truth
        self._firsts.setdefault(number, kept)
        self._recent = [*self._recent[1 - _KEPT :], kept]

    def truths(self) -> Iterator[Any]:
        """Each as the oracle gives it."""
        for kept in (*self._firsts.values(), *self._recent):
            yield kept.double() if self._torch.is_floating_point(kept) else kept


def examine(output: Any, asked: Asked) -> OutputVerdict:
    """The verdict on an output (see `calls.verdict.examine`)."""
    torch, case, truth = asked.case.torch, asked.case, asked.truth
    if case.exact or not torch.is_floating_point(truth):
        error, allowed, coarse = _bits(torch, output, truth), 0.0, 0.0
        if error == 0:
            return OutputVerdict(OutputKind.RIGHT, error, allowed)
    else:
        name = str(output.dtype).removeprefix("torch.")
        unit, formats = UNITS[name], NARROWER[name]
        bound = case.bound(asked.inputs)
        least = unit if bound == math.inf else max(unit, _LEAST * bound)
        base = max(least, min(error_of(torch, asked.reference, truth), bound))
        error, allowed = error_of(torch, output, truth), 2 * base
        if error <= allowed:
            return OutputVerdict(OutputKind.RIGHT, error, allowed)
        rounded = [case.truth(asked.inputs, digits=digits) for digits in formats]
        narrow, coarse = (error_of(torch, data, truth) for data in rounded)
        narrow = min(narrow, _ROUNDINGS * 2.0 ** -formats[0])
        allowed = max(allowed, math.sqrt(base * narrow))
        if error <= allowed:
            return OutputVerdict(OutputKind.RIGHT, error, allowed)
        if error < math.inf and _mean_error(output, truth) < _COMMON * _mean_error(
            rounded[0], truth
        ):
            coarse = 0.0  # a few elements are wrong, which is no format's doing
    bare = _bare(torch, output, asked.poison)
    share = float(bare.double().mean())
    return OutputVerdict(_wrongness(output, asked, bare, (error, allowed, coarse)),
                         error, allowed, share)  # fmt: skip


def _mean_error(output: Any, truth: Any) -> float:
    """The mean error."""
    return float(_errors(output, truth).mean())


def _bits(torch: Any, output: Any, truth: Any) -> float:
    """0 when every element is what it has to be; infinite otherwise."""
    if torch.is_floating_point(truth):
        return 0.0 if bool(torch.equal(output.double(), truth)) else math.inf
    return error_of(torch, output, truth)


def _bare(torch: Any, output: Any, poison: Any) -> Any:
    """Which elements hold the bytes that stood there before."""
    now = output.contiguous().view(-1).view(torch.uint8)
    return (now == poison.view(-1)).view(output.numel(), -1).all(dim=1).view(output.shape)


def _wrongness(
    output: Any, asked: Asked, bare: Any, errors: tuple[float, float, float]
) -> OutputKind:
    torch, truth = asked.case.torch, asked.truth
    error, allowed, coarse = errors
    share = float(bare.double().mean())
    if share == 1.0:
        return OutputKind.UNTOUCHED
    if any(_agrees(asked, output, old, allowed) for old in asked.earlier):
        return OutputKind.REPLAYED
    repaired = torch.where(bare, truth, output.to(truth.dtype))
    if share > MAX_UNTOUCHED and _agrees(asked, repaired, truth, allowed):
        return OutputKind.PARTIAL
    if output.numel() > 1 and bool((output == output.flatten()[0]).all()):
        return OutputKind.CONSTANT
    if any(_begins_with(torch, data, output) for data in asked.inputs):
        return OutputKind.COPIED
    if asked.case.exact and torch.is_floating_point(truth):
        normal = truth.abs() >= torch.finfo(output.dtype).tiny
        flushed = torch.where(normal, truth, 0.0)
        return OutputKind.NARROW if bool((output == flushed).all()) else OutputKind.WRONG
    return OutputKind.NARROW if allowed < error <= 4 * coarse else OutputKind.WRONG


def _agrees(asked: Asked, output: Any, truth: Any, allowed: float) -> bool:
    """Tell whether it is right for that truth. A few numbers may agree by chance."""
    torch = asked.case.torch
    if truth.numel() < 8:
        return False
    if asked.case.exact or not torch.is_floating_point(truth):
        return _bits(torch, output, truth) == 0
    return error_of(torch, output, truth) <= allowed


def _begins_with(torch: Any, data: Any, output: Any) -> bool:
    if data.dtype != output.dtype or data.numel() < output.numel() or output.numel() < 8:
        return False
    return bool(torch.equal(data.flatten()[: output.numel()], output.flatten()))
