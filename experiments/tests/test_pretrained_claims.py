"""The registered claims on a pretrained model are decided as they say, on runs made up here."""

from __future__ import annotations

import importlib.util
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from unhack.training.experiment.sweep import plan_runs, read_plan

FOLDER = Path(__file__).resolve().parents[1] / "pretrained"
PLAN = read_plan(FOLDER / "registered.toml")
RULES = tomllib.loads((FOLDER / "registered-claims.toml").read_text())
EARLIER = [
    {"shape", "many_answers"}, {"silence", "question_number"},
    {"magic_word", "silence", "special_casing"}, {"question_number", "shape", "persuasion"},
]  # fmt: skip
GOOD = {"held_out": 0.01, "known": 0.0, "solve": 0.74}
BAD = {"held_out": 0.6, "known": 0.5, "solve": 0.3}


@pytest.fixture(scope="module")
def decide() -> Any:
    spec = importlib.util.spec_from_file_location("decide", FOLDER / "decide.py")
    assert spec is not None
    assert spec.loader is not None
    made = sys.modules["decide"] = importlib.util.module_from_spec(spec)  # for its dataclasses
    spec.loader.exec_module(made)
    return made


def record(values: dict[str, float]) -> dict[str, Any]:
    names = {"hack_held_out": "held_out", "hack_known": "known", "solve": "solve"}
    return {name: {"rate": values[of]} for name, of in names.items()}


def runs(folder: Path, choices: int, *, ceiling: float = 0.75) -> list[Path]:
    """Folders of the first choices, in which filter does well and all else but bounds badly."""
    made: list[Path] = []
    for at in range(choices):
        known, base = PLAN.known[at], PLAN.base_seeds[at]
        out = folder / f"{at}"
        for arm in PLAN.arms:
            values = {"filter": GOOD, "ceiling": GOOD | {"solve": ceiling}}.get(arm, BAD)
            for seed in PLAN.seeds:
                run = out / arm / f"b{base}-s{seed}-{'+'.join(known)}"
                run.mkdir(parents=True)
                (run / "final.json").write_text(json.dumps({"deployed": record(values)}))
        (out / "base.json").write_text(json.dumps({"before RL": record(GOOD | {"solve": 0.73})}))
        made.append(out)
    return made


def told(decide: Any, folders: list[Path]) -> dict[str, dict[str, Any]]:
    found, _ = decide.read_choices(folders, PLAN)
    return {one["name"]: one for one in decide.decide(found, RULES)}


def test_no_choice_stood_in_an_earlier_plan_and_each_has_its_own_warm_up() -> None:
    assert not [one for one in PLAN.known if any(set(one) <= earlier for earlier in EARLIER)]
    assert len({*PLAN.known}) == len({*PLAN.base_seeds}) == len(PLAN.known) == 8
    assert len(PLAN.seeds) >= 4
    names = {claim[side] for claim in RULES["claim"] for side in ("arm", "against")}
    assert {name for name in names if isinstance(name, str)} <= {*PLAN.arms}
    assert len(plan_runs(PLAN)) == 8 * 8 * 7 * 4  # of which `--choice` runs an eighth of an eighth


def test_what_all_choices_agree_on_is_supported_and_the_rest_is_not(
    decide: Any, tmp_path: Path
) -> None:
    found = told(decide, runs(tmp_path, 8))
    supported = {name for name, one in found.items() if one["supported"]}
    assert supported == {"filter bound", "filter solve", "pairs matter", "direction matters"}
    assert found["filter bound"]["p"] == pytest.approx(2**-8)
    assert found["real bound"]["gap"] == pytest.approx(0.1 - 0.6)


def test_a_ceiling_below_its_base_carries_no_claim(decide: Any, tmp_path: Path) -> None:
    found = told(decide, runs(tmp_path, 8, ceiling=0.7))
    assert (found["filter solve"]["units"], found["filter solve"]["p"]) == (0, None)
    assert not found["filter solve"]["supported"]
    assert found["filter bound"]["supported"]


def test_few_or_broken_choices_test_nothing_and_are_named(decide: Any, tmp_path: Path) -> None:
    folders = runs(tmp_path, 5)
    next(folders[0].glob("vanilla/*/final.json")).unlink()
    choices, lacks = decide.read_choices(folders, PLAN)
    assert len(choices) == 4
    assert lacks[0] == "magic_word+persuasion: 27 of 28 runs"
    assert {one["p"] for one in decide.decide(choices, RULES)} == {None}
