"""Environments for TRL, over the world of repairs and its real judge."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UnknownNameError
from unhack.integrations.trl.episodes import TextWorld, environment_factory
from unhack_study.repairs.judging import Repair, TreeJudge, make_repair
from unhack_study.repairs.packages import draw_package
from unhack_study.repairs.world import RepairState, RepairsWorld


@pytest.fixture(scope="module")
def repair() -> Repair:
    return make_repair(draw_package("trl", faults=1))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory, repair: Repair) -> TextWorld[RepairState]:
    folder: Path = tmp_path_factory.mktemp("trl")
    judge = TreeJudge(folder / "verdicts.sqlite")
    world = RepairsWorld(judge)

    def left(state: RepairState) -> float:
        return float(judge.judge([state.repair], [state.operators])[0].solved)

    return TextWorld(
        world,
        {repair.id: world.start(repair)},
        encode=lambda action: f"{action}\n".encode(),
        decode=lambda ids: bytes(ids).decode(),
        judge_left=left,
    )


def _fixed(environment: Any, repair: Repair) -> None:
    package = repair.package
    [site] = [at for at in range(3) if package.faulty[at] != package.right[at]]
    environment.act(f"read {site + 1}")
    environment.act(f"fix {site + 1} {package.right[site]}")


def test_the_class_has_what_the_trainer_looks_for(text: TextWorld[RepairState]) -> None:
    kind = environment_factory(text)
    public = {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}
    assert public == {"reset", "act", "get_reward"}
    told = inspect.getdoc(kind.act) or ""
    assert "Args:" in told
    assert "Returns:" in told
    assert kind.act.__annotations__ == {"action": "str", "return": "str"}


def test_an_instance_plays_one_episode_after_another(
    text: TextWorld[RepairState], repair: Repair
) -> None:
    environment = environment_factory(text)()
    for _ in range(2):
        assert environment.reset(task=repair.id, prompt="unused") == "?\n?\n?\n? 8>"
        _fixed(environment, repair)
        assert environment.act("submit") == "The episode has ended."
        assert environment.act("read 1") == "The episode has ended."
        assert environment.get_reward() == 1.0


def test_what_the_trainer_leaves_is_judged_as_its_files_stand(
    text: TextWorld[RepairState], repair: Repair
) -> None:
    environment = environment_factory(text)()
    environment.reset(task=repair.id)
    assert environment.get_reward() == 0.0
    _fixed(environment, repair)
    assert environment.get_reward() == 1.0


def test_step_rewards_shift_the_sum_by_the_start_alone(
    text: TextWorld[RepairState], repair: Repair
) -> None:
    """Nothing done, mended and left, mended and handed in: the outcome less Φ of the start."""
    environment = environment_factory(text, process=1.0)()
    environment.reset(task=repair.id)
    idle = environment.get_reward()
    _fixed(environment, repair)
    left = environment.get_reward()
    environment.act("submit")
    assert idle == pytest.approx(left - 1.0)
    assert environment.get_reward() == pytest.approx(left)


def test_a_task_that_is_missing_is_named(text: TextWorld[RepairState]) -> None:
    with pytest.raises(UnknownNameError, match="repairs/trl"):
        environment_factory(text)().reset(task="repairs/tlr")


def test_the_tool_has_a_schema_that_a_chat_template_can_render(
    text: TextWorld[RepairState],
) -> None:
    library: Any = pytest.importorskip("transformers.utils")
    schema = library.get_json_schema(environment_factory(text)().act)["function"]
    assert schema["name"] == "act"
    assert schema["parameters"]["required"] == ["action"]
    assert schema["parameters"]["properties"]["action"]["type"] == "string"
