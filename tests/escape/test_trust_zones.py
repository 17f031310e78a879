"""Which of our modules a process of each kind has loaded, however they were loaded.

The import contracts see import statements. Here the processes themselves are asked.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from unhack.sandbox.job import Job, Kind, Outcome, Profile, Role, run_one
from unhack.sandbox.pool.pool import Pool

LOADED = """
import sys
def f():
    return sorted(name for name in sys.modules if name.partition(".")[0] == "unhack")
"""
GUEST = "unhack.sandbox.guest"
BLIND = (
    "unhack", "unhack.core", "unhack.core.plain", "unhack.core.value_types",
    "unhack.core.errors", "unhack.sandbox", GUEST, f"{GUEST}.candidate", f"{GUEST}.server",
    "unhack.sandbox.linux",
)  # fmt: skip
"""Packages that hold no secret: what a process beside a completion may have."""
ZONES = ("candidate", "server")
KINDS = (Kind.FUNCTION, Kind.SCRATCH, Kind.PROGRAM)


def strangers(names: list[str], *, zones: tuple[str, ...] = ZONES) -> list[str]:
    """The modules that no process of these zones may have."""
    folders = (*(f"{GUEST}.{zone}" for zone in zones), "unhack.sandbox.linux")
    inside = tuple(f"{folder}." for folder in folders)
    return [
        name for name in names
        if name not in (*BLIND, *folders) and not name.startswith(inside)
    ]  # fmt: skip


@pytest.fixture
def loaded(
    calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
) -> Callable[[Any, Profile], list[str]]:
    """`loaded(backend, profile)`: our modules in a job of that profile."""

    def ask(backend: Any, profile: Profile) -> list[str]:
        names: list[str] = value_of(run_one(backend, calls_job(LOADED, profile=profile)))
        return names

    return ask


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_beside_a_completion_has_no_module_that_knows_answers(
    pool: Pool, loaded: Callable[[Any, Profile], list[str]], kind: Kind
) -> None:
    names = loaded(pool, Profile(kind=kind))
    assert strangers(names) == []
    assert f"{GUEST}.candidate.runner" in names


def test_a_judge_has_the_modules_that_a_candidate_lacks(
    pool: Pool, loaded: Callable[[Any, Profile], list[str]]
) -> None:
    names = loaded(pool, Profile(role=Role.JUDGE))
    assert strangers(names, zones=(*ZONES, "judge", "reward")) == []
    assert f"{GUEST}.judge.modes" in strangers(names)


def test_the_first_process_of_an_agents_tree_loads_the_kernels_calls_alone() -> None:
    code = (
        "import sys, unhack.sandbox.guest.server.init\n"
        "print(*(name for name in sys.modules if name.partition('.')[0] == 'unhack'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert strangers(done.stdout.split(), zones=("server",)) == []
