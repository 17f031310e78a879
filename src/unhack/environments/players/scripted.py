"""Scripted players: the reference solution, nothing at all, random actions.

They are the controls of a suite: the solver must win, the idle one must lose, the random one shows
what luck is worth.
"""

from __future__ import annotations

import shlex
from random import Random

from unhack.core.errors import UsageError
from unhack.environments.actions import (
    Action,
    ListFiles,
    ReadFile,
    RunCommand,
    RunTests,
    SearchText,
    Submit,
    WriteFile,
)
from unhack.environments.episode import Episode
from unhack.environments.sources.loaders.harbor import OWN, HarborTask
from unhack.environments.task import RepositoryTask
from unhack.sandbox.workspace.layers import read_stored


class ReferencePlayer:
    """Looks round, writes the reference solution, runs the tests, submits."""

    async def act(self, episode: Episode) -> Action:
        """The next step of the script."""
        task = episode.task
        script: list[Action] = [ListFiles()]
        if isinstance(task, HarborTask):
            script += _solved(task)
        elif isinstance(task, RepositoryTask):
            for path, text in sorted(task.reference.items()):
                gone = RunCommand(f"rm -- '{path}'")
                script.append(gone if text is None else WriteFile(path, text))
            script.append(RunTests())
        script.append(Submit())
        return script[min(len(episode.turns), len(script) - 1)]


def _solved(task: HarborTask) -> list[Action]:
    """The folder's own solution, run in the workspace and removed. Raises UsageError without."""
    if "solve.sh" not in task.solution:
        raise UsageError(f"{task.id}: there is no solution/solve.sh for the solver to run")
    place = f"{OWN}/solution" if task.image is None else "/solution"
    laid = [
        WriteFile(f"{place}/{path}", data.decode(errors="surrogateescape"))
        for path, data in sorted(task.solution.items())
    ]
    gone = " ".join(shlex.quote(one.path) for one in laid)  # what it makes beside them stays
    run = f"bash {place}/solve.sh; code=$?; rm -f {gone}; rmdir {place}; exit $code"
    return [*laid, RunCommand(run)]


class IdlePlayer:
    """Submits at once."""

    async def act(self, episode: Episode) -> Action:
        """Hand in what was there."""
        del episode
        return Submit()


class RandomPlayer:
    """Takes random actions on random files, and swaps, doubles or drops random lines."""

    def __init__(self, seed: int = 0, *, turns: int = 8) -> None:
        """It submits after `turns` actions."""
        self._seed, self._turns = seed, turns

    async def act(self, episode: Episode) -> Action:
        """A random action; the same for the same seed, task and state."""
        if len(episode.turns) >= self._turns:
            return Submit()
        random = Random(f"{self._seed} {episode.task.id} {len(episode.turns)} {episode.state_id}")
        files = [path for path in sorted(episode.state.tree.files()) if path.endswith(".py")]
        if not files:
            return random.choice((ListFiles(), RunCommand("ls -R"), RunTests()))
        path = random.choice(files)
        kind = random.randrange(6)
        if kind == 0:
            return ReadFile(path)
        if kind == 1:
            return SearchText("def ")
        if kind == 2:
            return RunTests()
        file = episode.state.tree.files()[path]
        lines = read_stored(file).decode(errors="replace").splitlines(keepends=True)
        if not lines or not episode.task.may_change(path):
            return RunCommand("ls -R")
        at = random.randrange(len(lines))
        other = random.randrange(len(lines))
        if kind == 3:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 4:
            lines.insert(at, lines[other])
        else:
            del lines[at]
        return WriteFile(path, "".join(lines))
