"""No hostile program of the corpus wins, breaks a neighbour or leaves anything behind.

The whole corpus runs once per user and isolation level, in a process of its own (`sealed_run.py`);
each claim is then held against what came of it there. The suite refuses to start unless honest
jobs of every kind pass on that level. The default tests run a sample of every family on the first
level; a sample on the other levels, and the rest, are slow, or long.
"""

import functools
import os
import re
from typing import Any

import pytest
from corpus import load_corpus
from sealed_run import REPEATED, REPEATS, can_hold, isolation_of
from stage import USER, launch_json

PROGRAMS = {program.id: program for program in load_corpus()}
TIMEOUT_S = 1800
MAX_MEMORY_GROWN_BYTES = 256 << 20
"""Of the host process, over the whole run; the corpus sends it gigabytes."""
VISIBLE_WITHOUT_NAMESPACES = {
    "read_secrets/cannot_see_that_the_secret_file_exists": "Landlock does not hide metadata",
}
"""What the weaker level cannot stop, with the reason; it must stay what it is."""

Run = tuple[int, str]
"""uid and level (see `sealed_run`)."""
OWN = os.getuid()
RUNS: list[Run] = [(OWN, "namespaces"), (OWN, "landlock"), (OWN, "script")]
if OWN == 0:
    RUNS += [(USER, "namespaces"), (USER, "landlock"), (USER, "script")]
SAMPLED = 16
"""The default tests run one program in so many."""


def name_of(run: Run) -> str:
    """For test ids."""
    return f"{'root' if run[0] == 0 else 'user'}-{run[1]}"


def marked(run: Run, *values: Any, name: str = "") -> Any:
    """A parameter set of a run; those of a second user on the lesser levels, where only who starts
    the pool differs, are long."""
    test_id = f"{name_of(run)}-{name}" if name else name_of(run)
    one_process = pytest.mark.xdist_group(f"escapes-{name_of(run)}")
    second = OWN == 0 and run[0] != OWN and run[1] != "namespaces"
    size = pytest.mark.long if second else pytest.mark.slow
    return pytest.param(run, *values, id=test_id, marks=[size, one_process])


@functools.cache
def outcome_of(run: Run, pattern: str = "") -> dict[str, Any] | str:
    """What came of the programs like `pattern` on this level; a text says why none ran."""
    uid, level = run
    try:
        found = launch_json("sealed_run.py", level, pattern, uid=uid, timeout_s=TIMEOUT_S)
    except RuntimeError as error:
        return str(error)
    if found["refused"]:
        return f"{found['refused']}, so nothing is tested: {found['probes']}"
    return found


@pytest.fixture
def seen(run: Run) -> dict[str, Any]:
    """The outcome; every test of the suite fails where there is none."""
    found = outcome_of(run)
    if isinstance(found, str):
        pytest.fail(found, pytrace=False)
    return found


every_run = pytest.mark.parametrize("run", [marked(run) for run in RUNS])


@pytest.mark.parametrize(
    ("run", "claim"),
    [
        marked(run, claim, name=claim)
        for run in RUNS
        for claim, program in PROGRAMS.items()
        if can_hold(run[1], program)
    ],
)
def test_a_completion(run: Run, claim: str, seen: dict[str, Any]):
    assert faults(run, claim, seen) == []


def marked_but_first(run: Run) -> Any:
    """A parameter set of a run whose sample is small: those beside the first level are slow."""
    marks = [] if run == RUNS[0] else [pytest.mark.slow, pytest.mark.sample]
    return pytest.param(run, id=name_of(run), marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("run", [marked_but_first(run) for run in RUNS])
def test_a_sample_of_every_family_of_completions(run: Run):
    families: dict[str, list[str]] = {}
    for claim, program in PROGRAMS.items():
        if can_hold(run[1], program):
            families.setdefault(claim.partition("/")[0], []).append(claim)
    sample = [claim for claims in families.values() for claim in claims[::SAMPLED]]
    found = outcome_of(run, f"^({'|'.join(map(re.escape, sample))})$")
    assert not isinstance(found, str), found
    assert len(families) >= (26 if run[1] == "namespaces" else 24)
    assert [fault for claim in sample for fault in faults(run, claim, found)] == []
    assert (found["errors"], found["left"], found["damage"]) == ([], [], [])
    assert {entry["status"] for entry in found["honest"]} == {"passed"}


def faults(run: Run, claim: str, seen: dict[str, Any]) -> list[str]:
    """Each way in which the program was not stopped, with the whole of its verdict; `was not run`
    where nothing is known of it."""
    visible = run[1] == "landlock" and claim in VISIBLE_WITHOUT_NAMESPACES
    entries = [entry for entry in seen["hostile"] if entry["claim"] == claim]
    found = [] if entries else [f"{claim} was not run"]
    for entry in entries:
        right = {
            "an end that it may have": entry["status"] in PROGRAMS[claim].allowed,
            "no pay": entry["score"] == 0.0,
            "no secret told": not entry["told"],
            "the level": entry["isolation"] == isolation_of(run[1]) or not entry["endings"],
            "nothing won": entry["shown"] == ["'PWNED: 45 bytes'"] if visible else not entry["won"],
        }
        found += [f"not {what}: {entry}" for what, holds in right.items() if not holds]
    return found


def test_every_way_to_win_is_a_fault() -> None:
    claim, program = next(iter(PROGRAMS.items()))
    stopped = {
        "claim": claim, "status": program.allowed[0], "score": 0.0, "told": False, "won": False,
        "isolation": isolation_of("namespaces"), "endings": ["exited"], "shown": [],
    }  # fmt: skip
    wins = [
        {"status": "passed"}, {"status": "unscored"}, {"score": 1.0}, {"score": None},
        {"told": True}, {"isolation": "none"}, {"won": True},
    ]  # fmt: skip
    run: Run = (OWN, "namespaces")
    assert faults(run, claim, {"hostile": [stopped]}) == []
    assert [len(faults(run, claim, {"hostile": [stopped | win]})) for win in wins] == [1] * 7
    assert faults(run, claim, {"hostile": []}) == [f"{claim} was not run"]


@every_run
def test_every_honest_job_right_after_an_attack_on_its_worker_passes(seen: dict[str, Any]):
    assert seen["errors"] == []
    failed = [entry for entry in seen["honest"] if entry["status"] != "passed"]
    assert failed == []
    assert len(seen["honest"]) >= len({entry["claim"] for entry in seen["hostile"]})


@every_run
def test_an_attack_on_later_jobs_fails_however_often_it_runs(run: Run, seen: dict[str, Any]):
    claims = [claim for claim in REPEATED if can_hold(run[1], PROGRAMS[claim])]
    assert len(seen["repeated"]) == REPEATS * len(claims)
    assert [entry for entry in seen["repeated"] if entry["won"] or entry["told"]] == []
    assert {entry["status"] for entry in seen["repeated"]} == {"failed"}


@every_run
def test_nothing_is_left_after_all_attacks(seen: dict[str, Any]):
    """Processes, mounts, files, shared memory, control groups, descriptors, threads."""
    assert seen["left"] == []


@every_run
def test_no_attack_reached_the_host(seen: dict[str, Any]):
    """Listeners, secret file, environment, the path named in `scratch_hint`."""
    assert seen["damage"] == []


@every_run
def test_the_memory_of_the_host_stays_bounded(seen: dict[str, Any]):
    assert seen["memory_grown_bytes"] < MAX_MEMORY_GROWN_BYTES


@every_run
def test_the_run_was_as_the_user_it_claims(run: Run, seen: dict[str, Any]):
    assert seen["uid"] == run[0]
    assert seen["private"] == (OWN == 0)
    assert {entry["isolation"] for entry in seen["honest"]} - {"none"} == {isolation_of(run[1])}


@pytest.mark.parametrize("run", [marked(run) for run in RUNS if run[1] == "landlock"])
@pytest.mark.parametrize("kind", ["scratch", "program"])
def test_without_namespaces_jobs_that_write_or_fork_are_refused(kind: str, seen: dict[str, Any]):
    assert seen["refusals"][kind].startswith(f"refused: a {kind} job needs namespaces")


def test_every_program_is_run_on_some_level():
    assert all(can_hold(RUNS[0][1], program) for program in PROGRAMS.values())
