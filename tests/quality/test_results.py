"""Results in git are summaries: small, with the hash of the full record that they are of."""

import hashlib
import json
import re
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
RESULTS = BENCHMARKS / "results"
sys.path.insert(0, str(BENCHMARKS))

import measure  # noqa: E402

KEPT = sorted(
    path for path in RESULTS.rglob("*") if path.is_file() and measure.FULL not in path.parents
)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    monkeypatch.setattr(measure, "FULL", tmp_path / "full")
    return tmp_path


@pytest.mark.skipif(not KEPT, reason="a source distribution has no results")
def test_no_result_in_git_is_over_ten_kilobytes():
    ignored = (BENCHMARKS.parent / ".gitignore").read_text().splitlines()
    assert "/benchmarks/results/full/" in ignored
    assert [path.name for path in KEPT if path.stat().st_size > 10_240] == []


@pytest.mark.parametrize(
    "path", [path for path in KEPT if path.suffix == ".json"], ids=lambda path: path.stem
)
def test_a_result_names_its_command_its_machine_and_its_full_record(path):
    found = json.loads(path.read_text())
    assert found["command"]
    assert found["machine"]
    if full := found.get("full_record"):
        assert re.fullmatch("[0-9a-f]{64}", full["sha256"])
        assert full["bytes"] > path.stat().st_size


def test_a_saved_record_is_the_one_that_its_summary_names(elsewhere, capsys):
    rows = [{"name": "one", "seconds": 1.23456}]
    columns = ("name", "seconds")
    figures = {"rows_shown": measure.table(rows, columns)}
    measure.save("probe", "python probe.py", figures, records={"rows": rows * 1000})
    full = (elsewhere / "full" / "probe.json").read_bytes()
    found = measure.summary("probe")
    assert found["full_record"] == {
        "sha256": hashlib.sha256(full).hexdigest(), "bytes": len(full)
    }  # fmt: skip
    assert measure.full_record("probe")["rows"] == rows * 1000
    assert measure.rows_of(found["rows_shown"]) == [{"name": "one", "seconds": 1.235}]


def test_a_summary_that_is_too_long_is_refused_and_not_written(elsewhere):
    with pytest.raises(ValueError, match="10240 allowed"):
        measure.save("probe", "python probe.py", {"rows": ["x" * 100] * 200})
    assert measure.summary("probe") is None
