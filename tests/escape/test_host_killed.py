"""What is killed at any moment leaves nothing, and changes no verdict but its own.

Each scenario runs in a process of its own (`killed_run.py`), where nothing else runs.
"""

import os
from typing import Any

import pytest
from stage import USER, launch_json

pytestmark = pytest.mark.slow

OWN = os.getuid()
TIMEOUT_S = 900
RUNS = [(OWN, "namespaces"), (OWN, "landlock")]
if OWN == 0:
    RUNS[1:1] = [(USER, "namespaces")]
    RUNS.append((USER, "landlock"))


def on(runs: list[tuple[int, str]], *, slow_from: int) -> pytest.MarkDecorator:
    """Parametrise by user and level; those from `slow_from` on are slow."""
    return pytest.mark.parametrize(
        ("uid", "level"),
        [
            pytest.param(
                *run,
                id=f"{'root' if run[0] == 0 else 'user'}-{run[1]}",
                marks=[pytest.mark.slow] if index >= slow_from else [],
            )
            for index, run in enumerate(runs)
        ],
    )


every_run = on(RUNS, slow_from=1)


def play(scenario: str, *, uid: int, level: str) -> dict[str, Any]:
    """Run one scenario."""
    return launch_json("killed_run.py", level, scenario, uid=uid, timeout_s=TIMEOUT_S)


@every_run
def test_a_killed_host_leaves_nothing_but_folders_that_the_next_start_reaps(uid: int, level: str):
    found = play("host_at_work", uid=uid, level=level)
    assert found["ready"], found
    assert [entry for entry in found["left"] if not entry.startswith("groups:")] == []
    assert found["groups_after_the_next_start"] == []
    assert found["groups_left_by_the_kill"] <= found["groups_at_work"]


@on(RUNS, slow_from=0)
def test_a_host_killed_while_it_starts_leaves_nothing(uid: int, level: str):
    found = play("host_while_it_starts", uid=uid, level=level)
    assert found["hosts"] == 16
    assert [entry for entry in found["left"] if not entry.startswith("groups:")] == []
    assert found["groups_after_the_next_start"] == []


@on(RUNS[:1], slow_from=0)
def test_a_killed_host_leaves_no_shard_and_nothing_of_its_shards(uid: int, level: str):
    found = play("host_with_shards", uid=uid, level=level)
    assert found["family"] > 10
    assert [entry for entry in found["left"] if not entry.startswith("groups:")] == []
    assert found["groups_after_the_next_start"] == []


@every_run
def test_killing_fork_servers_changes_no_verdict(uid: int, level: str):
    found = play("fork_servers", uid=uid, level=level)
    assert found["killed"] >= 4
    assert found["done"]
    assert (found["verdicts"], found["wrong"]) == (60, [])
    assert found["left"] == []


@on(RUNS, slow_from=0)
def test_no_job_survives_a_fork_server_that_is_killed_while_it_forks(uid: int, level: str):
    found = play("fork_servers_while_they_fork", uid=uid, level=level)
    assert found["killed"] >= 120
    assert found["left"] == []


@pytest.mark.sample
@on(RUNS[:1], slow_from=0)
def test_a_flood_whose_fork_server_dies_is_a_verdict_and_no_end_of_the_batch(uid: int, level: str):
    found = play("server_of_a_flood", uid=uid, level=level)
    assert found["statuses"] == ["limit"]
    assert found["left"] == []


@on(RUNS, slow_from=0)
def test_killing_a_job_from_outside_changes_its_own_verdict_only(uid: int, level: str):
    found = play("own_processes", uid=uid, level=level)
    assert found["killed"] > 0
    assert found["done"]
    assert found["verdicts"] == 40
    assert len(found["wrong"]) <= found["killed"]
    assert [entry for entry in found["wrong"] if ": limit instead of" not in entry] == []
    assert found["left"] == []


@on(RUNS[:1], slow_from=0)
def test_a_stopped_fork_server_is_replaced_and_its_jobs_go_elsewhere(uid: int, level: str):
    found = play("stopped_server", uid=uid, level=level)
    assert found["statuses"] == ["passed"]
    assert found["replaced"]
    assert found["left"] == []


@on(RUNS[:1], slow_from=1)
def test_a_start_reaps_the_folders_of_the_dead_and_not_those_of_the_living(uid: int, level: str):
    found = play("stale_groups", uid=uid, level=level)
    if not found["delegated"]:
        pytest.skip("this host delegates no control group to this user")
    assert found["dead_left"] == []
    assert found["living"] == found["living_left"] > 0
    assert found["after_close"] == []


@on(RUNS[:1], slow_from=0)
def test_waiting_for_a_core_turns_no_right_answer_into_a_timeout(uid: int, level: str):
    found = play("crowded_machine", uid=uid, level=level)
    assert set(found["statuses"]) == {"passed"}, found
