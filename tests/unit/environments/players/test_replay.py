"""Replays: the same verdict for our own runs, and for others' a verdict with its gaps by name."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run, run  # noqa: F401
from tests.unit.environments.rectangles import RIGHT, rectangles
from tests.unit.environments.test_harbor_episode import HELLO, folder

from unhack.environments.environment import EpisodeTask, RepositoryWorkshop
from unhack.environments.episode import Episode, EpisodeLimits
from unhack.environments.episode_pool import FinishedEpisode, play
from unhack.environments.players.replay import ReplayedRun, replay
from unhack.environments.report.atif import as_trajectory, read_trajectory
from unhack.environments.sources.loaders.harbor import read_harbor

from .records import EDITOR, SCRIPTS, TERMINAL, answer, call, record, saved, step

pytestmark = pytest.mark.slow
WRITE = ("write", {"path": "shapes/core.py", "text": RIGHT})
OURS: dict[str, list[Any]] = {
    "solved": [
        ("read", {"path": "shapes"}), ("shell", {"command": "cd shapes; x='a * b'"}),
        ("shell", {"command": 'sed -i "s/a + b/$x/" core.py; cat core.py'}),
        ("edit", {"path": "shapes/core.py", "old": "b", "new": "c"}), ("submit", {}),
    ],
    "not solved": [("run", {"command": "exit 3"}), ("dance", {}), ("submit", {})],
    "cut": [WRITE, ("test", {}), ("list", {})],
    "never an action": [WRITE, *[("dance", {"n": n}) for n in range(9)], "words"],
}  # fmt: skip


class Sends:
    def __init__(self, sent: list[Any]) -> None:
        self.sent = sent

    async def act(self, episode: Episode) -> Any:
        return self.sent[len(episode.turns)]


def played(sent: list[Any], task: EpisodeTask) -> FinishedEpisode:
    async def main() -> FinishedEpisode:
        limits = EpisodeLimits(turns=max(3, len(sent)))
        async with RepositoryWorkshop(slots=1, limits=limits) as workshop:
            return await play(workshop.begin(task), Sends(sent))

    return asyncio.run(main())


def replayed(
    top: Path, trajectory: Any, task: EpisodeTask, workdir: str | None = None
) -> ReplayedRun:
    record_ = read_trajectory(saved(top, trajectory))
    return asyncio.run(replay(task, record_, workdir=workdir))


@pytest.mark.sample
@pytest.mark.parametrize("name", OURS)
def test_a_trajectory_of_ours_gets_the_same_verdict_and_the_same_observations(
    name: str, tmp_path: Path
) -> None:
    task = rectangles()
    first = played(OURS[name], task)
    again = replayed(tmp_path, as_trajectory(first, agent="x"), task)
    assert first.outcome is not None
    assert again.finished.outcome is not None
    assert again.gaps == ()
    assert again.finished.outcome.score == first.outcome.score == float(name in ("solved", "cut"))
    assert again.finished.outcome.status == first.outcome.status
    words = [one.likeness(exact=True)[0] for one in again.steps[1:]]
    assert words == ["same"] * len(first.turns)


def test_an_observation_that_differs_is_shown_with_its_first_line(tmp_path: Path) -> None:
    task = rectangles()
    trajectory = as_trajectory(played(OURS["solved"], task), agent="x")
    result = trajectory["steps"][3]["observation"]["results"][0]
    result["content"] = result["content"].replace("return a * b", "return a - b")
    again = replayed(tmp_path, trajectory, task)
    assert again.steps[3].likeness(exact=True) == (
        "differs", "    return a - b", "    return a * b",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("trajectory", "words"),
    [
        (TERMINAL, ["within", "unknown", "within", "unknown", "done"]),
        (EDITOR, ["done", "differs", "within", "unknown", "unknown"]),
        (SCRIPTS, ["within", "differs", "same"]),  # `pwd` says /workspace
    ],
)
def test_runs_of_several_harnesses_are_played_again_and_judged(
    trajectory: Any, words: list[str], tmp_path: Path
) -> None:
    task = read_harbor(folder(tmp_path / "hello"))
    again = replayed(tmp_path, trajectory, task)
    assert (again.finished.solved, again.gaps) == (True, ())
    assert [one.likeness()[0] for one in again.steps[1:]] == words
    assert json.loads(json.dumps(again.to_json()))["solved"] is True


def test_an_edit_that_does_not_fit_now_is_seen(tmp_path: Path) -> None:
    edit = call("a", "Edit", file_path="/app/extra.txt", old_string="none", new_string="y")
    trajectory = record("x", step(edit, results=[answer("The file has been updated.", "a")]))
    again = replayed(tmp_path, trajectory, read_harbor(folder(tmp_path / "hello")))
    word, _, now = again.steps[1].likeness()
    assert (word, now) == ("refused", "extra.txt: old does not occur in it")


def test_everything_that_was_not_played_is_named(tmp_path: Path) -> None:
    trajectory = record(
        "x",
        step(call("a", "fly"), call("b", "Bash", command="echo Hello > hello.txt")),
        step(call("a", "Bash", command="serve", run_in_background=True)),
        step(results=[answer("$ ls")]),
        continued_trajectory_ref="next.json",
    )
    again = replayed(tmp_path, trajectory, read_harbor(folder(tmp_path / "hello")))
    assert again.gaps == (
        (2, "fly: no action stands for it"),
        (3, "Bash: its argument 'run_in_background' has no like here"),
        (4, "an observation without a tool call: what was done stands in no call"),
        (4, "it goes on in next.json, which is not played"),
    )
    assert again.finished.solved


def test_the_command_ends_with_the_code_of_the_verdict(run: Run, tmp_path: Path) -> None:  # noqa: F811
    task = folder(tmp_path / "hello")
    good, bad, part = (copy.deepcopy(EDITOR) for _ in range(3))
    bad["steps"] = bad["steps"][:1]
    part["steps"][1]["tool_calls"][0]["function_name"] = "fly"
    for name, trajectory, code in (("good", good, 0), ("bad", bad, 1), ("part", part, 4)):
        (tmp_path / name).mkdir()
        place = saved(tmp_path / name, trajectory)
        shown = run("env", "replay", place, task)
        assert shown.code == code, shown.err
        assert ("The verdict is of what was played" in shown.out) == (code == 4)
        [values] = run("env", "replay", place, task, "--json").objects
        assert values["solved"] == (code == 0)
        assert bool(values["gaps"]) == (code == 4)
    assert "step 2 was not played: fly: no action stands for it" in shown.out
    assert run("env", "replay", tmp_path / "none.json", task).code == 2
    wrong = run("env", "replay", saved(tmp_path, good), "repos/none")
    assert (wrong.code, "repos/none" in wrong.err) == (2, True)


def test_a_grader_that_cannot_be_believed_leaves_the_replay_undecided(
    run: Run,  # noqa: F811
    tmp_path: Path,
) -> None:
    task = folder(tmp_path / "hello")
    (task / "tests" / "test.sh").write_text("exit 1\n")
    assert HELLO["tests/test.sh"] != "exit 1\n"
    assert run("env", "replay", saved(tmp_path, EDITOR), task).code == 4


def test_a_played_suite_is_written_as_trajectories_that_replay(run: Run, tmp_path: Path) -> None:  # noqa: F811
    task = folder(tmp_path / "hello")
    assert run("env", "run", task, "--agent", "solver", "--out", tmp_path / "out").code == 0
    place = tmp_path / "out" / "trajectories" / "0.json"
    assert json.loads(place.read_text())["agent"]["name"] == "solver"
    again = run("env", "replay", place, task, "--json")
    assert (again.code, again.objects[0]["solved"]) == (0, True), again.err
    assert [one["likeness"] for one in again.objects[0]["steps"][1:]] == ["same"] * 5
