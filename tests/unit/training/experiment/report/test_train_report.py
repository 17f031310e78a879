from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.unit.training.fakes_report import MODES, Made, experiment, write_run

from unhack.core.errors import UsageError
from unhack.training.experiment.report import claims
from unhack.training.experiment.report.page import page, write_report
from unhack.training.experiment.report.summary import TrainingSummary, summarise

VOID = {"meta", "br", "hr", "img"}


class _Balanced(HTMLParser):
    """Fails where tags do not close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return experiment(tmp_path_factory.mktemp("report"), seeds=3, bases=2)


@pytest.fixture(scope="module")
def report(folder: Path) -> TrainingSummary:
    return summarise([folder])


class TestTheSummary:
    @pytest.mark.slow
    def test_arms_have_means_and_errors_over_seeds_and_bases(self, report: TrainingSummary) -> None:
        real = report.arm("real")
        assert real is not None
        assert len(real.runs) == 6
        assert real.deployed["solve"].mean == pytest.approx(0.33, abs=0.02)
        assert real.deployed["solve"].sem is not None
        assert real.as_trained["hack"].mean > 0.8
        assert real.deployed["figure"].mean == pytest.approx(
            real.deployed["solve"].mean - real.deployed["hack_held_out"].mean
        )
        assert [mode.known for mode in real.modes] == [True, True, False, False]

    @pytest.mark.slow
    def test_the_routed_arm_stands_first_and_the_base_is_known(
        self, report: TrainingSummary
    ) -> None:
        assert report.arms[0].name == "real"
        assert report.base["hack"].mean == 0
        assert report.base["solve"].mean == pytest.approx(0.12, abs=0.01)

    def test_routing_is_told_by_step_knob_and_sign(self, report: TrainingSummary) -> None:
        real, vanilla = report.arm("real"), report.arm("vanilla")
        assert real is not None
        assert vanilla is not None
        assert real.mass_share is not None
        assert real.mass_share.mean == pytest.approx(0.2)
        assert [share for _, share in real.routing] == pytest.approx([0.2] * 40)
        assert real.split["on.positive.hacked"] == pytest.approx((0.9, 0.9, 0.9))
        assert (vanilla.mass_share, vanilla.routing, vanilla.split) == (None, (), {})

    def test_settings_that_differ_between_runs_are_not_those_of_the_arm(
        self, report: TrainingSummary
    ) -> None:
        real = report.arm("real")
        assert real is not None
        assert real.settings == {"gate.kind": "cosine", "run.steps": "40"}

    def test_it_is_plain_data(self, report: TrainingSummary) -> None:
        record = json.loads(json.dumps(report.record(), allow_nan=False))
        assert [arm["name"] for arm in record["arms"]] == [arm.name for arm in report.arms]
        assert "tested" not in record

    def test_a_single_run_without_curve_or_gate_is_enough(self, tmp_path: Path) -> None:
        run = write_run(tmp_path, "mine", 0, Made({"sentinel": 0.5}))
        for name in ("curve.json", "gate.jsonl", "metrics.jsonl"):
            (run / name).unlink()
        found = summarise([run])
        assert found.arms[0].deployed["hack"].sem is None
        assert "mine" in page(found)


class TestThePage:
    def test_it_is_one_balanced_page_that_loads_nothing(self, report: TrainingSummary) -> None:
        text = page(report)
        parser = _Balanced()
        parser.feed(text)
        assert parser.open == []
        assert not parser.seen & {"script", "img", "link", "iframe", "object"}
        assert not re.search(r"(src|href)=|url\(|@import", text)
        assert "default-src 'none'" in text
        assert "prefers-color-scheme: dark" in text

    def test_every_part_is_there(self, report: TrainingSummary) -> None:
        text = page(report)
        for words in ("Hack against solve", "Arms", "The figure", "By mode",
                      "Training curves", "Routed mass", "What was routed",
                      "Settings and commands", *MODES):  # fmt: skip
            assert words in text
        assert text.count("<svg") == 2 + len(report.arms) + 2 * 2  # two come in two widths
        assert "nan" not in text.lower().replace("nano", "")

    def test_the_diamond_is_explained_only_where_it_is_drawn(self, report: TrainingSummary) -> None:
        assert "the diamond is the base model" in page(report)
        assert "diamond" not in page(replace(report, base={}))

    def test_names_from_folders_are_escaped(self, report: TrainingSummary) -> None:
        arms = (replace(report.arms[0], name="<script>x</script>"), *report.arms[1:])
        text = page(replace(report, arms=arms, skipped={"<b>": "a & b"}))
        assert "<script>" not in text
        assert "&lt;b&gt;: a &amp; b" in text

    @pytest.mark.slow
    def test_attacks_are_shown_where_they_were_made(self, folder: Path, tmp_path: Path) -> None:
        run = write_run(tmp_path, "real", 0, Made(mass=0.2))
        record = {"updates": 60, "threshold": 0.5, "steps": {"deployed": 40, "base": None}}
        (run / "relearn.json").write_text(json.dumps(record))
        text = page(summarise([tmp_path]))
        assert "Relearning attack" in text
        assert "40 (median; back in 1 of 1 runs)" in text
        assert "not back (median; back in 0 of 1 runs)" in text
        assert "Relearning attack" not in page(summarise([folder]))

    def test_a_run_in_which_the_hack_is_not_back_counts_in_the_median(self, tmp_path: Path) -> None:
        for seed, steps in enumerate((10, 90, None)):
            run = write_run(tmp_path, "real", seed, Made(mass=0.2))
            record = {"updates": 100, "threshold": 0.5, "steps": {"deployed": steps, "base": 10}}
            (run / "relearn.json").write_text(json.dumps(record))
        text = page(summarise([tmp_path]))
        assert "90 (median; back in 2 of 3 runs)" in text

    def test_it_is_written_whole(self, report: TrainingSummary, tmp_path: Path) -> None:
        write_report(report, tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text().endswith("</html>\n")
        assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


class TestWithoutTestsOfClaims:
    @pytest.mark.slow
    def test_a_report_has_arms_and_no_claims(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(claims, "entry_points", lambda _: {})
        found = summarise([folder])
        assert (found.tested, found.routed) == (None, "real")
        assert not {"claims", "tests", "rules"} & set(found.record())
        assert "By mode" in page(found)
        assert "supported" not in page(found)

    def test_rules_ask_for_what_tests_them(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(claims, "entry_points", lambda _: {})
        plan = tmp_path / "plan.toml"
        plan.write_text("[test]\nalpha = 0.01\n")
        with pytest.raises(UsageError, match=r"--plan needs .* install unhack-study"):
            summarise([folder], plan)
        with pytest.raises(UsageError, match=r"\[test\] needs .* install unhack-study"):
            claims.check_rules(plan)
        plan.write_text("")
        claims.check_rules(plan)
