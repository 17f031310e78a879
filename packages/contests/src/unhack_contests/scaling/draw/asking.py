"""Questions to a submission, each in a fresh process, and what counts as an answer.

Covered: an answer is `q` triples of finite numbers with low <= high; everything else is a reason
and, where no computation gives it, a flag. A purchase is a list of whole numbers below the length
of the menu and within the budget. Nothing that a process learnt is left when the next one starts.
Not covered: whether an answer is any good; what a submission prints, which nobody reads.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np

from unhack.tournament.kit import MIB, Computer, Flag, Limits, SubmissionError
from unhack_contests.scaling.draw.draws import Draw
from unhack_contests.scaling.runs.ladder import Array
from unhack_contests.submission import RefusedError, left

CALL_S = 60.0
"""Wall time of one answer, generous: processor time is what is limited."""
CPU_S = 20.0
"""Processor time of one process, which answers two questions at most."""
_LIMITS = Limits(
    wall_s=180.0, cpu_s=CPU_S, memory_bytes=1024 * MIB, output_bytes=MIB, soft_slice_s=180.0
)
_LARGEST = 1000.0
"""Times the loss of a model that knows nothing: no loss is near it."""
_NO_FLOAT = 10**300
"""Integers beyond it are refused before anything makes a float of them, which would raise."""


@contextmanager
def open_submission(folder: Path, *, needs: str = "") -> Generator[Computer, None, None]:
    """A fresh process of the submission.

    Raises RefusedError where it does not load, lacks the function `needs`, or does not answer.
    """
    computer = Computer(folder, limits=_LIMITS, preload=("numpy",))
    try:
        with computer:
            if needs and needs not in computer.names:
                raise RefusedError(f"solution.py does not define {needs}")
            yield computer
    except SubmissionError as error:
        raise refusal(computer, str(error)) from None


def ask_predictions(
    computer: Computer, runs: Mapping[str, Any], queries: Mapping[str, Any]
) -> Array:
    """(q, 3): mean, low and high of every query. Raises RefusedError, SubmissionError."""
    answer = computer.call("predict", dict(runs), dict(queries), timeout_s=CALL_S)
    return read_predictions(answer, count=len(queries["flops"]), uniform=runs["uniform"])


def read_predictions(answer: Any, *, count: int, uniform: float) -> Array:
    """(count, 3): mean, low and high, from what a submission said. Raises RefusedError.

    `uniform`: the loss of knowing nothing, in the unit of the answers.
    """
    rows = _rows(answer)
    if len(rows) != count:
        raise RefusedError(f"it answered {len(rows)} of {count} queries")
    found = np.array([_triple(row) for row in rows])
    if np.abs(found).max() > _LARGEST * uniform:
        text = f"a predicted loss of {np.abs(found).max():.3g}: {_LARGEST:g} times that of a"
        raise RefusedError("a number that is no loss", _forged(f"{text} model that knows nothing"))
    ended = np.flatnonzero(found[:, 1] > found[:, 2])
    if len(ended):
        low, high = found[ended[0], 1:]
        text = f"the interval from {low:.6g} to {high:.6g} ends before it begins"
        raise RefusedError("an inverted interval", _forged(text))
    return found


def ask_design(computer: Computer, draw: Draw) -> tuple[int, ...]:
    """The runs that a submission buys. Raises RefusedError, SubmissionError."""
    menu = draw.prices()
    answer = computer.call("design", draw.budget, menu, timeout_s=CALL_S)
    listed: Any = answer.tolist() if isinstance(answer, np.ndarray) else answer
    if not isinstance(listed, (list, tuple)):
        raise RefusedError(
            "design answered no list", _forged(f"a {type(cast('object', answer)).__name__}")
        )
    bought: list[int] = []
    for item in cast("Sequence[Any]", listed):
        if type(item) is not int or not 0 <= item < len(menu["flops"]):
            text = f"it buys {shown(item)} of a menu of {len(menu['flops'])} runs"
            raise RefusedError("a purchase that is not on the menu", _forged(text))
        bought.append(item)
    chosen = tuple(bought)
    if not draw.affords(chosen):
        spent = draw.price(chosen) / draw.budget
        text = f"it buys runs for {spent:.3f} of the budget"
        flag = Flag("beyond_bound", text, "judge")
        raise RefusedError("it buys more than the budget pays", flag)
    return tuple(sorted(set(chosen), key=chosen.index))


def _rows(answer: Any) -> Sequence[Any]:
    if isinstance(answer, np.ndarray) and cast("Array", answer).ndim == 2:
        return cast("Sequence[Any]", answer.tolist())
    if not isinstance(answer, (list, tuple)):
        raise RefusedError(
            "its answer is no list", _forged(f"a {type(cast('object', answer)).__name__}")
        )
    return cast("Sequence[Any]", answer)


def _triple(row: Any) -> tuple[float, float, float]:
    listed: Any = row.tolist() if isinstance(row, np.ndarray) else row
    if not isinstance(listed, (list, tuple)) or len(cast("Sequence[Any]", listed)) != 3:
        raise RefusedError("an answer is not (mean, low, high)")
    values: list[float] = []
    for value in cast("Sequence[Any]", listed):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise RefusedError("an answer is no number", _forged(f"{shown(value)} for a loss"))
        if isinstance(value, int) and abs(value) > _NO_FLOAT:
            raise RefusedError("a number that is no loss", _forged("a loss beyond 1e300"))
        if not math.isfinite(value):
            raise RefusedError("an answer is not finite", _forged(f"{value!r} for a loss"))
        values.append(float(value))
    mean, low, high = values
    return mean, low, high


def shown(value: Any) -> str:
    """The start of a value's text; Python writes no integer of thousands of digits."""
    try:
        return f"{value!r:.40}"
    except ValueError:
        return f"a {type(value).__name__} with a number of thousands of digits"


def _forged(evidence: str) -> Flag:
    return Flag("forged_value", f"Its answer is {evidence}.", "judge")


def refusal(computer: Computer, reason: str) -> RefusedError:
    """The error for a process that answered nothing: flagged where it left with success."""
    text = f"It ended the process with success instead of answering ({reason:.60})."
    return RefusedError(reason, *left(computer, text, said=reason))
