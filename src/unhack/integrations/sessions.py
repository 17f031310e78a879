"""One rollout as a talk in text, for stacks that step environments from threads.

    session = begin_session(one_task("strings/knit-rows"), tries=2)
    session.opening                     # the text that the policy reads first
    step = session.step(reply)          # blocks
    step.text, step.reward, step.done

A task is answered by a reply, judged whole, and where there are more `tries` a wrong one is told
the verdict's reason and goes on. A repository task is an episode, and a reply the JSON of a call:
`{"name": "read", "arguments": {"path": "a.py"}}`.

Covered: any number of sessions in any threads; plain replies share one judge, episodes one workshop
on one event loop; an unscored end has the reward None, after three tries of the judge.
Not covered: replies that are judged by something else than their text.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import warnings
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from unhack.core.errors import TaskError, UsageError
from unhack.core.verdict import Verdict
from unhack.environments.actions import TOOLS
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import Episode, EpisodeLimits
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.task import RepositoryTask
from unhack.integrations.rows import tool_call
from unhack.integrations.task_names import AnyTask
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.tasks.task import Task
from unhack.verifiers.base import invalid_verdict
from unhack.verifiers.reward import reward_of

T = TypeVar("T")
MAX_REPLY = 8 << 20
"""Characters of a reply; a longer one is a 0, unread."""
_HELP = (
    "\n\nWork in the repository through tools, one a reply. A reply is the JSON of a call, such as"
    ' {"name": "read", "arguments": {"path": "setup.py"}}. Call `submit` when you are done. The'
    " tools:\n"
)


@dataclass(frozen=True, slots=True)
class SessionStep:
    """The answer to one reply."""

    text: str
    reward: float | None
    """0 before the end; None at an end that could not be scored."""
    done: bool
    verdict: Verdict | None = None
    """At the end, and after a wrong try."""

    @property
    def scored(self) -> bool:
        """False at an end without a verdict: no reward may be derived from the session."""
        return self.reward is not None

    @property
    def facts(self) -> dict[str, Any]:
        """The verdict in plain values: `scored`, `passed`, `status`, `reason`."""
        found: dict[str, Any] = {"scored": self.scored}
        if self.verdict is not None:
            found |= {
                "passed": self.verdict.passed,
                "status": self.verdict.status.value,
                "reason": self.verdict.reason,
            }
        return found


class TextSession(Protocol):
    """One rollout."""

    opening: str
    """The text that the policy reads first."""
    task_id: str

    def step(self, reply: str) -> SessionStep:
        """Judge or carry out a reply; blocks. Raises UsageError after the end."""
        ...


class AnswerSession:
    """Replies to one prompt, each judged."""

    def __init__(self, task: Task, *, tries: int = 1) -> None:
        """`tries`: replies before the end; the first that passes ends the session."""
        if tries < 1:
            raise UsageError(f"tries is {tries}; a session has at least one")
        self.opening, self.task_id = task.prompt, task.id
        self._task, self._left = task, tries

    def step(self, reply: str) -> SessionStep:
        """Judge a reply; blocks. Raises UsageError after the end."""
        if not self._left:
            raise UsageError(f"{self.task_id}: the session has ended; begin another one")
        verdict = _too_long(reply) or shared_scheduler().submit(self._task, reply).result()
        if not verdict.scored or verdict.passed or self._left == 1:
            self._left = 0
            return SessionStep("", reward_of(verdict), True, verdict)
        self._left -= 1
        text = f"That is not right ({verdict.reason}). Tries left: {self._left}."
        return SessionStep(text, 0.0, False, verdict)


class RepositorySession:
    """An episode of a repository task, a tool call a reply."""

    def __init__(self, task: RepositoryTask) -> None:
        self.opening, self.task_id = opening_of(task), task.id
        self._host = _host()
        self._episode = self._host.begin(task)

    def step(self, reply: str) -> SessionStep:
        """Carry out a tool call; blocks. Raises UsageError after the end."""
        said = ("", None) if len(reply) > MAX_REPLY else tool_call(reply)
        result = self._host.wait(self._episode.step(said))
        reward = result.reward if result.scored else None
        return SessionStep(result.observation.text, reward, result.ended, result.outcome)


def begin_session(task: AnyTask, *, tries: int = 1) -> TextSession:
    """A session of a task of any kind; `tries` is for those that a reply answers."""
    if isinstance(task, Task):
        return AnswerSession(task, tries=tries)
    return RepositorySession(task)


def opening_of(task: AnyTask) -> str:
    """The text that a policy reads first: the prompt, or the statement and the tools."""
    if isinstance(task, Task):
        return task.prompt
    return f"{task.statement.rstrip()}{_HELP}" + "\n".join(json.dumps(tool) for tool in TOOLS)


def _too_long(reply: object) -> Verdict | None:
    if not isinstance(reply, str):
        raise UsageError(f"a reply is a text, not {type(reply).__name__}")
    if len(reply) > MAX_REPLY:
        return invalid_verdict(f"the reply has {len(reply)} characters; the most is {MAX_REPLY}")
    return None


class EpisodeHost:
    """One event loop with one workshop, for episodes that any thread plays."""

    def __init__(
        self, *, limits: EpisodeLimits | None = None, rewards: StepRewards | None = None
    ) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, name="unhack-episodes", daemon=True).start()
        self._workshop = RepositoryWorkshop(limits=limits, rewards=rewards)

    def begin(self, task: RepositoryTask) -> Episode:
        """A new episode; warns where progress has a weight and pays no steps of the task. Raises
        TaskError for a task that cannot be scored on this host."""

        async def begun() -> Episode:
            reason = await self._workshop.check(task)
            if reason:
                raise TaskError(f"{task.id} cannot be scored on this host: {reason}")
            return self._workshop.begin(task)

        episode = self.wait(begun())
        if episode.parts.unpaid:
            warnings.warn(episode.parts.unpaid, stacklevel=2)
        return episode

    def close(self) -> None:
        """End the workers and remove the start states."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._workshop.close()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def wait(self, job: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine on the loop."""
        return asyncio.run_coroutine_threadsafe(job, self._loop).result()


_hosts: dict[int, EpisodeHost] = {}
_hosts_lock = threading.Lock()


def _host() -> EpisodeHost:
    """The host of this process, made on first use and again after a fork."""
    with _hosts_lock:
        host = _hosts.get(os.getpid())
        if host is None:
            _hosts.clear()
            host = _hosts[os.getpid()] = EpisodeHost()
        return host
