"""Fresh inputs for every call, and now and then inputs that look like those of an earlier one.

Covered: data from a secret seed; sizes that are not in the statement; magnitudes from a thousandth
to a thousandfold and subnormal numbers among them; twins, which share their beginning or their end
with an earlier call's inputs, so that a part of the input does not tell which it is.
Not covered: non-finite inputs; no problem defines what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from unhack_contests.kernels.calls import buffers
from unhack_contests.kernels.problem import Arrays, KernelProblem, Sizes

_LAYOUTS = 3
"""Each is used by several calls: fresh inputs at a known address."""
_SUBNORMAL = np.float32(1e-40)


@dataclass(frozen=True, slots=True)
class CallGroup:
    """Calls of one problem at one shape."""

    problem: KernelProblem
    sizes: Sizes
    hidden: bool
    calls: int
    layouts: tuple[buffers.Layout, ...]

    @property
    def name(self) -> str:
        return self.problem.name + (".hidden" if self.hidden else "")


@dataclass(frozen=True, slots=True)
class CallTurn:
    """One call to come."""

    group: CallGroup
    number: int
    """For poison and fences."""
    layout: buffers.Layout
    alike: str
    """`beginning` or `end`: what it shares with the inputs before it; empty for nothing."""


def groups(
    problems: list[KernelProblem], rng: Generator, *, small: bool, listed: int, hidden: int
) -> list[CallGroup]:
    """Two for each problem: the sizes of the statement and others."""
    found: list[CallGroup] = []
    for problem in problems:
        for concealed, calls in ((False, listed), (True, hidden)):
            sizes = problem.hidden(rng, small=small) if concealed else problem.listed(small=small)
            layouts = tuple(buffers.layout(problem, sizes, rng) for _ in range(_LAYOUTS))
            found.append(CallGroup(problem, sizes, concealed, calls, layouts))
    return found


def schedule(made: list[CallGroup], rng: Generator) -> list[CallTurn]:
    """All calls in random order: nothing tells what is checked, warmed up or timed."""
    order = rng.permutation([i for i, group in enumerate(made) for _ in range(group.calls)])
    seen = [0] * len(made)
    turns: list[CallTurn] = []
    for index in map(int, order):
        group, before = made[index], seen[index]
        seen[index] += 1
        alike = ("", "", "beginning", "", "", "end")[before % 6]
        layout = group.layouts[before % _LAYOUTS]
        turns.append(CallTurn(group, int(rng.integers(1, 1 << 21)), layout, alike))
    return turns


def fresh(group: CallGroup, rng: Generator) -> Arrays:
    """Inputs drawn anew."""
    given = group.problem.draw(rng, group.sizes)
    if not group.hidden:
        return given
    factor = np.float32(rng.choice([1e-3, 1.0, 1e3]))
    for array in group.problem.inputs:
        if array.scaled:
            data = given[array.name] * factor
            data[rng.random(data.shape, np.float32) < 0.01] = _SUBNORMAL
            given[array.name] = data
    return given


def twin(
    group: CallGroup, before: Mapping[str, NDArray[Any]], rng: Generator, *, alike: str
) -> Arrays:
    """Fresh inputs that share their beginnings, or their ends, with `before`."""
    given = fresh(group, rng)
    share = rng.uniform(0.25, 0.75)
    for array in group.problem.inputs:
        if not array.free and not array.scaled:
            continue
        old = before[array.name].reshape(-1)
        new = given[array.name].reshape(-1)
        cut = int(old.size * share)
        part = slice(None, cut) if alike == "beginning" else slice(cut, None)
        new[part] = old[part]
        given[array.name] = new.reshape(given[array.name].shape)
    return given
