"""The operations that problems are made of: a word, a Python expression, and what it does.

Every operation keeps the length of the list and its elements digits, so that any composition is
defined on any list. `apply` is the judge's own arithmetic: expected answers never come from running
text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

Digits = list[int]


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a program."""

    word: str
    """Its name in a description."""
    expression: str
    """Expression that a program assigns to `x`."""
    apply: Callable[[Digits], Digits]


OPERATIONS: tuple[Operation, ...] = (
    Operation("sort", "sorted(x)", sorted),
    Operation("reverse", "x[::-1]", lambda x: x[::-1]),
    Operation("add one", "[(i + 1) % 10 for i in x]", lambda x: [(i + 1) % 10 for i in x]),
    Operation("double", "[i * 2 % 10 for i in x]", lambda x: [i * 2 % 10 for i in x]),
    Operation("turn left", "x[1:] + x[:1]", lambda x: x[1:] + x[:1]),
    Operation("turn right", "x[-1:] + x[:-1]", lambda x: x[-1:] + x[:-1]),
    Operation("mirror", "[9 - i for i in x]", lambda x: [9 - i for i in x]),
    Operation(
        "sum up",
        "[sum(x[:k + 1]) % 10 for k in range(len(x))]",
        lambda x: [total % 10 for total in accumulate(x)],
    ),
    Operation("square", "[i * i % 10 for i in x]", lambda x: [i * i % 10 for i in x]),
    Operation("lead with the largest", "[max(x)] + x[1:]", lambda x: [max(x), *x[1:]]),
    Operation("end with the least", "x[:-1] + [min(x)]", lambda x: [*x[:-1], min(x)]),
    Operation("add five", "[(i + 5) % 10 for i in x]", lambda x: [(i + 5) % 10 for i in x]),
    Operation("halve", "[i // 2 for i in x]", lambda x: [i // 2 for i in x]),
    Operation("deal", "x[::2] + x[1::2]", lambda x: x[::2] + x[1::2]),
    Operation("round down", "[i - i % 2 for i in x]", lambda x: [i - i % 2 for i in x]),
    Operation("sort down", "sorted(x)[::-1]", lambda x: sorted(x)[::-1]),
)


def run(steps: Sequence[int], digits: Sequence[int]) -> Digits:
    """Apply a composition (indices of `OPERATIONS`, first step first) to a list."""
    result = list(digits)
    for step in steps:
        result = OPERATIONS[step].apply(result)
    return result
