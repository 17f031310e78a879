"""Two shards of one worker, for all tests of a process, and the tasks that they judge."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from unhack.core.problem import Problem
from unhack.sandbox.limits import Limits
from unhack.tasks.execution.shards.executor import ShardsExecutor
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier


@pytest.fixture(scope="session")
def shards() -> Generator[ShardsExecutor]:
    """Two shards with a worker each."""
    made = ShardsExecutor(shards=2, slots=2)
    yield made
    made.close()


@pytest.fixture(scope="session")
def squares() -> Task:
    """`f(n)` is the square of n."""
    limits = Limits(wall_s=20.0, cpu_s=20.0, memory_bytes=256 << 20)
    cases = tuple(Case((n,), expected=n * n) for n in range(3))
    return Task(Problem("squares", ""), FunctionVerifier("f", cases, limits=limits))


@pytest.fixture(scope="session")
def sources() -> Callable[..., list[str]]:
    """`sources(count)`: different completions of `squares`, of which every third is wrong."""

    def make(count: int, *, before: str = "pass") -> list[str]:
        head = f"import time\ndef f(n):\n    {before}\n    return n * n"
        return [f"{head}{' + 1' * (k % 3 == 0)}  # {k}\n" for k in range(count)]

    return make
