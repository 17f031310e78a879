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
from random import Random
from typing import Any, Self

from unhack.core.errors import TaskError, UsageError
from unhack.environments.actions import TOOLS, Action
from unhack.environments.episode import (
    Episode,
    EpisodeLimits,
    EpisodeParts,
    StepResult,
)
from unhack.environments.judges.script_judge import LIMITS as SCRIPT_LIMITS
from unhack.environments.judges.script_judge import (
    ScriptJudge,
    TaskWorkspace,
    load_image,
    pool_of_folder,
    task_workspace,
)
from unhack.environments.judging import RepositoryJudge, StateJudge
from unhack.environments.observation import Observation
from unhack.environments.sources.loaders.harbor import HarborTask
from unhack.environments.sources.loaders.task_image import TaskImage
from unhack.environments.steps.development_split import SplitRefusedError, split_task
from unhack.environments.steps.ends import EndJudge
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.task import RepositoryTask
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
        pool; `images` has the images of tasks, None for this user's. Raises UsageError for a
        weighted judge whose tool is not installed."""
        missing = rewards.missing() if rewards is not None else ""
        if missing:
            raise UsageError(f"judges cannot run here: {missing}")
        self.commands = CommandPool(slots=slots)
        self._slots = slots
        self.limits = limits or EpisodeLimits()
        self.rewards = rewards or StepRewards()
        self._backend = backend
        self._starts: dict[str, tuple[EpisodeTask, EpisodeTask, WorkspaceState, EpisodeParts]] = {}
        """Id -> the task as it was given and as it is played, its start, its parts."""
        self._pools: dict[str, CommandPool] = {}
        """Supervisors of an image, of packages, or of a path at which Harbor folders are."""
        self._images = images or ImageStore()

    def begin(self, task: EpisodeTask) -> Episode:
        """A new episode of a task. Raises UsageError for another task with the same id, TaskError
        for one whose image is not built."""
        known = self._starts.get(task.id)
        if known is None:
            played, unpaid = self._split(task)
            known = (task, played, *self._prepared(played, unpaid=unpaid))
            self._starts[task.id] = known
        elif known[0] is not task:
            raise UsageError(f"two tasks are called {task.id}")
        return Episode(*known[1:])

    async def check(self, task: EpisodeTask) -> str:
        """Why no grade of a task can be believed on this host; empty where they can. A development
        split whose parts its own reference fails is given up: steps are not paid then."""
        episode = self.begin(task)
        judge = episode.parts.judge
        if isinstance(judge, ScriptJudge):
            return await judge.check()
        if isinstance(judge, RepositoryJudge) and episode.task is not task:
            reason = await judge.disagreement()
            if reason:
                unpaid = f"{task.id} pays no steps: {reason}"
                self._starts[task.id] = (task, task, *self._prepared(task, unpaid=unpaid))
        ends = self.begin(task).parts.ends
        return await ends.check() if ends is not None else ""

    def _split(self, task: EpisodeTask) -> tuple[EpisodeTask, str]:
        """The task as it is played, with dev tests where progress has a weight, or why it has
        none."""
        if not (self.rewards.progress and isinstance(task, RepositoryTask)) or task.dev_tests:
            return task, ""
        try:
            made = split_task(task, seed=self.rewards.split_seed)
            RepositoryJudge(made)
        except SplitRefusedError as error:
            return task, str(error)
        except ValueError as error:  # no expectation of one part can be changed
            return task, f"{task.id} pays no steps: {error}"
        return made, ""

    def _prepared(
        self, task: EpisodeTask, *, unpaid: str = ""
    ) -> tuple[WorkspaceState, EpisodeParts]:
        """The start state of a task, and what its episodes share."""
        if isinstance(task, HarborTask):
            if self.rewards.judges:
                raise UsageError(f"{task.id} is a Harbor folder, which no judge of files reads")
            return self._of_folder(task)
        ends = None
        if self.rewards.judges:
            ends = EndJudge(task, self.rewards.judges, backend=self._backend)
        judge = RepositoryJudge(task, backend=self._backend)
        pool = self._with_packages(task.preload)
        start = pool.states.load(task.files, executable=task.executable)
        return start, EpisodeParts(pool, judge, self.limits, self.rewards, ends, unpaid)

    def _with_packages(self, preload: tuple[str, ...]) -> CommandPool:
        """The supervisors whose commands find the packages that a task's judge has."""
        if not preload:
            return self.commands
        return self._pool(f"packages {sorted(preload)}", preload=("pytest", *preload))

    def _pool(self, key: str, **options: Any) -> CommandPool:
        if key not in self._pools:
            self._pools[key] = CommandPool(slots=self._slots, **options)
        return self._pools[key]

    def _of_folder(self, task: HarborTask) -> tuple[WorkspaceState, EpisodeParts]:
        workspace = self._workspace_of(task, task.image)
        own = self._workspace_of(task, task.judge_image) if task.judge_image else None
        limits = self.limits
        if task.image:
            bounds = limits.command
            wider = bounds.with_(
                memory_bytes=max(bounds.memory_bytes, task.memory_bytes),
                disk_bytes=max(bounds.disk_bytes, SCRIPT_LIMITS.disk_bytes),
                file_bytes=max(bounds.file_bytes, SCRIPT_LIMITS.file_bytes),
                processes=max(bounds.processes, SCRIPT_LIMITS.processes),
                open_files=max(bounds.open_files, SCRIPT_LIMITS.open_files),
            )
            limits = replace(limits, command=wider)
        judge = ScriptJudge(task, workspace, own=own)
        return workspace.start, EpisodeParts(workspace.pool, judge, limits, self.rewards)

    def _workspace_of(self, task: HarborTask, wanted: TaskImage | None) -> TaskWorkspace:
        """The supervisors of a place, which tasks share, with the start of this one."""
        if wanted is None:
            if task.workdir not in self._pools:
                self._pools[task.workdir] = pool_of_folder(task.workdir, slots=self._slots)
            return task_workspace(task, self._pools[task.workdir], None)
        root = load_image(task, wanted, self._images)
        key = f"{root.id} {root.workdir} {sorted(root.environ.items())}"
        return task_workspace(task, self._pool(key, image=root), root)

    def judge(self, task: EpisodeTask) -> StateJudge:
        """The judge of a task."""
        return self.begin(task).parts.judge

    def forget(self, task: EpisodeTask) -> None:
        """Let go of a task's start state and verdicts; episodes under way go on."""
        self._starts.pop(task.id, None)

    def close(self) -> None:
        """End the supervisors and judges, and remove every state."""
        self._starts.clear()
        for one in (*self._pools.values(), self.commands):
            one.close()
        self._pools.clear()

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
    if episode.parts.unpaid:
        found["unpaid"] = episode.parts.unpaid
    if result.outcome is not None:
        found["outcome"] = result.outcome.score
        found["scored"] = result.scored
        found["verdict"] = result.outcome.to_json()
    return found
