"""The record of the matrix keeps every run as it was found."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pages import ROOT
from tests.unit.training.fakes_report import Made, write_run

from unhack.core.errors import UsageError
from unhack.training.config.toml import override
from unhack.training.experiment.sweep import SweepRun, settings_of

if not (ROOT / "benchmarks" / "results").exists():
    pytest.skip("a source distribution has no results", allow_module_level=True)
sys.path.insert(0, str(ROOT / "benchmarks"))

import matrix_cost
import matrix_rest
import matrix_runs
import measure

KEY = ("matrix", "real", ("run_tests", "exit_code"))


def run(solved: int) -> matrix_runs.RunFigures:
    return matrix_runs.RunFigures(51, 900, {"held_out": 3, "known": 0}, solved)


def test_a_run_that_is_recorded_with_other_figures_is_refused():
    found = {KEY: [run(150)]}
    assert matrix_runs.add(found, [(KEY, run(150))]) == 0
    with pytest.raises(UsageError, match=r"real run_tests\+exit_code"):
        matrix_runs.add(found, [(KEY, run(151))])
    assert found == {KEY: [run(150)]}
    assert matrix_runs.add(found, [(KEY, run(151))], keep=True) == 0
    assert found == {KEY: [run(150)]}


def test_what_is_missing_is_what_no_file_of_the_record_has(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    planned = list(matrix_runs.planned("large", {}))
    assert len(matrix_rest.missing_runs("large")) == len(planned) == 108
    (key, base, seed), *_ = planned
    one = matrix_runs.RunFigures(base, seed, {"held_out": 3, "known": 0}, 150)
    matrix_runs.write({key: [one]}, "train_large_runs", ["a machine"])
    left = matrix_rest.missing_runs("large")
    assert len(left) == 107
    assert (key[1], base, seed) not in {(run.arm, run.base_seed, run.seed) for run in left}


def test_what_is_written_is_read_again(tmp_path, monkeypatch):
    before = matrix_runs.recorded()
    assert before
    before["where/late", "real", ("sentinel", "exit_code")] = [run(120)]
    before["where/shared", "vanilla", ()] = [
        matrix_runs.RunFigures(80, 960, dict.fromkeys(matrix_runs.modes_of("where/shared"), 7), 90)
    ]
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    for name in matrix_runs.RECORDS:
        matrix_runs.write(before, name, ["a machine"])
    after = matrix_runs.recorded()
    key = lambda one: (one.seed, one.base)  # noqa: E731
    assert {name: sorted(rows, key=key) for name, rows in after.items()} == {
        name: sorted(rows, key=key) for name, rows in before.items()
    }


def test_the_cost_of_an_arm_is_the_median_of_its_runs(tmp_path):
    seconds = {"vanilla": [1.0, 3.0, 2.0], "real": [3.0]}
    for arm, runs in seconds.items():
        for seed, whole in enumerate(runs):
            folder = write_run(tmp_path, arm, seed, Made(steps=10))
            steps = [{"seconds": whole, "seconds_update": whole / 2}] * 9
            first = {"seconds": 99.0, "seconds_update": 99.0}
            lines = "\n".join(map(json.dumps, [first, *steps]))
            (folder / "metrics.jsonl").write_text(lines + "\n")
    rows = {row["arm"]: row for row in matrix_cost.costs(tmp_path)}
    assert [rows["vanilla"][name] for name in ("runs", "whole_s", "update_s")] == [3, 2.0, 1.0]
    assert (rows["real"]["whole_ratio"], rows["real"]["update_ratio"]) == (1.5, 1.5)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"run.seed": "903"}, r"real/b51-s903-run_tests\+exit_code is no run of matrix\.toml"),
        ({"gate.constant": "0.4"}, r"gate\.constant not as in matrix\.toml"),
        ({"world.cache": "elsewhere.sqlite", "model.device": "cuda:1"}, ""),
    ],
)
def test_only_runs_of_the_plan_are_recorded(changed, words):
    plan = matrix_runs.plan_of("matrix")
    wanted = SweepRun("real", 51, 900, ("run_tests", "exit_code"))
    settings = override(settings_of(plan, wanted, Path()), changed)
    made = SimpleNamespace(settings=settings, arm="real", folder="RUNS/matrix/real/x")
    if not words:
        matrix_runs.check_planned("matrix", made)
        return
    with pytest.raises(UsageError, match=words):
        matrix_runs.check_planned("matrix", made)
