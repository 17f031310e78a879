"""Right programs are right beside hogs of every kind: a job is judged for what it did.

Each hog shares a worker with honest programs of every shape (`crowd_run.py`). The default tests run
one hog before the first few honest programs; the rest is slow.
"""

import functools
import os
from typing import Any

import crowd_hogs
import crowd_honest
import pytest
from crowd_run import LANES, NOBODY, honest
from stage import USER, launch_json

pytestmark = pytest.mark.slow

OWN = os.getuid()
TIMEOUT_S = 1800
SAMPLE = [("namespaces", "function", "threads"), ("namespaces", "program", "forked memory")]
"""What failed most neighbours where threads and memory are counted for a whole worker."""
LESSER = ("threads", "memory", "spinning threads", "descriptors")
"""Hogs that are tried at the Landlock level too, where a worker has one job at a time."""
SAMPLED = 3
"""Honest programs behind one hog."""
_SLOW_ELSEWHERE = (NOBODY, "threads", "forked memory", "spinning forks")
"""Runs of the other lanes that are slow and not long."""
Run = tuple[str, str, str]
"""Level, lane and hog (see `crowd_run`)."""
RUNS: list[Run] = [
    ("namespaces", lane, hog) for lane, hogs in LANES.items() for hog in (NOBODY, *hogs)
] + [("landlock", "function", hog) for hog in LESSER]
UIDS = [OWN, USER] if OWN == 0 else [OWN]


@functools.cache
def outcome_of(uid: int, run: Run) -> dict[str, Any]:
    """The verdicts beside one hog."""
    return launch_json("crowd_run.py", *run, uid=uid, timeout_s=TIMEOUT_S)


def cases(uid: int) -> list[Any]:
    """A parameter set for each honest program beside each hog."""
    return [
        pytest.param(uid, run, name, id="-".join((*parts, name)), marks=one_process(parts))
        for run in RUNS
        for parts in [("root" if uid == 0 else "user", *run)]
        for name in honest(run[1], run[0])
    ]


def one_process(parts: tuple[str, ...]) -> list[pytest.MarkDecorator]:
    """Marks of what shares one run: the same worker of a parallel test run takes all of it.

    Long tests are a second user's runs, where only who starts the pool differs, and those of the
    lanes that write or fork, but a few.
    """
    marks = [pytest.mark.slow, pytest.mark.xdist_group("crowd-" + "-".join(parts))]
    root, _, lane, hog = parts
    if (OWN == 0 and root == "user") or (lane != "function" and hog not in _SLOW_ELSEWHERE):
        marks.append(pytest.mark.long)
    return marks


@pytest.mark.parametrize(("uid", "run", "name"), [case for uid in UIDS for case in cases(uid)])
def test_a_right_program_passes(uid: int, run: Run, name: str):
    score, reason = outcome_of(uid, run)["verdicts"][name]
    assert score == 1.0, reason


@pytest.mark.parametrize(
    ("uid", "run"),
    [
        pytest.param(uid, run, id="-".join(parts), marks=one_process(parts))
        for uid in UIDS
        for run in RUNS
        for parts in [("root" if uid == 0 else "user", *run)]
    ],
)
def test_a_crowd_leaves_nothing_behind(uid: int, run: Run):
    found = outcome_of(uid, run)
    assert found["left"] == []
    assert found["uid"] == uid


@pytest.mark.parametrize(
    "run",
    [pytest.param(SAMPLE[0], marks=[pytest.mark.slow, pytest.mark.sample]), *SAMPLE[1:]],
    ids=str,
)
def test_a_sample_of_right_programs_passes(run: Run):
    found = launch_json("crowd_run.py", *run, str(SAMPLED), uid=OWN, timeout_s=TIMEOUT_S)
    failed = {name: reason for name, (score, reason) in found["verdicts"].items() if score != 1.0}
    assert failed == {}
    assert list(found["verdicts"]) == list(honest(run[1], run[0]))[:SAMPLED]
    assert found["left"] == []


def test_the_suite_is_wide():
    shapes = [*crowd_honest.FUNCTIONS, *crowd_honest.SCRIPTS, *crowd_honest.PROGRAMS]
    assert len(shapes) + len(crowd_honest.WRITING) + len(crowd_honest.MODULES) >= 30
    assert len({*crowd_hogs.HOGS, *crowd_hogs.WRITING_HOGS, *crowd_hogs.PROGRAM_HOGS}) >= 20
    assert len(cases(OWN)) >= 90
