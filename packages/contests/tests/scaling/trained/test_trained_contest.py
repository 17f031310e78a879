"""The contest with `service=trained`: options, dialogues, evidence, the same numbers again."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from packages.contests.tests.corpus.test_corpus import cheats_wrong
from packages.contests.tests.scaling.trained.small_world import SMALL
from packages.contests.tests.scaling.trained.unusual import UNUSUAL

from unhack.core.errors import SandboxUnavailableError, UnknownNameError, UsageError
from unhack.sandbox.gpu.driver_files import card_nodes
from unhack.tournament.contest import DataPool, Files, Measurement, Terms
from unhack.tournament.contests.registry import load_contest
from unhack_contests.scaling.evidence import unmoved, without_width
from unhack_contests.scaling.trained import measure, settings
from unhack_contests.scaling.trained.contest import TrainedScaling
from unhack_contests.scaling.trained.honest import SPACE, entry, honest, submission

pytest.importorskip("torch")


@pytest.fixture
def contest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrainedScaling:
    """The contest at a size that trains in seconds."""
    monkeypatch.setattr(settings, "SIZES", {**settings.SIZES, "demo": SMALL})
    options = {"service": "trained", "size": "demo", "record": str(tmp_path / "record")}
    found = load_contest("scaling", options)
    assert isinstance(found, TrainedScaling)
    return found


def judged(
    contest: TrainedScaling, files: Files, place: Path, *, pool: DataPool = DataPool.JUDGE
) -> Measurement:
    folder = place / "submission"
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return contest.measure(folder, pool=pool, seed=5)


def program(text: str) -> Files:
    return {"solution.py": text.encode()}


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"service": "traind"}, "trained"),
            ({"service": "trained", "sise": "demo"}, "size"),
            ({"service": "trained", "size": "dem"}, "demo"),
            ({"ladders": "x"}, "ladder"),
        ],
    )
    def test_a_slip_is_told_with_the_nearest_name(
        self, options: Mapping[str, str], says: str
    ) -> None:
        with pytest.raises(UnknownNameError, match=says):
            load_contest("scaling", options)

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"size": "demo"}, "service=trained"),
            ({"device": "cuda"}, "service=trained"),
            ({"service": "trained", "worlds": "0"}, "worlds"),
            ({"service": "trained", "worlds": "many"}, "worlds"),
            ({"service": "trained", "device": "tpu"}, "cuda:N"),
            ({"service": "trained", "device": "cuda:x"}, "cuda"),
            ({"service": "trained", "record": __file__}, "folder"),
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_is_spent(
        self, options: Mapping[str, str], says: str
    ) -> None:
        with pytest.raises((UsageError, SandboxUnavailableError), match=says):
            load_contest("scaling", options)

    @pytest.mark.skipif(bool(card_nodes()), reason="there is a card here")
    def test_a_card_that_is_not_here_is_told(self) -> None:
        with pytest.raises(SandboxUnavailableError, match="no GPU here"):
            load_contest("scaling", {"service": "trained", "device": "cuda"})

    def test_without_torch_the_way_to_it_is_told_and_the_recorded_contest_loads(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(UsageError, match=r"torch: pip install '\.\[train\]'"):
            load_contest("scaling", {"service": "trained", "size": "demo"})
        assert load_contest("scaling").name == "scaling"

    def test_the_recorded_contest_is_the_usual_one(self) -> None:
        assert (
            load_contest("scaling").settings
            == load_contest("scaling", {"service": "recorded"}).settings
        )

    def test_where_runs_are_kept_decides_nothing(self, tmp_path: Path) -> None:
        found = [
            load_contest("scaling", {"service": "trained", "record": str(tmp_path / name)}).settings
            for name in "ab"
        ]
        assert found[0] == found[1]


class TestSubmissions:
    def test_every_point_of_the_space_is_a_program(self) -> None:
        for parameter in SPACE:
            for choice in parameter.choices:
                first = {item.name: item.choices[0] for item in SPACE}
                files = submission({**first, parameter.name: choice})
                compile(files["solution.py"], "solution.py", "exec")

    def test_a_setting_that_a_strategy_does_not_have_is_an_error(self) -> None:
        with pytest.raises(KeyError):
            entry("ladder", {"form": ["power"]})

    def test_strategies_are_different_programs(self) -> None:
        assert len({files["solution.py"] for files in honest().values()}) == len(honest()) >= 5

    def test_the_statement_names_budget_and_service(self, contest: TrainedScaling) -> None:
        text = contest.workspace(Terms(1))["STATEMENT.md"].decode()
        assert f"{SMALL.budget:.3g} FLOPs" in text
        assert "lab.train" in contest.workspace(Terms(1))["STATEMENT.md"].decode()


_MOVES = """
def study(lab, targets):
    runs = [lab.train(width=8, steps=s, again=a) for s in (10, 40) for a in (0, 1)]
    best = min(run.loss for run in runs)
    return [(best - 0.05, best - 0.3, best + 0.2) for _ in targets]
"""


@pytest.mark.slow
class TestMeasuring:
    @pytest.mark.slow
    def test_the_same_submission_is_measured_the_same_with_and_without_a_record(
        self, contest: TrainedScaling, tmp_path: Path
    ) -> None:
        found = [judged(contest, program(_MOVES), tmp_path)]
        found.append(judged(contest, program(_MOVES), tmp_path))
        shutil.rmtree(tmp_path / "record")
        found.append(judged(contest, program(_MOVES), tmp_path))
        assert found[0].valid
        assert found[0].flags == ()
        assert found[0] == found[1] == found[2]

    def test_no_meter_is_left_when_a_dialogue_has_ended(
        self, contest: TrainedScaling, tmp_path: Path
    ) -> None:
        judged(contest, program(_MOVES), tmp_path)
        judged(contest, program("def study(lab, targets):\n    lab.train(steps=5)\n"), tmp_path)
        left = {path.suffix for path in (tmp_path / "record").rglob("*") if path.is_file()}
        assert left == {".json"}

    def test_pools_are_other_worlds(self, contest: TrainedScaling, tmp_path: Path) -> None:
        here, there = (
            judged(contest, program(_MOVES), tmp_path, pool=pool)
            for pool in (DataPool.JUDGE, DataPool.AUDIT)
        )
        assert here.metrics["noise"] != there.metrics["noise"]

    def test_predicting_the_mean_of_small_runs_earns_nothing(
        self, contest: TrainedScaling, tmp_path: Path
    ) -> None:
        found = judged(contest, contest.submissions.null(), tmp_path)
        assert (found.fitness, found.flags) == (0.0, ())

    def test_runs_that_learnt_nothing_carry_no_prediction(
        self, contest: TrainedScaling, tmp_path: Path
    ) -> None:
        text = """
def study(lab, targets):
    loss = min(lab.train(steps=1).loss, lab.uniform)
    return [(loss - 0.5, loss - 0.6, loss - 0.4) for _ in targets]
"""
        found = judged(contest, program(text), tmp_path)
        assert "learnt" in found.reason
        assert found.flags == ()

    def test_an_error_of_the_program_is_its_reason(
        self, contest: TrainedScaling, tmp_path: Path
    ) -> None:
        found = judged(contest, program("def study(lab, targets):\n    1 / 0\n"), tmp_path)
        assert "ZeroDivisionError" in found.reason
        assert found.flags == ()

    @pytest.mark.parametrize(
        ("call", "says"),
        [
            ("lab.train(widht=8)", "no setting widht"),
            ("lab.train(steps=0)", "greater than 0"),
            ("lab.train(rate=float('nan'))", "is no setting"),
            ("lab.train(width=10**6)", "width is from"),
            ("lab.train(steps=4000, width=24)", "are left"),
        ],
    )
    def test_a_slip_of_the_program_is_its_own_exception_and_no_accusation(
        self, contest: TrainedScaling, tmp_path: Path, call: str, says: str
    ) -> None:
        found = judged(contest, program(f"def study(lab, targets):\n    {call}\n"), tmp_path)
        assert says in found.reason
        assert found.flags == ()


class TestEvidence:
    answers = np.array([[2.0, 1.9, 2.1], [2.2, 2.0, 2.4], [1.8, 1.7, 1.9]])

    def test_predictions_that_stay_are_flagged_and_those_that_move_are_not(self) -> None:
        assert unmoved(self.answers, self.answers * 1.0005) is not None
        assert unmoved(self.answers, self.answers * 1.02) is None

    def test_one_prediction_that_moves_is_enough(self) -> None:
        other = self.answers.copy()
        other[1] += 0.1
        assert unmoved(self.answers, other) is None

    def test_no_width_anywhere_is_certainty_and_one_interval_is_not(self) -> None:
        means = np.tile(self.answers[:, :1], 3)
        assert without_width(means, noise=0.01) is not None
        means[0, 2] += 0.01
        assert without_width(means, noise=0.01) is None

    def test_errors_below_the_noise_of_seeds_are_beyond_the_bound(self) -> None:
        metrics = {"strain": 0.00005, "targets": 4, "seeds": 2}
        assert measure.beyond(Measurement(0.9, 0.9, 0.9, metrics))
        assert not measure.beyond(Measurement(0.9, 0.9, 0.9, {**metrics, "strain": 0.6}))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> TrainedScaling:
    """The contest at the size of the cases, with one record for all of them."""
    record = tmp_path_factory.mktemp("record")
    options = {"service": "trained", "size": "demo", "record": str(record)}
    found = load_contest("scaling", options)
    assert isinstance(found, TrainedScaling)
    return found


@pytest.mark.slow
class TestCases:
    def test_every_cheat_is_flagged_as_it_says_and_gains_nothing(
        self, demo: TrainedScaling, tmp_path: Path
    ) -> None:
        assert cheats_wrong(demo, tmp_path) == []

    @pytest.mark.parametrize("name", UNUSUAL)
    def test_no_unusual_honest_strategy_is_accused(
        self, demo: TrainedScaling, name: str, tmp_path: Path
    ) -> None:
        files = {path: text.encode() for path, text in UNUSUAL[name].items()}
        measured = judged(demo, files, tmp_path)
        assert measured.reason == ""
        assert (*measured.flags, *demo.bounds(measured)) == ()
