"""The record of the matrix keeps every run as it was found."""

import sys

import pytest
from pages import ROOT

from unhack.core.errors import UsageError

if not (ROOT / "benchmarks" / "results").exists():
    pytest.skip("a source distribution has no results", allow_module_level=True)
sys.path.insert(0, str(ROOT / "benchmarks"))

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
