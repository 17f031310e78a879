"""OpenEnv: a server of our tasks and repository episodes.

    # server/app.py
    app = create_task_app(["strings", "repos"], max_sessions=64, session_timeout_s=600)

A session resets to a task, by `task` (its id), by `split` and `index`, or by `seed`, and steps with
the policy's text: a whole reply, or the JSON of a tool call where the task is a repository.

Covered: openenv 0.10's `Environment` and task discovery (one split for each name given); sessions
side by side, each ended after a time without a message; a reward of None at an end that could not
be scored after three tries, and before the first step; a text that is too long is refused by name.
Not covered: OpenEnv's tools over MCP; a hidden answer or test, which no message holds.
Source: openenv 0.10.0, `Environment`, `create_app`.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any
from uuid import uuid4

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import (
    Action,
    ConcurrencyConfig,
    EnvironmentMetadata,
    Observation,
    State,
)
from pydantic import Field

from unhack.core.errors import UnknownNameError, UsageError
from unhack.integrations.sessions import MAX_REPLY, TextSession, begin_session
from unhack.integrations.task_names import AnyTask, tasks_of
from unhack.tasks.task import Task


class ReplyAction(Action):
    """One reply of a policy."""

    text: str = Field(max_length=MAX_REPLY, description="A whole reply, or a tool call as JSON")


class TaskObservation(Observation):
    """The text that a policy reads next, and the verdict at the end."""

    text: str = Field(default="", description="Prompt, observation, or why a try was wrong")
    task: str = Field(default="", description="Id of the task")
    scored: bool = Field(default=True, description="False where the end has no verdict")


class TaskState(State):
    """The session's place."""

    task: str = Field(default="", description="Id of the task; empty before the first reset")


class TaskEnvironment(Environment[ReplyAction, TaskObservation, TaskState]):
    """One session at a time over some tasks; a server makes one for each connection."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, splits: Mapping[str, Sequence[AnyTask]], *, tries: int = 1) -> None:
        """`splits`: tasks by the name of their split; `tries`: replies before the end."""
        super().__init__()
        self._splits, self._tries = splits, tries
        self._session: TextSession | None = None
        self._state = TaskState()
        self._random = Random()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **choice: Any
    ) -> TaskObservation:
        """Begin a task: that of `task`, or of `split` and `index`, or one drawn by the seed.

        Raises UnknownNameError, UsageError.
        """
        if seed is not None:
            self._random = Random(seed)
        task = self._chosen(choice)
        self._session = begin_session(task, tries=self._tries)
        self._state = TaskState(episode_id=episode_id or uuid4().hex, task=task.id)
        return TaskObservation(text=self._session.opening, task=task.id)

    def step(
        self, action: ReplyAction, timeout_s: float | None = None, **_: Any
    ) -> TaskObservation:
        """Judge or carry out a reply. Raises UsageError before a reset and after the end."""
        del timeout_s  # the task's own limits hold
        if self._session is None:
            raise UsageError("reset the environment before the first step")
        step = self._session.step(action.text)
        self._state.step_count += 1
        return TaskObservation(
            text=step.text, task=self._state.task, done=step.done, reward=step.reward,
            scored=step.scored, metadata=step.facts,
        )  # fmt: skip

    @property
    def state(self) -> TaskState:
        """The session's id, task and count of steps."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """The environment in words."""
        return EnvironmentMetadata(
            name="unhack",
            description="Tasks with verifiable rewards, judged in a sealed sandbox",
            version="0.1.0",
        )

    def list_splits(self) -> list[str]:
        """The names that the server was made with."""
        return list(self._splits)

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """The tasks of a split. Raises UnknownNameError."""
        return [self._shown(split, index) for index in range(self.num_tasks(split))]

    def num_tasks(self, split: str) -> int:
        """The count of a split's tasks. Raises UnknownNameError."""
        return len(self._split(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """A task by its place. Raises IndexError, UnknownNameError."""
        if not 0 <= index < self.num_tasks(split):
            raise IndexError(f"index {index}: {split} has {self.num_tasks(split)} tasks")
        return self._shown(split, index)

    def _shown(self, split: str, index: int) -> dict[str, Any]:
        task = self._split(split)[index]
        kind = task.verifier.kind if isinstance(task, Task) else "repository"
        return {"id": task.id, "index": index, "kind": kind}

    def _split(self, name: str) -> Sequence[AnyTask]:
        if name not in self._splits:
            raise UnknownNameError("split", name, valid=tuple(self._splits))
        return self._splits[name]

    def _chosen(self, choice: Mapping[str, Any]) -> AnyTask:
        every = [task for tasks in self._splits.values() for task in tasks]
        name, split, index = (choice.get(key) for key in ("task", "split", "index"))
        if name is not None:
            found = next((task for task in every if task.id == name), None)
            if found is None:
                raise UnknownNameError("task", str(name), valid=[task.id for task in every])
            return found
        tasks = every if split is None else self._split(str(split))
        if index is None:
            return self._random.choice(tasks)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(tasks):
            raise UsageError(f"index is {index!r}; there are tasks 0 to {len(tasks) - 1}")
        return tasks[index]


def environment_factory(names: Sequence[str], *, tries: int = 1) -> Callable[[], TaskEnvironment]:
    """A factory of environments over the tasks that names stand for, each name a split.

    Raises UsageError without names, for an unknown one, and for less than one try.
    """
    if isinstance(names, str) or not names:
        raise UsageError("names is a list of tasks, suites or directories, such as ['strings']")
    if tries < 1:
        raise UsageError(f"tries is {tries}; a session has at least one")
    splits = {name: tuple(tasks_of(name)) for name in names}
    return lambda: TaskEnvironment(splits, tries=tries)


def create_task_app(
    names: Sequence[str],
    *,
    tries: int = 1,
    max_sessions: int = 64,
    session_timeout_s: float = 600.0,
) -> Any:
    """The FastAPI application of a server.

    `max_sessions`: connections at a time, at least the trainer's generation batch;
    `session_timeout_s`: seconds without a message after which a session's place is free again.
    Raises UsageError.
    """
    return create_app(
        environment_factory(names, tries=tries),
        ReplyAction,
        TaskObservation,
        env_name="unhack",
        state_cls=TaskState,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=max_sessions, session_timeout=session_timeout_s
        ),
    )
