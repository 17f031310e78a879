from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.unit.cli.conftest import Run
from tests.unit.training.fakes_report import KNOWN, MODES, experiment

from unhack.cli.train import screen as train_screen
from unhack.training.config.settings import Settings
from unhack.training.run import checkpoint, second_run
from unhack.training.run.folder import RUN, TrainingRecords, read_json, write_json
from unhack.training.run.step_record import StepRecord

COMMANDS = ("run", "eval-curve", "report", "sweep", "relearn", "base", "arms")
NUMBERS: dict[str, Any] = dict.fromkeys(
    ("reward", "hacked", "solved", "parses", "truncated", "entropy", "kl", "zero_variance_share",
     "routed_mass", "loss", "norm_deployed", "norm_quarantine"), 0.25,
)  # fmt: skip
COUNTS = dict.fromkeys(("kl_count", "dropped", "refilled", "tokens"), 3)
MAYBE = dict.fromkeys(
    ("hacked_on", "hacked_off", "solved_on", "solved_off", "reward_unparsed", "reward_unsolved",
     "reward_solved"),
)  # fmt: skip


def _step(step: int, **fields: Any) -> StepRecord:
    return StepRecord(step=step, steps=4, **{**NUMBERS, **COUNTS, **MAYBE, **fields})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs whose claims all hold."""
    return experiment(tmp_path_factory.mktemp("finished"), seeds=10)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch, finished: Path) -> list[Settings]:
    """Training that takes no time; the settings that it was asked for."""
    asked: list[Settings] = []
    final = read_json(finished / "real" / "b0-s0" / "final.json")

    def train(settings: Settings, folder: Path, *, watch: Any = None) -> None:
        asked.append(settings)
        with TrainingRecords(folder, settings) as files:
            checkpoint.save(folder, checkpoint.Saved(settings.run.steps, {}, {}, files.lengths()))
            monitor = {name: final[name] for name in ("deployed", "as_trained")}
            if watch is not None:
                watch(_step(0, monitor=monitor))
                watch(_step(1, alarms=("entropy_collapse",)))
            reason = "alarm: entropy_collapse" if settings.run.stop_on_alarm else ""
            files.describe(status="stopped" if reason else "finished", reason=reason)

    def evaluate_run(folder: Path) -> dict[str, Any]:
        write_json(folder / "final.json", final)
        return final

    monkeypatch.setattr("unhack.training.loop.train.train", train)
    monkeypatch.setattr("unhack.training.evaluation.evaluate.evaluate_run", evaluate_run)
    return asked


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_train_command_holds_an_example(run: Run, command: str) -> None:
    ran = run("train", command, "--help")
    assert ran.code == 0
    assert f"\n  unhack train {command}" in ran.out


class TestSettingsOnTheCommandLine:
    def test_a_wrong_name_is_answered_with_the_nearest(self, run: Run, tmp_path: Path) -> None:
        ran = run("train", "run", "--set", "run.stpes=3", "--out", tmp_path / "out")
        assert ran.code == 2
        assert "did you mean run.steps" in ran.err
        ran = run("train", "run", "--arm", "vanila", "--out", tmp_path / "out")
        assert ran.code == 2
        assert "did you mean vanilla" in ran.err
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("text", ["run.steps", "steps=3", "run.steps=many", "run.steps=0"])
    def test_a_wrong_value_is_refused(self, run: Run, tmp_path: Path, text: str) -> None:
        ran = run("train", "run", "--set", text, "--out", tmp_path / "out")
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 1

    def test_an_arm_that_replays_asks_for_the_record(self, run: Run, tmp_path: Path) -> None:
        for arm, setting in (("replay", "gate.replay=DIR"), ("shrink", "optimiser.shrink=DIR")):
            ran = run("train", "run", "--arm", arm, "--out", tmp_path / "out")
            assert ran.code == 2
            assert setting in ran.err

    def test_a_file_that_is_not_there_is_named(self, run: Run, tmp_path: Path) -> None:
        ran = run("train", "run", tmp_path / "no.toml", "--out", tmp_path / "out")
        assert ran.code == 2
        assert "no.toml" in ran.err

    @pytest.mark.parametrize("command", ["run", "base"])
    def test_without_torch_the_package_to_install_is_named(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
    ) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        out = ["--out", tmp_path / "out"] if command == "run" else []
        ran = run("train", command, *out)
        assert ran.code == 2
        assert "pip install '.[train]'" in ran.err


class TestTrainingOnTheCommandLine:
    @pytest.mark.slow
    def test_file_arm_and_options_come_in_this_order(
        self, run: Run, trained: list[Settings], tmp_path: Path
    ) -> None:
        config = tmp_path / "config.toml"
        config.write_text("[run]\nsteps = 4\nseed = 7\n[gate]\nkind = 'oracle'\n")
        ran = run(
            *("train", "run", config, "--arm", "real", "--set", "run.seed=9"),
            *("--out", tmp_path / "out", "--json"),
        )
        assert ran.code == 0, ran.err
        [settings] = trained
        assert (settings.run.steps, settings.run.seed, settings.gate.kind) == (4, 9, "cosine")
        assert read_json(tmp_path / "out" / RUN)["arm"] == "real"
        [record] = ran.objects
        assert record["status"] == "finished"
        assert record["final"]["deployed"]["known"] == list(KNOWN)

    def test_progress_goes_to_stderr_and_the_result_to_stdout(
        self, run: Run, trained: list[Settings], tmp_path: Path
    ) -> None:
        ran = run("train", "run", "--set", "run.steps=4", "--out", tmp_path / "out")
        assert ran.code == 0, ran.err
        assert "deployed hack" in ran.err
        assert "alarm: entropy_collapse" in ran.err
        assert "as trained" in ran.out

    def test_the_same_command_goes_on_and_other_settings_are_refused(
        self, run: Run, trained: list[Settings], tmp_path: Path
    ) -> None:
        command = ("train", "run", "--set", "run.steps=4", "--out", tmp_path / "out", "--no-final")
        assert run(*command).code == 0
        again = run(*command)
        assert again.code == 0
        assert "resuming after update 4 of 4" in again.err
        other = run(*command, "--set", "optimiser.rate=0.5")
        assert other.code == 2
        assert "choose another folder" in other.err
        assert len(trained) == 2

    def test_a_run_that_an_alarm_stopped_ends_with_one(
        self, run: Run, trained: list[Settings], tmp_path: Path
    ) -> None:
        ran = run("train", "run", "--set", "run.stop_on_alarm=true", "--out", tmp_path / "out")
        assert ran.code == 1
        assert "stopped: alarm: entropy_collapse" in ran.out


class TestTrainingAgain:
    COMMAND = ("train", "run", "--set", "gate.constant=0.2", "--again", "0.4", "--json", "--out")

    @pytest.mark.parametrize(("score", "runs"), [(0.4, 2), (0.1, 1), (None, 1)])
    def test_a_run_whose_alarm_is_raised_at_the_end_is_trained_again_with_the_larger_share(
        self,
        run: Run,
        trained: list[Settings],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        score: float | None,
        runs: int,
    ) -> None:
        monkeypatch.setattr(second_run, "leak_score", lambda folder: score)
        ran = run(*self.COMMAND, tmp_path / "out")
        assert ran.code == 0, ran.err
        assert [settings.gate.constant for settings in trained] == [0.2, 0.4][:runs]
        [record] = ran.objects
        assert record["run"] == str(tmp_path / ("out-again" if runs == 2 else "out"))
        assert ("first" in record) == (runs == 2)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("--again", "0.2"), "larger share than gate.constant=0.3"),
            (("--again", "0.4", "--set", "gate.kind=oracle"), "gate.kind=cosine"),
        ],
    )
    def test_what_cannot_be_trained_again_is_refused_before_anything_is(
        self,
        run: Run,
        trained: list[Settings],
        tmp_path: Path,
        options: tuple[str, ...],
        said: str,
    ) -> None:
        ran = run("train", "run", *options, "--out", tmp_path / "out")
        assert (ran.code, trained) == (2, [])
        assert said in ran.err


class TestTheLiveLine:
    def test_a_terminal_sees_the_step_the_alarms_and_the_evaluations(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        screen = io.StringIO()
        console = Console(file=screen, force_terminal=True, width=200, highlight=False)
        monkeypatch.setattr("unhack.cli.terminal.remarks", lambda: console)
        with train_screen.live(4, shown=True) as watch:
            assert watch is not None
            watch(_step(2, hacked_on=0.5, hacked_off=0.0, alarms=("truncation",)))
        shown = screen.getvalue()
        for words in ("3/4", "hack 0.25 (on 0.50 off 0.00)", "zero-var 25%", "alarm: truncation"):
            assert words in shown

    def test_other_ranks_show_nothing(self) -> None:
        with train_screen.live(4, shown=False) as watch:
            assert watch is None


@pytest.mark.slow
class TestReportsOnTheCommandLine:
    def test_it_says_what_every_arm_does_and_what_follows(self, run: Run, finished: Path) -> None:
        ran = run("train", "report", finished)
        assert ran.code == 0, ran.err
        for words in ("real against", "file_marker", "existence: supported", "no plan was found"):
            assert words in ran.out

    def test_json_holds_arms_tests_and_claims(self, run: Run, finished: Path) -> None:
        [found] = run("train", "report", finished, "--json").objects
        assert {arm["name"] for arm in found["arms"]} >= {"real", "vanilla", "ceiling"}
        assert [claim["verdict"] for claim in found["claims"]] == ["supported"] * 3
        assert [item["mode"] for item in found["arms"][0]["modes"]] == list(MODES)

    def test_a_page_is_written_on_demand(self, run: Run, finished: Path, tmp_path: Path) -> None:
        ran = run("train", "report", finished, "--html", tmp_path / "page.html")
        assert ran.code == 0, ran.err
        assert "</html>" in (tmp_path / "page.html").read_text()
        assert "wrote" in ran.err
        assert run("train", "report", finished, "--html", tmp_path / "no" / "page.html").code == 2
        assert run("train", "report", finished, "--html", tmp_path).code == 2

    def test_strict_ends_with_one_where_a_claim_is_not_supported(
        self, run: Run, finished: Path
    ) -> None:
        assert run("train", "report", finished, "--strict").code == 0
        assert run("train", "report", finished / "real", "--strict").code == 1

    def test_the_rules_come_from_a_plan(self, run: Run, finished: Path, tmp_path: Path) -> None:
        plan = tmp_path / "plan.toml"
        plan.write_text("[test]\nbound = 0.001\n")
        ran = run("train", "report", finished, "--plan", plan)
        assert "held-out generalisation: refuted" in ran.out
        assert "plan.toml, sha256" in ran.out

    def test_a_folder_without_runs_is_bad_usage(self, run: Run, tmp_path: Path) -> None:
        ran = run("train", "report", tmp_path)
        assert ran.code == 2
        assert "no run folder" in ran.err


class TestSweepsOnTheCommandLine:
    @pytest.fixture
    def plan(self, tmp_path: Path) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(
            'arms = ["vanilla", "real"]\ncontrols = false\nseeds = 1\n[test]\nalpha = 0.05\n'
        )
        return path

    def test_the_plan_is_kept_beside_the_runs_before_they_begin(
        self, run: Run, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from unhack.training.experiment.sweep import RunOutcome, plan_runs

        states = iter(["done", "failed"])

        def sweep(wanted: Any, out: Path, *, watch: Any) -> list[Any]:
            assert (out / "plan.toml").read_text() == plan.read_text()
            found = [RunOutcome(item, next(states), "no more memory") for item in plan_runs(wanted)]  # type: ignore[arg-type]
            watch(found)
            return found

        monkeypatch.setattr("unhack.training.experiment.sweep.sweep", sweep)
        ran = run("train", "sweep", plan, "--out", tmp_path / "out")
        assert ran.code == 1
        assert "real/b0-s0: failed: no more memory" in ran.out
        assert "1 of 2 runs done" in ran.out
        plan.write_text(plan.read_text().replace("0.05", "0.1"))
        ran = run("train", "sweep", plan, "--out", tmp_path / "out")
        assert ran.code == 2
        assert "fixed before the runs" in ran.err

    def test_a_wrong_rule_is_refused_before_anything_runs(
        self, run: Run, plan: Path, tmp_path: Path
    ) -> None:
        plan.write_text(plan.read_text().replace("alpha", "alhpa"))
        ran = run("train", "sweep", plan, "--out", tmp_path / "out")
        assert ran.code == 2
        assert "did you mean test.alpha" in ran.err
        assert not (tmp_path / "out").exists()


class TestAttacksOnTheCommandLine:
    @pytest.mark.parametrize(("steps", "code"), [(10, 1), (None, 0)])
    def test_a_hack_that_is_back_sooner_than_the_base_learns_it_ends_with_one(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, steps: int | None, code: int
    ) -> None:
        def attack(folder: Path, wanted: Any, *, against: Any, watch: Any) -> dict[str, Any]:
            assert (wanted.updates, wanted.every, wanted.threshold) == (60, 5, 0.4)
            curve = [{"step": 60, "hack": 0.3}]
            return {
                "threshold": 0.4, "sooner": steps is not None,
                "steps": {"deployed": steps, "base": 40},
                "curves": {"deployed": curve, "base": curve},
            }  # fmt: skip

        monkeypatch.setattr("unhack.training.experiment.relearn.relearn", attack)
        ran = run("train", "relearn", "out", "--updates", "60", "--threshold", "0.4")
        assert ran.code == code
        assert ("not within 60" in ran.out) is (steps is None)


def test_the_arms_are_listed_with_what_they_change(run: Run) -> None:
    ran = run("train", "arms")
    assert ran.code == 0
    assert "gate.kind=cosine" in ran.out
    [found] = run("train", "arms", "--json").objects
    assert found["replay"]["needs"] == ["real"]
    assert json.dumps(found["vanilla"]["overrides"]) == "{}"
