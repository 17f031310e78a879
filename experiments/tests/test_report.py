from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.training.fakes_report import experiment

from unhack.training.experiment.report.page import page
from unhack.training.experiment.report.summary import TrainingSummary, summarise

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return experiment(tmp_path_factory.mktemp("report"), seeds=3, bases=2)


@pytest.fixture(scope="module")
def report(folder: Path) -> TrainingSummary:
    return summarise([folder])


class TestClaimsInAReport:
    def test_they_are_part_of_its_plain_data(self, report: TrainingSummary) -> None:
        record = json.loads(json.dumps(report.record(), allow_nan=False))
        assert record["rules"]["alpha"] == 0.01
        assert len(record["tests"]) == 7
        assert len(record["claims"]) == 3

    def test_the_page_has_a_verdict_on_each_and_the_tests(self, report: TrainingSummary) -> None:
        text = page(report)
        assert text.count("supported</p>") + text.count("undecided</p>") == 3
        assert "Tests</h2>" in text
        assert "ceiling − 0.03" in text

    def test_it_says_that_the_figure_was_fixed_only_where_a_plan_fixed_it(
        self, report: TrainingSummary, folder: Path, tmp_path: Path
    ) -> None:
        assert "nothing was fixed beforehand" in page(report)
        assert ", fixed beforehand" not in page(report)
        (tmp_path / "plan.toml").write_text("[test]\nalpha = 0.01\n")
        assert ", fixed beforehand" in page(summarise([folder], tmp_path / "plan.toml"))

    def test_one_pair_has_no_interval(self, tmp_path: Path) -> None:
        found = summarise([experiment(tmp_path, seeds=1)])
        assert {
            (item["test"]["low"], item["test"]["high"]) for item in found.record()["tests"]
        } == {(None, None)}
        assert "none for one pair" in page(found)
