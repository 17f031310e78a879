"""Shared fixtures: one pool for the session, limits that end quickly, and ways to run things."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing
from typing import Any

import pytest
from hypothesis import settings

from unhack.core import plain
from unhack.core.problem import Problem
from unhack.core.verdict import Verdict
from unhack.sandbox.job import Job, Outcome, Profile, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.pool.worker_start import SLOTS
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers import jobs
from unhack.verifiers.base import Verifier

# A runner of several workers gives them its terminal's width; output is tested at its own.
os.environ.pop("COLUMNS", None)

# A worker of the runner has a core. Every worker of a pool that it does not need is an interpreter
# that starts in vain: many tests bring code of their own, for which the pool starts anew.
os.environ.setdefault(SLOTS, "1")

settings.register_profile("unhack", deadline=None, database=None, derandomize=True)
settings.load_profile("unhack")

_HANG_S = 60.0
"""Nothing here takes this long: what does is stuck."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: many tests wait for a clock or a process."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_configure() -> None:
    """Nothing that is collected is let go: looking through it costs a quarter of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From here on tests alone make garbage; what was collected is never looked through again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is long is slow too; a sample is slow, and not long."""
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.slow)
    wrong = [
        item.nodeid
        for item in items
        if item.get_closest_marker("sample")
        and (item.get_closest_marker("long") or not item.get_closest_marker("slow"))
    ]
    if wrong:
        raise pytest.UsageError(f"a sample is slow and not long, but not {', '.join(wrong)}")


@pytest.fixture(scope="session")
def pool() -> Generator[Pool]:
    """A pool that all tests of a process share; rooms that need two slots have their own."""
    with closing(Pool(slots=1)) as made:
        yield made


@pytest.fixture(scope="session")
def quick() -> Limits:
    """Limits that end a loop soon, and that no honest job of the tests comes near."""
    return Limits(wall_s=2.0, cpu_s=2.0, memory_bytes=256 << 20)


@pytest.fixture(scope="session")
def calls_job() -> Callable[..., Job]:
    """`calls_job(source, args, ...)`: a job that calls `f` of `source` once for each `args`."""

    def make(
        source: str,
        *arguments: Sequence[Any],
        limits: Limits = Limits(),
        profile: Profile = Profile(),  # noqa: B008
        each: bool = False,
    ) -> Job:
        calls = [[[plain.encode_tags(item) for item in args], {}] for args in arguments or [()]]
        template = jobs.CallsTemplate("f", calls, limits=limits, profile=profile, each=each)
        return template.job(source)

    return make


@pytest.fixture(scope="session")
def value_of() -> Callable[[Outcome], Any]:
    """`value_of(outcome)`: what the first call of a calls job returned; ("raised", names) if it
    did not."""

    def read(outcome: Outcome) -> Any:
        lines = jobs.result_lines(outcome.result)
        assert lines, f"no answer: {outcome}"
        if lines[0][1] == "ok":
            return plain.decode_tags(lines[0][2])
        return ("raised", lines[0][2])

    return read


@pytest.fixture(scope="session")
def evaluate(
    pool: Pool, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
) -> Callable[..., Any]:
    """`evaluate(source, *args)`: what `f(*args)` of `source` returns inside the sandbox."""

    def run(source: str, *args: Any, **options: Any) -> Any:
        return value_of(run_one(pool, calls_job(source, args, **options)))

    return run


@pytest.fixture(scope="session")
def score(pool: Pool) -> Callable[..., Verdict]:
    """`score(verifier, completion)`: the verdict on one completion."""

    def run(verifier: Verifier, completion: str, *, reference: str | None = None) -> Verdict:
        task = Task(Problem("p", "prompt", reference=reference), verifier)
        return run_batch(task, [completion], backend=pool).verdicts[0]

    return run


@pytest.fixture(scope="session")
def unless_it_hangs() -> Callable[..., Any]:
    """`unless_it_hangs(function)`: its value or exception; fails when it does not come back."""

    def run(function: Callable[[], Any], *, timeout_s: float = _HANG_S) -> Any:
        found: dict[str, Any] = {}

        def work() -> None:
            try:
                found["value"] = function()
            except BaseException as error:
                found["error"] = error

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(timeout_s)
        assert found, f"still waiting after {timeout_s} seconds"
        if "error" in found:
            raise found["error"]
        return found["value"]

    return run


@pytest.fixture(scope="session")
def no_descriptor_left() -> Callable[[], AbstractContextManager[None]]:
    """`with no_descriptor_left():` as many descriptors are open after the block as before it.

    What other threads hold for a moment, or what earlier tests dropped, is no leak: a leak stays.
    """

    def count() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    @contextlib.contextmanager
    def check() -> Generator[None]:
        before = count()
        yield
        deadline = time.monotonic() + _HANG_S
        while count() > before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert count() <= before

    return check
