from __future__ import annotations

import pytest
from tests.unit.cli.conftest import Run

pytestmark = pytest.mark.slow


def test_the_quick_report_is_one_object_with_every_layer(run: Run) -> None:
    ran = run("doctor", "--quick", "--json")
    [report] = ran.objects
    assert ran.code == (0 if report["sound"] else 1)
    assert {"seccomp", "Landlock", "user namespace"} <= {item["name"] for item in report["layers"]}
    assert [backend["results"] for backend in report["backends"]] == [[], []]


def test_the_report_for_people_has_a_line_for_each_backend(run: Run) -> None:
    text = run("doctor", "--quick").out
    for name in ("namespaces", "landlock"):
        assert f"\n{name}" in text


def test_the_workers_of_a_batch_are_told_and_who_says_so(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNHACK_SLOTS", "16")
    monkeypatch.setenv("UNHACK_SHARDS", "3")
    assert "Batches: 16 workers in 3 shards (UNHACK_SLOTS=16, " in run("doctor", "--quick").out
    [report] = run("doctor", "--quick", "--json").objects
    assert (report["batches"]["workers"], report["batches"]["shards"]) == (16, 3)


def test_a_number_of_workers_that_is_none_is_told_first(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNHACK_SLOTS", "many")
    ran = run("doctor", "--quick")
    assert ran.code == 2
    assert "UNHACK_SLOTS is 'many'; give a number of workers" in ran.err
