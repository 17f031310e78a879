"""`RepositoryEnvironment`: Gymnasium's `reset` and `step`, async, over a suite of tasks.

    async with RepositoryEnvironment(tasks) as env:
        observation, info = await env.reset(seed=0)
        observation, reward, *ends, info = await env.step(("read", {"path": "a.py"}))

Covered: a seed names a task; environments share supervisors, judges and start states; `fork`
continues an episode several times from where it stands.
Not covered: a synchronous face (`integrations.gymnasium`); many episodes at once (`episode_pool`).
Source: Gymnasium 1.x, `Env.reset` and `Env.step`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Self

from unhack.core.errors import TaskError, UsageError
from unhack.environments.actions import TOOLS, Action
from unhack.environments.episode import (
    Episode,
    EpisodeLimits,
    EpisodeParts,
    StepResult,
    StepRewards,
)
from unhack.environments.image_judge import LIMITS as IMAGE_LIMITS
from unhack.environments.image_judge import ImageJudge
from unhack.environments.judging import RepositoryJudge, StateJudge
from unhack.environments.observation import Observation
from unhack.environments.sources.loaders.harbor import SOLUTION, HarborJudge, HarborTask
from unhack.environments.task import RepositoryTask
from unhack.sandbox.images.build import folder_key
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.job import Backend
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.states import WorkspaceState

EpisodeTask = RepositoryTask | HarborTask
"""The kinds of tasks that episodes are played of."""
Stepped = tuple[Observation, float, bool, bool, dict[str, Any]]


class RepositoryWorkshop:
    """The parts that episodes share: supervisors, and for each task its start state and its judge.

    Example:

        async with RepositoryWorkshop(slots=8) as workshop:
            episode = workshop.begin(task)
            result = await episode.step(("run", {"command": "pytest -q"}))
    """

    def __init__(
        self,
        *,
        slots: int = 0,
        limits: EpisodeLimits | None = None,
        rewards: StepRewards | None = None,
        backend: Backend | None = None,
        images: ImageStore | None = None,
    ) -> None:
        """`slots` commands run at once, 0 for one a core; `backend` judges, None for the shared
        pool; `images` has the images of tasks, None for this user's."""
        self.commands = CommandPool(slots=slots)
        self._slots = slots
        self._of_folders: dict[str, CommandPool] = {}
        """Supervisors that show the workspace at the path that a Harbor folder has it at."""
        self.limits = limits or EpisodeLimits()
        self.rewards = rewards or StepRewards()
        self._backend = backend
        self._starts: dict[str, tuple[EpisodeTask, WorkspaceState, EpisodeParts]] = {}
        self._of_images: dict[str, CommandPool] = {}
        """Supervisors that run commands in an image."""
        self._images = images or ImageStore()
        self._judges: list[HarborJudge] = []

    def begin(self, task: EpisodeTask) -> Episode:
        """A new episode of a task. Raises UsageError for another task with the same id, TaskError
        for one whose image is not built."""
        known = self._starts.get(task.id)
        if known is None:
            known = self._starts[task.id] = (task, *self._prepared(task))
        elif known[0] is not task:
            raise UsageError(f"two tasks are called {task.id}")
        return Episode(task, *known[1:])

    async def check(self, task: EpisodeTask) -> str:
        """Why no grade of a task can be believed on this host; empty where they can."""
        judge = self.judge(task)
        return await judge.check() if isinstance(judge, ImageJudge) else ""

    def _prepared(self, task: EpisodeTask) -> tuple[WorkspaceState, EpisodeParts]:
        """The start state of a task, and what its episodes share."""
        if isinstance(task, HarborTask) and task.environment is not None:
            return self._in_image(task, task.environment)
        if isinstance(task, RepositoryTask):
            commands, executable = self.commands, task.executable
            judge: StateJudge = RepositoryJudge(task, backend=self._backend)
        else:
            commands, executable = self._commands_at(task.workdir), frozenset[str]()
            judge = HarborJudge(task)
            self._judges.append(judge)
        start = commands.states.load(task.files, executable=executable)
        return start, EpisodeParts(commands, judge, self.limits, self.rewards)

    def _in_image(self, task: HarborTask, environment: Path) -> tuple[WorkspaceState, EpisodeParts]:
        image = self._images.load(folder_key(environment))
        if image is None:
            raise TaskError(
                f"the image of {task.id} is not built: `unhack env build {environment.parent}`"
            )
        if image.id not in self._of_images:
            self._of_images[image.id] = CommandPool(slots=self._slots, image=image)
        pool = self._of_images[image.id]
        bounds = self.limits.command
        wider = bounds.with_(
            memory_bytes=max(bounds.memory_bytes, task.memory_bytes),
            disk_bytes=max(bounds.disk_bytes, IMAGE_LIMITS.disk_bytes),
            file_bytes=max(bounds.file_bytes, IMAGE_LIMITS.file_bytes),
            processes=max(bounds.processes, IMAGE_LIMITS.processes),
            open_files=max(bounds.open_files, IMAGE_LIMITS.open_files),
        )
        limits = replace(self.limits, command=wider)
        parts = EpisodeParts(pool, ImageJudge(task, image, pool), limits, self.rewards)
        return pool.states.untouched(), parts

    def _commands_at(self, workdir: str) -> CommandPool:
        if workdir not in self._of_folders:
            links = () if workdir == "/workspace" else ((workdir, "/workspace"),)
            self._of_folders[workdir] = CommandPool(
                slots=self._slots, links=(*links, ("/solution", f"/workspace/{SOLUTION}"))
            )
        return self._of_folders[workdir]

    def judge(self, task: EpisodeTask) -> StateJudge:
        """The judge of a task."""
        return self.begin(task).parts.judge

    def forget(self, task: EpisodeTask) -> None:
        """Let go of a task's start state and verdicts; episodes under way go on."""
        self._starts.pop(task.id, None)

    def close(self) -> None:
        """End the supervisors and judges, and remove every state."""
        self._starts.clear()
        pools = (*self._of_folders.values(), *self._of_images.values(), self.commands)
        for one in (*self._judges, *pools):
            one.close()
        self._judges.clear()
        self._of_folders.clear()
        self._of_images.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class RepositoryEnvironment:
    """One episode at a time, over a suite of tasks.

    Example:

        async with RepositoryEnvironment(tasks) as env:
            observation, info = await env.reset(seed=0)
            observation, reward, *ends, info = await env.step(("submit", {}))
    """

    def __init__(
        self,
        tasks: Sequence[EpisodeTask],
        *,
        workshop: RepositoryWorkshop | None = None,
        limits: EpisodeLimits | None = None,
        rewards: StepRewards | None = None,
    ) -> None:
        """Without a `workshop` it makes one, with these limits and rewards, and closes it. Raises
        UsageError without tasks."""
        if not tasks:
            raise UsageError("an environment needs at least one task")
        if workshop is not None and (limits is not None or rewards is not None):
            raise UsageError("limits and rewards are those of the workshop that is given")
        self.tasks = tuple(tasks)
        self.tools = TOOLS
        """The actions as JSON schemas."""
        self._owned = workshop is None
        self._workshop = workshop or RepositoryWorkshop(limits=limits, rewards=rewards)
        self._random = Random()
        self._episode: Episode | None = None

    @property
    def episode(self) -> Episode:
        """The episode under way. Raises UsageError before the first reset."""
        if self._episode is None:
            raise UsageError("call reset first")
        return self._episode

    @property
    def state_id(self) -> str:
        """The content hash of the workspace."""
        return self.episode.state_id

    async def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: (observation, info). A `seed` fixes which task this and later resets
        draw; `options` with `task` names one by its id.

        Raises UsageError for an id that is not there, TaskError for a task whose grades cannot be
        believed on this host.
        """
        if seed is not None:
            self._random = Random(seed)
        wanted = (options or {}).get("task")
        if wanted is None:
            task = self._random.choice(self.tasks)
        else:
            found = [one for one in self.tasks if one.id == wanted]
            if not found:
                raise UsageError(f"no task is called {wanted!r}")
            task = found[0]
        reason = await self._workshop.check(task)
        if reason:
            raise TaskError(f"{task.id} cannot be scored on this host: {reason}")
        self._episode = self._workshop.begin(task)
        return self._episode.opening(), {"task": task.id, "state_id": self.state_id, "turn": 0}

    async def step(self, action: Action | tuple[str, object]) -> Stepped:
        """Carry out one action: (observation, reward, terminated, truncated, info). See
        `episode.Episode.step`."""
        result = await self.episode.step(action)
        info = info_of(self.episode, result)
        return result.observation, result.reward, result.terminated, result.truncated, info

    def fork(self, count: int) -> list[RepositoryEnvironment]:
        """Environments that go on from the present state, each on its own."""
        made: list[RepositoryEnvironment] = []
        for episode in self.episode.fork(count):
            one = RepositoryEnvironment(self.tasks, workshop=self._workshop)
            one._episode = episode
            made.append(one)
        return made

    def close(self) -> None:
        """Give back what it made itself."""
        if self._owned:
            self._workshop.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def info_of(episode: Episode, result: StepResult) -> dict[str, Any]:
    """Everything about a step that is neither observation nor reward, as plain values."""
    found: dict[str, Any] = {
        "task": episode.task.id,
        "state_id": result.state_id,
        "turn": len(episode.turns),
        "process": dict(result.process),
    }
    if result.outcome is not None:
        found["outcome"] = result.outcome.score
        found["scored"] = result.scored
        found["verdict"] = result.outcome.to_json()
    return found
