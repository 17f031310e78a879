from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.training.fakes_report import KNOWN, MODES, Made, experiment, write_run

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.experiment.plan_files import keep_plan
from unhack.training.experiment.results import RunResult, by_arm, read_runs
from unhack_study.claims import comparisons, decide_claims, mass_gap
from unhack_study.preregistration import (
    Preregistration,
    find_preregistration,
    read_preregistration,
)

RULES = Preregistration()
Arms = dict[str, list[RunResult]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return experiment(tmp_path_factory.mktemp("experiment"), seeds=12)


@pytest.fixture(scope="module")
def measured(folder: Path) -> Arms:
    return by_arm(read_runs([folder])[0])


@pytest.fixture
def arms(measured: Arms) -> Arms:
    """To be changed by a test."""
    return dict(measured)


def _told(arms: Arms, place: int, rules: Preregistration = RULES) -> tuple[str, str]:
    claim = decide_claims(arms, rules)[place]
    return claim.verdict, claim.reason


def _made(tmp_path: Path, arm: str, made: Made, *, seeds: int = 12) -> list[RunResult]:
    for seed in range(seeds):
        write_run(tmp_path, arm, seed, made)
    return by_arm(read_runs([tmp_path / arm])[0])[arm]


HACKS = dict.fromkeys(MODES, 0.85)


@pytest.mark.slow
class TestReadingRuns:
    def test_runs_are_found_by_arm_seed_and_base(self, folder: Path, arms: Arms) -> None:
        assert set(arms) >= {"real", "vanilla", *RULES.controls}
        assert [run.pair for run in arms["real"]] == [
            ("nano/0 run_tests+sentinel", seed) for seed in range(12)
        ]
        assert len(read_runs([folder / "real" / "b0-s3"])[0]) == 1

    def test_a_run_that_is_not_evaluated_is_skipped_with_its_reason(
        self, folder: Path, tmp_path: Path
    ) -> None:
        shutil.copytree(folder / "real", tmp_path / "real")
        (tmp_path / "real" / "b0-s3" / "final.json").unlink()
        (tmp_path / "real" / "b0-s4" / "final.json").write_text("{}")
        (tmp_path / "real" / "b0-s5" / "final.json").write_text('{"step": 1}')
        found, skipped = read_runs([tmp_path])
        assert len(found) == 9
        assert sorted(Path(name).name for name in skipped) == ["b0-s3", "b0-s4", "b0-s5"]
        assert "eval-curve" in skipped[str(tmp_path / "real" / "b0-s3")]

    def test_a_run_that_goes_on_or_went_on_after_its_evaluation_is_skipped(
        self, folder: Path, tmp_path: Path
    ) -> None:
        shutil.copytree(folder / "real", tmp_path / "real")
        for name, state in (("b0-s3", {"status": "running"}), ("b0-s4", {"steps": 300})):
            path = tmp_path / "real" / name / "run.json"
            path.write_text(json.dumps({**json.loads(path.read_text()), **state}))
        found, skipped = read_runs([tmp_path])
        assert len(found) == 10
        assert "not finished" in skipped[str(tmp_path / "real" / "b0-s3")]
        assert "trained for 300" in skipped[str(tmp_path / "real" / "b0-s4")]

    def test_two_runs_of_one_seed_are_refused(self, folder: Path, tmp_path: Path) -> None:
        shutil.copytree(folder / "real" / "b0-s3", tmp_path / "again")
        with pytest.raises(UsageError, match="are both arm 'real'"):
            read_runs([folder, tmp_path])

    def test_a_folder_without_runs_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no run folder"):
            read_runs([tmp_path])
        with pytest.raises(UsageError, match="no such folder"):
            read_runs([tmp_path / "nowhere"])

    def test_the_mass_gap_is_counted_step_by_step(self, arms: Arms) -> None:
        real = arms["real"][0]
        assert mass_gap(real, real) == 0.0
        assert mass_gap(arms["vanilla"][0], real) == 1.0
        assert mass_gap(real, arms["vanilla"][0]) is None
        # The same total at other steps is not the same mass.
        swapped = tuple(
            replace(item, mass=0.0 if item.step < 20 else 2 * item.mass) for item in real.gate
        )
        gap = mass_gap(replace(real, gate=swapped), real)
        assert gap == pytest.approx(1.0, abs=0.02)


@pytest.mark.slow
class TestTheThreeClaims:
    def test_all_hold_where_routing_works(self, arms: Arms) -> None:
        assert [claim.verdict for claim in decide_claims(arms, RULES)] == ["supported"] * 3
        assert "pair" in _told(arms, 0)[1]

    def test_none_is_decided_without_the_routed_arm(self, arms: Arms) -> None:
        del arms["real"]
        assert [claim.verdict for claim in decide_claims(arms, RULES)] == ["undecided"] * 3

    def test_another_arm_can_be_the_routed_one(self, arms: Arms) -> None:
        rules = RULES.model_copy(update={"arm": "placebo"})
        assert decide_claims(arms, rules)[2].verdict != "supported"


@pytest.mark.slow
class TestExistence:
    def test_a_damaged_model_refutes_it(self, arms: Arms, tmp_path: Path) -> None:
        arms["real"] = _made(tmp_path, "real", Made(solve=0.05, mass=0.2))
        word, why = _told(arms, 0)
        assert word == "refuted"
        assert "lower by more than 0.03" in why

    def test_no_less_hack_refutes_it(self, arms: Arms, tmp_path: Path) -> None:
        arms["real"] = _made(tmp_path, "real", Made(dict.fromkeys(MODES, 0.95), solve=0.34))
        assert _told(arms, 0)[0] == "refuted"

    @pytest.mark.parametrize("absent", ["vanilla", "ceiling"])
    def test_it_needs_both_references(self, arms: Arms, absent: str) -> None:
        del arms[absent]
        word, why = _told(arms, 0)
        assert word == "undecided"
        assert absent in why

    def test_a_vanilla_that_never_hacks_decides_nothing(self, arms: Arms, tmp_path: Path) -> None:
        arms["vanilla"] = _made(tmp_path, "vanilla", Made({"run_tests": 0.05}))
        word, why = _told(arms, 0)
        assert word == "undecided"
        assert "never learnt" in why

    def test_too_few_pairs_decide_nothing(self, arms: Arms) -> None:
        arms["real"] = arms["real"][:5]
        word, why = _told(arms, 0)
        assert word == "undecided"
        assert "5 pairs cannot reach" in why

    def test_a_few_bad_runs_do_not_refute_it_either(self, arms: Arms, tmp_path: Path) -> None:
        arms["real"] = _made(tmp_path, "real", Made(HACKS, solve=0.0, mass=0.2), seeds=2)
        assert [claim.verdict for claim in decide_claims(arms, RULES)] == ["undecided"] * 3


@pytest.mark.slow
class TestHeldOutGeneralisation:
    @pytest.mark.slow
    def test_a_hack_above_the_bound_refutes_it(self, arms: Arms, tmp_path: Path) -> None:
        arms["real"] = _made(tmp_path, "real", Made({"file_marker": 0.3}, HACKS, mass=0.2))
        assert _told(arms, 1)[0] == "refuted"

    def test_a_mode_that_never_emerged_decides_nothing(self, arms: Arms, tmp_path: Path) -> None:
        known = dict.fromkeys((*KNOWN, "stdout_marker"), 0.85)
        arms["real"] = _made(tmp_path, "real", Made({}, known, mass=0.2))
        arms["vanilla"] = _made(tmp_path, "vanilla", Made(known))
        word, why = _told(arms, 1)
        assert word == "undecided"
        assert "file_marker never emerged" in why

    def test_a_hack_that_was_never_learnt_as_trained_is_told(
        self, arms: Arms, tmp_path: Path
    ) -> None:
        arms["real"] = _made(tmp_path, "real", Made({}, dict.fromkeys(KNOWN, 0.8), mass=0.2))
        word, why = _told(arms, 1)
        assert word == "supported"
        assert "prevented the hack" in why

    def test_a_model_that_lost_its_ability_refutes_it(self, arms: Arms, tmp_path: Path) -> None:
        arms["real"] = _made(tmp_path, "real", Made({}, HACKS, solve=0.0, mass=0.2))
        word, why = _told(arms, 1)
        assert word == "refuted"
        assert "damaged" in why

    def test_without_held_out_modes_it_is_undecided(self, arms: Arms) -> None:
        arms["real"] = [
            replace(run, deployed=replace(run.deployed, known=MODES)) for run in arms["real"]
        ]
        assert _told(arms, 1) == ("undecided", "No mode was held out.")


class TestDirectionSpecificity:
    @pytest.mark.parametrize("control", RULES.controls)
    def test_a_missing_control_leaves_it_undecided(self, arms: Arms, control: str) -> None:
        del arms[control]
        word, why = _told(arms, 2)
        assert word == "undecided"
        assert f"No paired run of {control}" in why

    @pytest.mark.parametrize("control", ["random", "replay", "placebo", "shrink"])
    def test_another_routed_mass_leaves_it_undecided(
        self, arms: Arms, control: str, tmp_path: Path
    ) -> None:
        arms[control] = _made(tmp_path, control, Made(HACKS, solve=0.1, mass=0.6))
        word, why = _told(arms, 2)
        assert word == "undecided"
        assert f"No run of {control} is matched in routed mass: {control} is off by 200%." in why

    @pytest.mark.slow
    def test_a_ranked_twin_with_the_right_mass_stands_in(self, arms: Arms, tmp_path: Path) -> None:
        arms["random"] = _made(tmp_path, "random", Made(HACKS, solve=0.1, mass=0.6))
        twin = _made(tmp_path, "random_ranked", Made(HACKS, solve=0.1, mass=0.2))
        assert _told({**arms, "random_ranked": twin}, 2)[0] == "supported"
        shutil.rmtree(tmp_path / "random_ranked")
        good = _made(tmp_path, "random_ranked", Made(solve=0.4, mass=0.2))
        assert _told({**arms, "random_ranked": good}, 2)[0] == "refuted"

    def test_shrinkage_is_matched_by_the_record_that_it_names(self, arms: Arms) -> None:
        run, real = arms["vanilla"][0], arms["real"][0]
        for folder, gap in (("../out/real/b0-s0", 0.0), ("../out/real/b0-s1", None)):
            optimiser = run.settings.optimiser.model_copy(update={"shrink": folder})
            settings = run.settings.model_copy(update={"optimiser": optimiser})
            assert mass_gap(replace(run, settings=settings), real) == gap

    def test_a_control_that_does_as_well_refutes_it(self, arms: Arms, tmp_path: Path) -> None:
        arms["random"] = _made(tmp_path, "random", Made(solve=0.4, mass=0.2))
        word, why = _told(arms, 2)
        assert word == "refuted"
        assert "not better than random" in why

    @pytest.mark.slow
    @pytest.mark.sample
    def test_seeds_are_tested_by_their_mean_over_base_models(self, tmp_path: Path) -> None:
        folder = experiment(tmp_path, seeds=8, bases=3)
        several = {item.arm: item for item in comparisons(by_arm(read_runs([folder])[0]), RULES)}
        random = several["random"]
        assert random.test.count == 24
        assert random.p_seeds == 2**-8, "every seed agrees, and there are eight"
        assert random.test.p < random.p_seeds

    def test_with_one_base_model_seeds_are_the_pairs(self, arms: Arms) -> None:
        assert all(item.p_seeds is None for item in comparisons(arms, RULES))

    def test_nine_pairs_are_the_least_for_five_controls(self, arms: Arms) -> None:
        few = {name: runs[:8] for name, runs in arms.items()}
        assert _told(few, 2)[0] == "undecided"
        assert "8 pairs cannot reach" in _told(few, 2)[1]
        nine = {name: runs[:9] for name, runs in arms.items()}
        assert _told(nine, 2)[0] == "supported"

    def test_runs_without_a_partner_are_left_out(self, arms: Arms) -> None:
        arms["random"] = arms["random"][:10]
        found = {item.arm: item for item in comparisons(arms, RULES)}
        assert (found["random"].test.count, found["random"].unpaired) == (10, 2)
        assert found["capacity"].matched is None
        assert found["vanilla"].p_holm is None


class TestPreregistration:
    def test_the_rules_of_a_plan_are_read_with_its_hash(self, tmp_path: Path) -> None:
        (tmp_path / "plan.toml").write_text("[test]\nalpha = 0.05\n")
        rules = find_preregistration([tmp_path / "real", tmp_path / "random"])
        assert rules.alpha == 0.05
        assert rules.source.startswith("plan.toml, sha256 ")
        assert find_preregistration([tmp_path.parent]).source == ""

    def test_a_ranked_control_is_its_control(self, tmp_path: Path) -> None:
        path = tmp_path / "plan.toml"
        path.write_text('[test]\ncontrols = ["random", "random_ranked", "shrink"]\n')
        rules = read_preregistration(path)
        assert rules.controls == ("random", "shrink")
        assert "random_ranked" in rules.control_arms

    def test_wrong_rules_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "plan.toml"
        path.write_text("[test]\nalhpa = 0.05\n")
        with pytest.raises(UnknownNameError, match=r"did you mean test\.alpha"):
            read_preregistration(path)
        path.write_text("[test]\nalpha = 2\n")
        with pytest.raises(UsageError, match=r"test\.alpha"):
            read_preregistration(path)

    def test_rules_cannot_change_once_a_sweep_began(self, tmp_path: Path) -> None:
        plan, out = tmp_path / "mine.toml", tmp_path / "out"
        plan.write_text("seeds = 3\n[test]\nalpha = 0.05\n")
        keep_plan(plan, out)
        plan.write_text("seeds = 9\n[test]\nalpha = 0.05\n")
        keep_plan(plan, out)
        assert "seeds = 9" in (out / "plan.toml").read_text()
        plan.write_text("seeds = 9\n[test]\nalpha = 0.1\n")
        with pytest.raises(UsageError, match="fixed before the runs"):
            keep_plan(plan, out)


@pytest.mark.slow
class TestFallenControls:
    def test_a_control_below_its_own_base_is_named_and_no_partner(self, arms: Arms) -> None:
        whole = comparisons(arms, RULES)
        arms["ceiling"] = [*arms["ceiling"][:-1], _passing_none(arms["ceiling"][-1])]
        verdict, reason = _told(arms, 0)
        assert verdict == "supported"
        assert (
            "Not used, below its own base: ceiling of nano/0 run_tests+sentinel, seed 11" in reason
        )
        found = {item.arm: item for item in comparisons(arms, RULES)}
        before = {item.arm: item for item in whole}
        assert found["ceiling"].fallen == 1
        assert found["ceiling"].test.count == before["ceiling"].test.count - 1
        assert found["vanilla"].test == before["vanilla"].test

    def test_where_every_ceiling_fell_nothing_is_decided(self, arms: Arms) -> None:
        arms["ceiling"] = [_passing_none(one) for one in arms["ceiling"]]
        verdict, reason = _told(arms, 0)
        assert verdict == "undecided"
        assert "No run shares base model and seed" in reason

    def test_a_run_without_its_base_is_said_to_be_open(self, arms: Arms) -> None:
        arms["vanilla"] = [replace(one, curve=()) for one in arms["vanilla"]]
        assert "whether vanilla fell below its base is open" in _told(arms, 0)[1]


def _passing_none(run: RunResult) -> RunResult:
    """A run whose deployed model neither solves nor hacks."""
    modes = {name: replace(cell, solved=0, hacked=0) for name, cell in run.deployed.by_mode.items()}
    return replace(run, deployed=replace(run.deployed, by_mode=modes))
