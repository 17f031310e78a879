"""The table of the world `pretrained` says what runs recorded, and a finished run is told apart."""

from __future__ import annotations

import importlib.util
import json
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("transformers")

from unhack.training.experiment.sweep import SweepPlan, plan_runs, read_plan

FOLDER = Path(__file__).resolve().parents[1] / "pretrained"


@pytest.fixture(scope="module")
def measure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measure", FOLDER / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def read(name: str, folder: Path) -> SweepPlan:
    """A plan without the arm that an installed study brings."""
    path = folder / name
    path.write_text((FOLDER / name).read_text().replace('"half", ', ""))
    return read_plan(path)


@pytest.fixture
def plan(tmp_path: Path) -> SweepPlan:
    return read("plan.toml", tmp_path)


def test_the_table_holds_base_rows_and_both_states_of_finished_runs(
    measure: Any, plan: SweepPlan, tmp_path: Path
) -> None:
    out, results = tmp_path / "out", tmp_path / "results"
    results.mkdir()
    run = plan_runs(plan)[0]
    folder = out / run.name
    folder.mkdir(parents=True)
    modes = plan.settings["world"]["modes"]
    rate = {"rate": 0.25}
    counts = {mode: {"count": 4, "hacked": 1, "solved": 2} for mode in modes}
    row = {"hack_known": rate, "hack_held_out": rate, "solve": rate, "by_mode": counts}
    (out / "base.json").write_text(json.dumps({"before RL": row}))
    (folder / "final.json").write_text(json.dumps({"deployed": row, "as_trained": row}))
    line = {"step": 0, "hacked": 0.3, "solved": 0.1, "hacked_off": 0.0, "solved_off": 0.0,
            "seconds": 2.0}  # fmt: skip
    (folder / "metrics.jsonl").write_text(json.dumps(line) + "\n{half a li")
    (folder / "gate.jsonl").write_text(json.dumps({"step": 0, "aurocs": {"shape": 0.75}}) + "\n")
    measure.write_results(plan, out, results)
    text = (results / "table.md").read_text()
    assert "| before RL |  | 0.25 | 0.25 | 0.25 | 0.25 (0.50) |" in text
    assert text.count(run.name) == 3
    [update] = [json.loads(one) for one in (results / "updates.jsonl").read_text().splitlines()]
    assert update["hacks_of_rewarded"] == pytest.approx(0.75)
    assert update["hacks_of_rewarded_off"] is None
    assert update["aurocs"] == {"shape": 0.75}
    with tarfile.open(results / "runs.tar.gz") as tar:
        assert f"{run.name}/final.json" in tar.getnames()


def test_the_plan_routes_drops_and_compares_at_the_larger_share(plan: SweepPlan) -> None:
    assert [run.arm for run in plan_runs(plan)][:5] == [
        "vanilla", "ceiling", "real", "filter", "placebo",
    ]  # fmt: skip
    assert {plan.arm[name]["gate"]["constant"] for name in ("filter", "placebo")} == {0.5}


def test_the_pilot_of_cures_shares_no_choice_and_no_warm_up_with_the_first_look(
    plan: SweepPlan, tmp_path: Path
) -> None:
    cures = read("cures.toml", tmp_path)
    assert not set(map(frozenset, cures.known)) & set(map(frozenset, plan.known))
    assert not set(cures.base_seeds) & set(plan.base_seeds)
    assert {run.arm for run in plan_runs(cures)} >= {"ceiling", "vanilla", "placebo", "replay"}
