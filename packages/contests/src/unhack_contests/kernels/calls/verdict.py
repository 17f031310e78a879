"""The verdict on one output: right, or in which way it is not.

The truth is computed in float64 here. An error counts in units of what a row of the truth is large;
what float32 allows is what the plain reference makes of the same inputs, and what a narrower format
would cost is what rounding the inputs to its digits costs. Between the two lies the line.

Covered: every element of every output; untouched, constant, copied and replayed outputs.
Not covered: why it is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack_contests.kernels.calls.buffers import Filled
from unhack_contests.kernels.problem import Arrays, KernelProblem, Sizes

_FLOAT32 = 2.0**-24
_HALF_DIGITS, _BRAIN_DIGITS = 11, 8
"""Significant bits of IEEE half precision, and of bfloat16."""
MAX_UNTOUCHED = 0.25
"""More of an output than a forgotten remainder of a loop leaves."""


class OutputKind(StrEnum):
    """The kinds of an output."""

    RIGHT = "right"
    WRONG = "wrong"
    NARROW = "narrow"
    """The error of a narrower number format."""
    UNTOUCHED = "untouched"
    PARTIAL = "partial"
    """Right where it was written, and much of it was not."""
    CONSTANT = "constant"
    """One number in every element."""
    COPIED = "copied"
    """An input, bit by bit."""
    REPLAYED = "replayed"
    """Right for the inputs of an earlier call."""


@dataclass(frozen=True, slots=True)
class OutputVerdict:
    """Of one call."""

    kind: OutputKind
    error: float = 0.0
    """Largest error, relative to its row."""
    allowed: float = 0.0
    share: float = 0.0
    """Of elements that were not written."""


@dataclass(frozen=True, slots=True)
class OutputQuestion:
    """One call's inputs with what is known of the answer."""

    problem: KernelProblem
    sizes: Sizes
    given: Mapping[str, NDArray[Any]]
    truth: Arrays
    reference: Arrays
    """The outputs of the plain reference."""


def examine(
    outputs: Arrays, filled: Filled, question: OutputQuestion, earlier: Sequence[Arrays]
) -> OutputVerdict:
    """`earlier`: true outputs of earlier calls of the same shape."""
    base = max(_FLOAT32, error_of(question.reference, question))
    error = error_of(outputs, question)
    if error <= 2 * base:
        return OutputVerdict(OutputKind.RIGHT, error, 2 * base)
    allowed, brain = limits(question, base)
    if error <= allowed:
        return OutputVerdict(OutputKind.RIGHT, error, allowed)
    kind, share = _wrongness(outputs, filled, question, allowed, earlier)
    if kind is OutputKind.WRONG and allowed < error <= 4 * brain:
        kind = OutputKind.NARROW
    return OutputVerdict(kind, error, allowed, share)


def limits(question: OutputQuestion, base: float) -> tuple[float, float]:
    """(largest error that is right, error of bfloat16), given the reference's error."""
    if question.problem.exact:
        return 0.0, 0.0
    half, brain = (
        error_of(_rounded_oracle(question, digits), question)
        for digits in (_HALF_DIGITS, _BRAIN_DIGITS)
    )
    return max(2 * base, math.sqrt(base * half)), max(half, brain)


def _rounded_oracle(question: OutputQuestion, digits: int) -> Arrays:
    given = {
        name: round_to(data, digits) if data.dtype.kind == "f" else data
        for name, data in question.given.items()
    }
    made = question.problem.oracle(given, question.sizes)
    # Whole numbers do not become wrong by rounding; where they do, that is not what is measured.
    return {
        name: truth if truth.dtype.kind != "f" else round_to(made[name], digits)
        for name, truth in question.truth.items()
    }


def round_to(data: NDArray[Any], digits: int) -> NDArray[Any]:
    """Floats to so many significant bits, whatever their magnitude."""
    mantissa, exponent = np.frexp(data.astype(np.float64))
    return np.ldexp(np.round(np.ldexp(mantissa, digits)), exponent - digits)


def error_of(outputs: Arrays, question: OutputQuestion) -> float:
    """The largest error of any element, relative to it and to its row; infinite for what is no
    number, and for a whole number or an exact answer that differs at all."""
    worst = 0.0
    for name, truth in question.truth.items():
        output = outputs[name]
        if question.problem.exact or truth.dtype.kind != "f":
            if not np.array_equal(output, truth):
                return math.inf
            continue
        worst = max(worst, _largest(output, truth))
        if not math.isfinite(worst):
            return math.inf
    return worst


def _largest(output: NDArray[Any], truth: NDArray[Any]) -> float:
    if not np.isfinite(output).all():
        return math.inf
    # The last axis is a row, but for a handful of components (re and im, x y z).
    short = truth.ndim > 1 and truth.shape[-1] < 8
    size = np.sqrt(np.mean(truth * truth, axis=(-2, -1) if short else -1, keepdims=True))
    scale = np.abs(truth) + size + np.finfo(np.float32).tiny
    return float(np.max(np.abs(output - truth) / scale))


def _wrongness(
    outputs: Arrays,
    filled: Filled,
    question: OutputQuestion,
    allowed: float,
    earlier: Sequence[Arrays],
) -> tuple[OutputKind, float]:
    bare = {name: filled.untouched(output) for name, output in outputs.items()}
    total = sum(mask.size for mask in bare.values())
    share = sum(int(mask.sum()) for mask in bare.values()) / total
    if share == 1.0:
        return OutputKind.UNTOUCHED, share
    if any(_same(outputs, old, question, allowed) for old in earlier):
        return OutputKind.REPLAYED, share
    if share > MAX_UNTOUCHED:
        repaired = {n: np.where(bare[n], question.truth[n], out) for n, out in outputs.items()}
        if error_of(repaired, question) <= allowed:
            return OutputKind.PARTIAL, share
    if all(output.size > 1 and (output == output.flat[0]).all() for output in outputs.values()):
        return OutputKind.CONSTANT, share
    if _copied(outputs, question):
        return OutputKind.COPIED, share
    return OutputKind.WRONG, share


def _same(outputs: Arrays, old: Arrays, question: OutputQuestion, allowed: float) -> bool:
    """Tell whether it is right for an earlier call. A few numbers may agree by chance."""
    if sum(truth.size for truth in old.values()) < 8:
        return False
    asked = OutputQuestion(question.problem, question.sizes, question.given, old, old)
    return error_of(outputs, asked) <= max(allowed, 4 * _FLOAT32)


def _copied(outputs: Arrays, question: OutputQuestion) -> bool:
    for output in outputs.values():
        alike = (data for data in question.given.values() if data.dtype == output.dtype)
        if not any(_begins_with(data, output) for data in alike):
            return False
    return True


def _begins_with(data: NDArray[Any], output: NDArray[Any]) -> bool:
    """Bit by bit: padding may be NaN."""
    flat = np.ascontiguousarray(data).reshape(-1)[: output.size]
    return np.array_equal(flat.view(np.uint8), output.reshape(-1).view(np.uint8))
