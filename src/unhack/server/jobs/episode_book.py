"""The open episodes of this process, each its tenant's own.

Covered: a bound for each tenant; an episode that nobody acts in for a while is closed; one action
at a time in an episode; episodes of all tenants share supervisors and judges.
Not covered: episodes beyond the end of the process; they are unknown then, and begin anew.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random

from unhack.core.errors import UnknownNameError, UsageError
from unhack.environments.suites import repository_suites
from unhack.integrations.sessions import SessionStep, TextSession, begin_session
from unhack.integrations.task_names import one_task
from unhack.server.http.episode_models import EpisodeReply
from unhack.server.http.problems import RequestRefused
from unhack.server.scoring.fair_semaphore import FairSemaphore
from unhack.server.scoring.served_tasks import served_suites
from unhack.tasks.suite import find_tasks

IDLE_S = 900.0
"""Seconds without an action after which an episode is closed."""
MOST_OPEN = 64
"""Open episodes of one tenant."""
_THREADS = 32
_ENDED_KEPT_S = 300.0
"""Seconds for which the verdict of an episode that ended can be read."""


@dataclass(slots=True)
class _Held:
    """An episode that is open, or ended a while ago."""

    id: str
    tenant_id: int
    environment: str
    session: TextSession
    last: SessionStep
    turns: int = 0
    touched: float = 0.0
    acting: threading.Lock = field(default_factory=threading.Lock)

    def told(self) -> EpisodeReply:
        """The episode as a client sees it."""
        verdict = self.last.verdict if self.last.done else None
        return EpisodeReply(
            id=self.id,
            environment=self.environment,
            task=self.session.task_id,
            observation=self.last.text,
            turns=self.turns,
            reward=self.last.reward,
            ended=self.last.done,
            verdict=None if verdict is None else verdict.to_json(),
        )


class EpisodeBook:
    """Opens, plays and closes episodes; every method blocks, `threads` are for them."""

    def __init__(
        self,
        *,
        idle_s: float = IDLE_S,
        most_open: int = MOST_OPEN,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._idle_s, self._most_open, self._clock = idle_s, most_open, clock
        self._held: dict[str, _Held] = {}
        self._opening: Counter[int] = Counter()
        self._lock = threading.Lock()
        self.threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="unhack-act")
        self.slots = FairSemaphore(_THREADS)
        """The threads, given to tenants in turn."""

    def open(
        self, tenant_id: int, suite: str, *, task: str | None, seed: int | None, tries: int
    ) -> EpisodeReply:
        """A new episode. Raises UnknownNameError, UsageError; RequestRefused (429) where the tenant
        has too many."""
        name = chosen_task(suite, task=task, seed=seed)
        self._make_room(tenant_id)
        try:
            session = begin_session(one_task(name), tries=tries)
            first = SessionStep(session.opening, 0.0, False)
            held = _Held(uuid.uuid4().hex, tenant_id, suite, session, first, touched=self._clock())
            with self._lock:
                self._held[held.id] = held
        finally:
            with self._lock:
                self._opening[tenant_id] -= 1
        return held.told()

    def act(self, tenant_id: int, episode_id: str, reply: str) -> EpisodeReply:
        """Carry out an action. Raises RequestRefused: 404 for an unknown episode, 409 for one that
        has ended or is busy."""
        held = self._find(tenant_id, episode_id)
        if not held.acting.acquire(blocking=False):
            raise RequestRefused(409, "busy", "another action of this episode is being carried out")
        try:
            if held.last.done:
                raise RequestRefused(409, "ended", "the episode has ended; open another one")
            held.last = held.session.step(reply)
            held.turns += 1
            held.touched = self._clock()
            return held.told()
        finally:
            held.acting.release()

    def show(self, tenant_id: int, episode_id: str) -> EpisodeReply:
        """An episode as it stands. Raises RequestRefused (404)."""
        return self._find(tenant_id, episode_id).told()

    def listed(self, tenant_id: int) -> list[EpisodeReply]:
        """The episodes of a tenant, those that ended a while ago among them."""
        with self._lock:
            self._sweep()
            return [one.told() for one in self._held.values() if one.tenant_id == tenant_id]

    def close_one(self, tenant_id: int, episode_id: str) -> EpisodeReply:
        """Forget an episode; how it stood. Raises RequestRefused (404)."""
        held = self._find(tenant_id, episode_id)
        with self._lock:
            self._held.pop(held.id, None)
        return held.told()

    def close(self) -> None:
        """Forget all."""
        with self._lock:
            self._held.clear()
        self.threads.shutdown(wait=False, cancel_futures=True)

    def _find(self, tenant_id: int, episode_id: str) -> _Held:
        with self._lock:
            self._sweep()
            held = self._held.get(episode_id)
        if held is None or held.tenant_id != tenant_id:
            words = "no open episode of yours has this id; idle ones are closed"
            raise RequestRefused(404, "not_found", words)
        return held

    def _make_room(self, tenant_id: int) -> None:
        with self._lock:
            self._sweep()
            own = [one for one in self._held.values() if one.tenant_id == tenant_id]
            ended = [one for one in own if one.last.done]
            for old in ended[: max(0, len(ended) + 1 - self._most_open)]:  # the oldest first
                del self._held[old.id]
            count = len(own) - len(ended) + self._opening[tenant_id]
            if count < self._most_open:
                self._opening[tenant_id] += 1
        if count >= self._most_open:
            words = f"{count} episodes of yours are open, as many as may be; close one"
            raise RequestRefused(429, "too_many", words, retry_s=30)

    def _sweep(self) -> None:
        """Forget what nobody acted in for long; the lock is held."""
        now = self._clock()
        for held in list(self._held.values()):
            allowed = min(self._idle_s, _ENDED_KEPT_S) if held.last.done else self._idle_s
            if now - held.touched > allowed and not held.acting.locked():
                del self._held[held.id]


def suites() -> dict[str, bool]:
    """The suites by name: True where an episode is played by tool calls."""
    return {**dict.fromkeys(served_suites(), False), **dict.fromkeys(repository_suites(), True)}


def task_names(suite: str) -> tuple[str, ...]:
    """The ids of a suite's tasks. Raises UnknownNameError."""
    known = suites()
    if suite not in known:
        raise UnknownNameError("environment", suite, valid=known)
    if known[suite]:
        return tuple(repository_suites()[suite].ids())
    return tuple(task.id for task in find_tasks(suite))


def chosen_task(suite: str, *, task: str | None, seed: int | None) -> str:
    """The task that is asked for, or drawn. Raises UnknownNameError, UsageError."""
    names = task_names(suite)
    if task is None:
        return Random(seed).choice(names)
    if seed is not None:
        raise UsageError("seed: it draws a task, and one is named; leave out one of them")
    if task not in names:
        raise UnknownNameError("task", task, valid=names)
    return task
