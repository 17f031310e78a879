"""Repository tasks in the shape of TRL's environments."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.unit.environments.rectangles import RIGHT, rectangles

from unhack.core.errors import UnknownNameError, UsageError
from unhack.environments.actions import KINDS, TOOLS
from unhack.environments.episode import EpisodeLimits
from unhack.integrations.trl.repositories import RepositoryRollout, RepositoryRollouts

TASK = rectangles()


@pytest.fixture(scope="module")
def rollouts() -> Iterator[RepositoryRollouts]:
    made = RepositoryRollouts({TASK.id: TASK}, limits=EpisodeLimits(turns=4))
    yield made
    made.close()


def test_its_tools_are_the_actions(rollouts: RepositoryRollouts) -> None:
    found = inspect.getmembers(type(rollouts()), inspect.isfunction)
    public = {name: method for name, method in found if name[0] != "_"}
    assert public.keys() == {*KINDS, "reset", "get_reward"}
    for tool in TOOLS:
        parameters = inspect.signature(public[tool["name"]]).parameters
        assert set(parameters) - {"self"} == set(tool["parameters"]["properties"])
        text = inspect.getdoc(public[tool["name"]]) or ""
        assert all(f"    {name}: " in text for name in tool["parameters"]["properties"])
        assert "Returns:" in text


def test_an_instance_plays_one_episode_after_another(rollouts: RepositoryRollouts) -> None:
    environment = rollouts()
    for _ in range(2):
        assert environment.reset(task=TASK.id, prompt="unused") == TASK.statement
        assert "shapes/core.py" in environment.list()
        environment.write("shapes/core.py", RIGHT)
        assert environment.submit() == "handed in"
        assert environment.read("shapes/core.py") == "The episode has ended."
        assert environment.get_reward() == 1.0


def test_what_the_trainer_leaves_is_judged_as_its_files_stand(rollouts: RepositoryRollouts) -> None:
    environment = rollouts()
    environment.reset(task=TASK.id)
    assert environment.get_reward() == 0.0
    environment.reset(task=TASK.id)
    environment.write("shapes/core.py", RIGHT)
    assert environment.get_reward() == environment.get_reward() == 1.0


def test_the_limit_of_turns_ends_an_episode(rollouts: RepositoryRollouts) -> None:
    environment = rollouts()
    environment.reset(task=TASK.id)
    shown = [environment.list() for _ in range(5)]
    assert [text == "The episode has ended." for text in shown] == [False] * 4 + [True]
    assert environment.get_reward() == 0.0


@pytest.mark.slow
def test_rollouts_run_at_once_in_threads(rollouts: RepositoryRollouts) -> None:
    def played(right: bool) -> float | None:
        environment = rollouts()
        environment.reset(task=TASK.id)
        if right:
            environment.write("shapes/core.py", RIGHT)
        assert "[exit code" in environment.run("ls")
        return environment.get_reward()

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(played, [True, False, True, False])) == [1.0, 0.0, 1.0, 0.0]


def test_the_factory_goes_to_another_process(rollouts: RepositoryRollouts) -> None:
    copy = pickle.loads(pickle.dumps(rollouts))  # noqa: S301  our own
    environment = copy()
    assert isinstance(environment, RepositoryRollout)
    assert environment.reset(task=TASK.id) == TASK.statement
    assert environment.get_reward() == 0.0
    copy.close()


def test_bad_rows_and_tools_are_named(rollouts: RepositoryRollouts) -> None:
    environment = rollouts()
    with pytest.raises(UsageError, match="call reset first"):
        environment.list()
    with pytest.raises(UnknownNameError, match=TASK.id):
        environment.reset(task=TASK.id[:-1])
    with pytest.raises(UnknownNameError, match="'task'"):
        environment.reset(prompt="p")
    with pytest.raises(UsageError, match="'task'"):
        environment.reset(task=float("nan"))
    with pytest.raises(UsageError, match="tasks is empty"):
        RepositoryRollouts({})
    environment.reset(task=TASK.id)
    assert "NUL" in environment.write("a", "\0")
    assert "no Unicode" in environment.write("a", "\ud800")
    assert "longer than" in environment.write("a", "x" * (2 << 20))
