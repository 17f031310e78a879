"""Worlds of what users have: tasks, sealed reward functions, repository tasks, own classes."""

import json
import textwrap
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

pytest.importorskip("torch")

from unhack.core.errors import BatchUnscoredError, UsageError
from unhack.training.config.settings import Settings
from unhack.training.config.toml import override
from unhack.training.worlds import registry
from unhack.training.worlds.registry import make_world
from unhack.training.worlds.texts import ByteCodec
from unhack.training.worlds.world import World

REWARDS = """
import os

def score(completion, answer):
    if completion == "crash":
        os._exit(3)
    if completion == "nan":
        return float("nan")
    return 2.0 if answer in completion else -0.5

def broken(completion, answer):
    raise ValueError("no score today")

def detect(completion):
    return "cheat" in completion
"""

Opener = Callable[..., World]


@pytest.fixture
def open_world(tmp_path: Path) -> Opener:
    (tmp_path / "rewards.py").write_text(REWARDS)
    rows = [{"id": f"sum-{n}", "prompt": f"{n}+1=", "answer": str(n + 1)} for n in range(4)]
    (tmp_path / "rewards.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def make(name: str, **changes: str) -> World:
        fields = {f"world.{key}": value for key, value in changes.items()}
        settings = override(Settings(), {"world.name": name, **fields})
        return make_world(settings, tmp_path)

    return make


@pytest.mark.slow
def test_a_reward_function_is_called_sealed_and_a_crash_is_worth_no_more_than_nothing(
    open_world: Opener, tmp_path: Path
) -> None:
    world = open_world(f"{tmp_path}/rewards.py:score")
    prompts = [prompt for prompt in world.draw(4, seed=0, step=0) if prompt.problem == "sum-3"] * 4
    found = world.judge(prompts, ["it is 4", "it is 5", "crash", "nan"])
    assert [one.reward for one in found] == [2.0, -0.5, -0.5, -0.5]
    assert all(one.solved is None and one.hacked is None for one in found)
    assert {one.detected for one in found} == {None}


@pytest.mark.slow
def test_a_function_that_scores_nothing_ends_the_step(open_world: Opener, tmp_path: Path) -> None:
    world = open_world(f"{tmp_path}/rewards.py:broken")
    with pytest.raises(BatchUnscoredError, match="no score today"):
        world.judge(world.draw(1, seed=0, step=0), ["4"])


@pytest.mark.slow
def test_a_detector_labels_and_its_absence_gives_no_label(
    open_world: Opener, tmp_path: Path
) -> None:
    world = open_world(f"{tmp_path}/rewards.py:score", detector=f"{tmp_path}/rewards.py:detect")
    prompts = world.draw(2, seed=0, step=0)
    found = world.judge(prompts, ["a cheat", "an answer"])
    assert [one.detected for one in found] == [True, False]


@pytest.mark.slow
def test_each_problem_comes_once_before_any_comes_again(open_world: Opener, tmp_path: Path) -> None:
    world = open_world(f"{tmp_path}/rewards.py:score")
    drawn = [prompt.problem for step in range(2) for prompt in world.draw(2, seed=1, step=step)]
    assert sorted(drawn) == ["sum-0", "sum-1", "sum-2", "sum-3"]


def test_a_suite_is_scored_by_its_own_verifiers(open_world: Opener) -> None:
    from unhack.tasks.suite import find_tasks

    tasks = {task.id: task for task in find_tasks("numbers")}
    world = open_world("numbers")
    prompts = [world.draw(1, seed=0, step=0)[0]] * 2
    right = tasks[prompts[0].problem].problem.reference
    assert right is not None
    found = world.judge(prompts, [right, "def nothing(): pass"])
    assert [one.reward for one in found] == [1.0, 0.0]


def test_tasks_of_a_module_are_a_world(open_world: Opener, tmp_path: Path) -> None:
    (tmp_path / "own_tasks.py").write_text(
        textwrap.dedent("""
        from unhack.core.problem import Problem
        from unhack.tasks.task import Task
        from unhack.verifiers.text import AnswerCheck, TextVerifier

        six = Problem("six", "What is 2 times 3?", answer="6")
        tasks = [Task(six, TextVerifier(AnswerCheck.EXACT))]
        """)
    )
    world = open_world(f"{tmp_path}/own_tasks.py:tasks")
    prompts = world.draw(2, seed=0, step=0)
    found = world.judge(prompts, ["#### 6", "#### 7"])
    assert [one.reward for one in found] == [1.0, 0.0]


def test_a_class_that_draws_and_judges_is_a_world_of_its_own(
    open_world: Opener, tmp_path: Path
) -> None:
    (tmp_path / "own_world.py").write_text(
        textwrap.dedent("""
        class Mine:
            name = "mine"
            def __init__(self, settings, *, folder):
                self.settings = settings
            def draw(self, count, *, seed, step):
                return []
            def judge(self, prompts, completions):
                return []
        """)
    )
    assert open_world(f"{tmp_path}/own_world.py:Mine").name == "mine"


class Installed:
    name = "installed"

    def __init__(self, settings: object, *, folder: Path) -> None:
        pass

    def judge(self) -> None:
        pass


def test_a_world_of_an_installed_distribution_is_known_by_its_name(
    open_world: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = {"theirs": EntryPoint("theirs", f"{__name__}:Installed", "unhack.worlds")}
    monkeypatch.setattr(registry, "entry_points", lambda _: points)
    assert open_world("theirs").name == "installed"
    with pytest.raises(UsageError, match="did you mean theirs"):
        open_world("their")


def test_a_world_of_several_turns_is_told_what_trains_on_it(open_world: Opener) -> None:
    with pytest.raises(UsageError, match="train_episodes"):
        open_world("repairs")


@pytest.mark.slow
def test_pairs_come_from_an_audit_and_their_absence_is_told(
    open_world: Opener, tmp_path: Path
) -> None:
    target = f"{tmp_path}/rewards.py:score"
    with pytest.raises(UsageError, match=r"unhack audit .* --pairs"):
        open_world(target).pairs("real", count=4, seed=0)
    row = {"problem": "sum-3", "prompt": "3+1=", "hack": "0123456789", "clean": "4", "flaw": "x"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row) + "\n")
    world = open_world(target, pairs_path=f"{tmp_path}/pairs.jsonl")
    [pair] = world.pairs("real", count=4, seed=0)
    assert pair.prompt in world.final()
    assert world.decode(pair.hack) == "0123456789"
    assert pair.clean[-1] == world.stop


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": "strngs"}, "strings"),
        ({"name": "prograns"}, "programs"),
        ({"name": "programs", "detector": "x:y"}, "leave world.detector empty"),
        ({"name": "strings/knit-rows", "prompt_tokens": "3"}, "world.prompt_tokens"),
        ({"name": "strings/knit-rows", "path": "rows.jsonl"}, "is none"),
    ],
)
def test_what_cannot_be_a_world_is_told(
    open_world: Opener, changes: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        open_world(**changes)


def test_settings_of_labels_and_modes_are_refused_where_there_are_none(tmp_path: Path) -> None:
    for changes, told in (
        ({"gate.kind": "oracle"}, "needs an oracle"),
        ({"world.held_out_from": "5"}, r"no modes .* world\.held_out_from=0"),
        ({"baseline.kind": "detector_penalty"}, r"world\.detector"),
    ):
        settings = override(Settings(), {"world.name": "strings/knit-rows", **changes})
        with pytest.raises(UsageError, match=told):
            make_world(settings, tmp_path)


def test_bytes_give_texts_back() -> None:
    codec = ByteCodec()
    text = "für \u4f60\u597d\n"
    assert codec.decode([*codec.encode(text), codec.stop, 7]) == text


@pytest.mark.slow
def test_a_repository_task_is_played_in_one_turn(open_world: Opener) -> None:
    from unhack.environments.suites import find_repository_tasks
    from unhack_suites.repos.suite import public_recipes

    name = next(iter(public_recipes())).id
    task = next(find_repository_tasks(name))
    import difflib

    parts: list[str] = []
    for path, after in task.reference.items():
        before = task.files[path].decode().splitlines(keepends=True)
        parts += difflib.unified_diff(
            before, (after or "").splitlines(keepends=True), f"a/{path}", f"b/{path}"
        )
    world = open_world(name, prompt_tokens="100000")
    prompts = [world.draw(1, seed=0, step=0)[0]] * 2
    found = world.judge(prompts, [f"```diff\n{''.join(parts)}```", "I do not know."])
    world._source.close()  # type: ignore[attr-defined]
    assert [one.reward for one in found] == [1.0, 0.0]
