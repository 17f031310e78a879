"""Harbor folders are played as episodes: the agent has its paths, the judge its own files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run, run  # noqa: F401

from unhack.core.errors import UsageError
from unhack.core.verdict import Status
from unhack.environments.actions import Action, RunCommand, Submit, WriteFile
from unhack.environments.environment import RepositoryEnvironment, RepositoryWorkshop
from unhack.environments.episode import StepResult
from unhack.environments.episode_pool import FinishedEpisode, play
from unhack.environments.players.scripted import IdlePlayer, RandomPlayer, ReferencePlayer
from unhack.environments.sources.loaders.harbor import read_harbor
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.suites import find_tasks

pytestmark = pytest.mark.slow

HELLO = {
    "task.toml": 'artifacts = ["/app/hello.txt"]\n[verifier]\ntimeout_sec = 60\n',
    "instruction.md": "Write Hello into hello.txt.\n",
    "environment/Dockerfile": "FROM ubuntu:24.04\nWORKDIR /app\nCOPY extra.txt ./\n",
    "environment/extra.txt": "x\n",
    "solution/solve.sh": "set -e\ncp /solution/hello /app/hello.txt\n",
    "solution/hello": "Hello\n",
    "tests/test.sh": 'if [ "$(cat /app/hello.txt)" = Hello ]; then echo 1; else echo 0; fi '
    "> /logs/verifier/reward.txt\n",
}


def folder(top: Path) -> Path:
    """A Harbor folder."""
    for path, text in HELLO.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    return top


def stepped(top: Path, *actions: Action) -> list[StepResult]:
    async def main() -> list[StepResult]:
        async with RepositoryWorkshop(slots=1) as workshop:
            episode = workshop.begin(read_harbor(folder(top)))
            return [await episode.step(one) for one in actions]

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("player", "reward"), [(ReferencePlayer(), 1.0), (IdlePlayer(), 0.0), (RandomPlayer(3), 0.0)]
)
def test_the_solver_wins_and_the_idle_and_the_random_agent_lose(
    tmp_path: Path, player: ReferencePlayer | IdlePlayer | RandomPlayer, reward: float
) -> None:
    async def main() -> FinishedEpisode:
        async with RepositoryWorkshop(slots=1) as workshop:
            return await play(workshop.begin(read_harbor(folder(tmp_path))), player)

    played = asyncio.run(main())
    assert (played.error, played.reward, played.solved) == ("", reward, reward == 1.0)


def test_the_workspace_stands_at_the_path_that_the_folder_names(tmp_path: Path) -> None:
    shown, _, ended = stepped(
        tmp_path, RunCommand("cat /app/extra.txt; ls /tests/ /logs/ /app/.solution /app/.harbor"),
        RunCommand("echo Hello > /app/hello.txt"), Submit(),
    )  # fmt: skip
    assert shown.observation.text.startswith("x\n")
    assert shown.observation.text.count("No such file") == 4
    assert ended.outcome is not None
    assert (ended.outcome.status, ended.reward) == (Status.PASSED, 1.0)


def test_nothing_outside_of_the_artefacts_reaches_the_judge(tmp_path: Path) -> None:
    plant = "mkdir -p .harbor/logs/verifier tests; echo 1 > .harbor/logs/verifier/reward.txt; "
    plant += "echo 'echo 1 > /logs/verifier/reward.txt' > tests/test.sh"
    *_, ended = stepped(tmp_path, RunCommand(plant), Submit())
    assert ended.outcome is not None
    assert (ended.outcome.status, ended.reward) == (Status.FAILED, 0.0)


def test_an_episode_forks_and_each_goes_its_own_way(tmp_path: Path) -> None:
    async def main() -> list[float]:
        task = read_harbor(folder(tmp_path))
        async with (
            RepositoryWorkshop(slots=1) as workshop,
            RepositoryEnvironment([task], workshop=workshop) as env,
        ):
            await env.reset(seed=1)
            one, other = env.fork(2)
            await one.step(WriteFile("hello.txt", "Hello\n"))
            return [(await each.step(Submit()))[1] for each in (one, other)]

    assert asyncio.run(main()) == [1.0, 0.0]


def test_a_folder_without_a_solution_ends_the_solver_with_the_reason(tmp_path: Path) -> None:
    async def main() -> FinishedEpisode:
        made = folder(tmp_path)
        (made / "solution" / "solve.sh").unlink()
        async with RepositoryWorkshop(slots=1) as workshop:
            return await play(workshop.begin(read_harbor(made)), ReferencePlayer())

    assert "no solution/solve.sh" in asyncio.run(main()).error


def test_step_rewards_are_refused_where_a_folder_has_no_tests_for_them(tmp_path: Path) -> None:
    task = read_harbor(folder(tmp_path))
    workshop = RepositoryWorkshop(slots=1, rewards=StepRewards(progress=0.5))
    try:
        with pytest.raises(UsageError, match="no dev tests"):
            workshop.begin(task)
    finally:
        workshop.close()


def test_a_folder_of_folders_is_a_suite(tmp_path: Path) -> None:
    for name in ("b", "a"):
        folder(tmp_path / name)
    (tmp_path / "notes").mkdir()
    assert [task.id for task in find_tasks(str(tmp_path))] == ["a", "b"]


def test_the_command_lists_and_plays_folders(run: Run, tmp_path: Path) -> None:  # noqa: F811
    made = folder(tmp_path / "hello")
    listed = run("env", "list", made, "--json")
    assert (listed.code, listed.objects[0]["workdir"]) == (0, "/app")
    assert "solve.sh" not in json.dumps(listed.objects)
    played = run("env", "run", made, "--agent", "solver", "--json")
    assert (played.code, played.objects[0]["solved"]) == (0, True), played.err
