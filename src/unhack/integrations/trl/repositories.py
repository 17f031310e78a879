"""Repository tasks as an environment of TRL's trainers: an agent's tools in a sealed workspace.

    rollouts = RepositoryRollouts({task.id: task for task in find_repository_tasks("repos")})
    trainer = GRPOTrainer(model, train_dataset=rows, environment_factory=rollouts, args=config)

A row's column `task` names the task; its statement is added to the prompt. The public methods are
the tools, `get_reward` is the outcome plus step rewards.

Covered: TRL 1.16's shape, in GRPOTrainer and, because the factory pickles, AsyncGRPOTrainer; calls
from any thread; an episode that the trainer ends is judged as its files stand; an unscored one has
no reward, which TRL leaves out.
Not covered: rewards of single turns, which TRL has no word for.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from unhack.core.errors import UnknownNameError, UsageError
from unhack.environments.episode import Episode, EpisodeLimits
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.task import RepositoryTask
from unhack.integrations.rows import name_in
from unhack.integrations.sessions import EpisodeHost

T = TypeVar("T")
Paths = list[str]
_ENDED = "The episode has ended."


class RepositoryRollout:
    """One rollout's environment, used again after `reset`."""

    def __init__(self, rollouts: RepositoryRollouts) -> None:
        self._rollouts = rollouts
        self._episode: Episode | None = None

    def reset(self, **row: Any) -> str:
        """Begin the task of a row. Raises UnknownNameError, UsageError."""
        self._episode = self._rollouts.begin(name_in(row, "task"))
        return self._episode.opening().text

    def get_reward(self) -> float | None:
        """Outcome and step rewards; None where the judge could not score."""
        episode = self._running()
        if not episode.ended:
            self._act("submit")
        if not episode.turns[-1].result.scored:
            return None
        return sum(turn.result.reward for turn in episode.turns)

    def read(self, path: str, start: int = 1, lines: int = 400) -> str:
        """Show a text file, whole or some of its lines.

        Args:
            path: Path of the file, relative to the workspace.
            start: First line to show, counted from 1.
            lines: Most lines to show.

        Returns:
            The lines.
        """
        return self._act("read", path=path, start=start, lines=lines)

    def list(self, path: str = "", depth: int = 3) -> str:
        """List the files below a folder.

        Args:
            path: Folder, relative to the workspace; empty for all of it.
            depth: Levels of folders to show.

        Returns:
            The files.
        """
        return self._act("list", path=path, depth=depth)

    def search(self, text: str, path: str = "", regex: bool = False) -> str:
        """Find the lines of text files that hold a string or match a regular expression.

        Args:
            text: String to find, or regular expression.
            path: File or folder to search; empty for all of it.
            regex: True where the text is an extended regular expression, as grep -E takes it.

        Returns:
            The lines with their files and numbers.
        """
        return self._act("search", text=text, path=path, regex=regex)

    def write(self, path: str, text: str) -> str:
        """Create or replace a file; its folders are made.

        Args:
            path: Path of the file, relative to the workspace.
            text: The whole content.

        Returns:
            Confirmation, or the reason of a refusal.
        """
        return self._act("write", path=path, text=text)

    def edit(self, path: str, old: str = "", new: str = "", insert_line: int = -1) -> str:
        """Replace a passage of a text file that occurs once, or insert text behind a line.

        Args:
            path: Path of the file, relative to the workspace.
            old: The passage, exactly as it stands in the file; empty to insert.
            new: The text in its place.
            insert_line: Line behind which the new text is inserted; 0 for the top.

        Returns:
            The lines as they stand then, or the reason of a refusal.
        """
        return self._act("edit", path=path, old=old, new=new, insert_line=insert_line)

    def patch(self, patch: str) -> str:
        """Apply a unified diff to the workspace: change, create and delete files.

        Args:
            patch: Unified diff, paths relative to the workspace, with or without a/ and b/.

        Returns:
            Confirmation, or the reason of a refusal.
        """
        return self._act("patch", patch=patch)

    def run(self, command: str) -> str:
        """Run a shell command in the workspace. Only files survive it: no process, no variable.

        Args:
            command: Script for bash.

        Returns:
            Output and exit code.
        """
        return self._act("run", command=command)

    def shell(self, command: str) -> str:
        """Run a command in a shell that lasts: directory, variables and functions stay.

        Args:
            command: Script for bash.

        Returns:
            Output and exit code.
        """
        return self._act("shell", command=command)

    def test(self, paths: Paths | None = None) -> str:
        """Run the workspace's own tests with pytest.

        Args:
            paths: Test files, folders or ids; none for all.

        Returns:
            The output of pytest.
        """
        return self._act("test", paths=paths or [])

    def submit(self) -> str:
        """Hand in the workspace as it stands. This ends the episode.

        Returns:
            Confirmation.
        """
        return self._act("submit")

    def _running(self) -> Episode:
        if self._episode is None:
            raise UsageError("call reset first")
        return self._episode

    def _act(self, name: str, **arguments: Any) -> str:
        episode = self._running()
        if episode.ended:
            return _ENDED
        return self._rollouts.wait(episode.step((name, arguments))).observation.text


@dataclass(eq=False)
class RepositoryRollouts:
    """Makes environments, for `environment_factory`; they share workers and start states.

    Example:

        tasks = {task.id: task for task in find_repository_tasks("repos")}
        rollouts = RepositoryRollouts(tasks, limits=EpisodeLimits(turns=20))
        GRPOTrainer(model, train_dataset=rows, environment_factory=rollouts)
    """

    tasks: Mapping[str, RepositoryTask]
    """By the id that a row's column `task` holds."""
    limits: EpisodeLimits | None = None
    rewards: StepRewards | None = None

    def __post_init__(self) -> None:
        if not self.tasks:
            raise UsageError("tasks is empty; an environment needs at least one task")
        self._made: EpisodeHost | None = None
        self._lock = threading.Lock()

    def __call__(self) -> RepositoryRollout:
        """An environment; nothing is started before its first `reset`."""
        return RepositoryRollout(self)

    def begin(self, name: str) -> Episode:
        """A new episode of the task with this id. Raises UnknownNameError."""
        if name not in self.tasks:
            raise UnknownNameError("task", name, valid=tuple(self.tasks))
        return self._host().begin(self.tasks[name])

    def wait(self, job: Coroutine[Any, Any, T]) -> T:
        """The result of a job, which the loop of all environments runs beside the others."""
        return self._host().wait(job)

    def close(self) -> None:
        """End the workers and remove the start states; a process does so at its end."""
        atexit.unregister(self.close)
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made.close()

    def _host(self) -> EpisodeHost:
        with self._lock:
            if self._made is None:
                self._made = EpisodeHost(limits=self.limits, rewards=self.rewards)
                atexit.register(self.close)
            return self._made

    def __getstate__(self) -> dict[str, Any]:
        """Settings alone: workers and start states stay in their process."""
        tasks = {name: _plain(task) for name, task in self.tasks.items()}
        return {"tasks": tasks, "limits": self.limits, "rewards": self.rewards}

    def __setstate__(self, state: dict[str, Any]) -> None:
        tasks = {name: RepositoryTask(**values) for name, values in state["tasks"].items()}
        self.__dict__.update(state, tasks=tasks)
        self.__post_init__()


def _plain(task: RepositoryTask) -> dict[str, Any]:
    """A task's fields; views of mappings, which do not pickle, as mappings of their own."""
    values = {one.name: getattr(task, one.name) for one in fields(task)}
    return {
        name: {**value} if isinstance(value, Mapping) else value for name, value in values.items()
    }
