"""The judge of one task: verdicts on states, remembered by what is handed in.

    judge = RepositoryJudge(task)
    verdict = await judge.outcome(state)      # the hidden tests
    verdict = await judge.progress(state)     # the dev tests, for step rewards

The workspace is never graded: the declared regular files that changed are read out of the state and
laid onto a fresh base by `verifiers.repository`.

Covered: verdicts of equal submissions are asked for once, also by forks and sibling episodes; what
the judge cannot be given (too much of it) is an invalid verdict, a real 0.
Not covered: files outside the declared paths, links and modes, which no judge sees.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from unhack.core.hashing import content_hash
from unhack.core.problem import Problem
from unhack.core.verdict import Verdict
from unhack.environments.task import PlayableTask, RepositoryTask
from unhack.sandbox.job import Backend
from unhack.sandbox.workspace.layers import read_stored
from unhack.sandbox.workspace.states import WorkspaceState
from unhack.tasks.batch import arun_batch
from unhack.tasks.task import Task
from unhack.verifiers.base import invalid_verdict
from unhack.verifiers.repository.files import MAX_BYTES, MAX_FILES, pack_files
from unhack.verifiers.repository.verifier import LIMITS, RepositoryVerifier

_KEPT = 4096
"""Verdicts that are remembered, the latest ones."""


class StateJudge(Protocol):
    """Judges states of one task's workspace for an episode."""

    async def outcome(self, state: WorkspaceState) -> Verdict:
        """The verdict that ends an episode."""
        ...

    async def progress(self, state: WorkspaceState) -> Verdict | None:
        """The verdict that step rewards are paid by; None for none."""
        ...


class RepositoryJudge:
    """Judges states of one task's workspace."""

    def __init__(self, task: RepositoryTask, *, backend: Backend | None = None) -> None:
        """Raises ValueError for tests that cannot be judged."""
        self.task = task
        self._backend = backend
        self._hidden = self._bound(task, task.tests, task.fail_to_pass + task.pass_to_pass)
        self._dev = None
        if task.dev_tests:
            self._dev = self._bound(task, task.dev_tests, task.dev_ids, partial=True)
        self._verdicts: OrderedDict[tuple[bool, str], asyncio.Future[Verdict]] = OrderedDict()
        self.judged = 0
        """Submissions that were judged, not remembered."""

    async def outcome(self, state: WorkspaceState) -> Verdict:
        """The verdict of the hidden tests."""
        return await self._judge(state, self._hidden, dev=False)

    async def progress(self, state: WorkspaceState) -> Verdict | None:
        """The verdict of the dev tests, whose score is the share that passes; None without any."""
        if self._dev is None:
            return None
        return await self._judge(state, self._dev, dev=True)

    async def _judge(self, state: WorkspaceState, task: Task, *, dev: bool) -> Verdict:
        files = submission(self.task, state)
        if files is None:
            most = f"more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB"
            return invalid_verdict(f"the declared files that changed are {most}")
        return await self._judge_files(files, task, dev=dev)

    async def outcome_of(self, files: Mapping[str, str | None]) -> Verdict:
        """The hidden tests' verdict on changed files: path -> text, None for a deleted one."""
        return await self._judge_files(files, self._hidden, dev=False)

    async def _judge_files(
        self, files: Mapping[str, str | None], task: Task, *, dev: bool
    ) -> Verdict:
        packed = pack_files(files)
        key = (dev, content_hash(packed))
        return await self._remembered(key, lambda: self._run(task, packed))

    async def _run(self, task: Task, packed: str) -> Verdict:
        self.judged += 1
        batch = await arun_batch(task, [packed], backend=self._backend)
        return batch.verdicts[0]

    async def _remembered(
        self, key: tuple[bool, str], ask: Callable[[], Awaitable[Verdict]]
    ) -> Verdict:
        known = self._verdicts.get(key)
        if known is None:
            known = self._verdicts[key] = asyncio.ensure_future(ask())
            while len(self._verdicts) > _KEPT:
                self._verdicts.popitem(last=False)
        self._verdicts.move_to_end(key)
        try:
            verdict = await asyncio.shield(known)
        except BaseException:
            if known.done():
                self._verdicts.pop(key, None)
            raise
        if not verdict.scored:  # the machinery failed; the next one may have more luck
            self._verdicts.pop(key, None)
        return verdict

    @staticmethod
    def _bound(
        task: RepositoryTask,
        tests: Mapping[str, str],
        ids: tuple[str, ...],
        *,
        partial: bool = False,
    ) -> Task:
        verifier = RepositoryVerifier(
            tests=tests,
            base=task.files,
            editable=task.editable,
            expected=ids,
            mode=task.mode,
            partial_credit=partial,
            preload=task.preload,
            limits=LIMITS.with_(wall_s=task.judge_s, cpu_s=task.judge_s),
        )
        reference = pack_files(task.reference)
        return Task(Problem(task.id, task.statement, reference=reference), verifier)


def submission(task: PlayableTask, state: WorkspaceState) -> dict[str, str | None] | None:
    """The declared regular files that changed since the start: path -> text, None for a deleted
    one. None for all of it where it is more than any judge takes."""
    now = {path: one for path, one in state.tree.files().items() if task.may_change(path)}
    start = state.origin.tree.files() if state.origin is not None else now
    changed = {
        path: one
        for path, one in now.items()
        if path not in start or start[path].sha256 != one.sha256
    }
    gone = [path for path in start if task.may_change(path) and path not in now]
    if len(changed) + len(gone) > MAX_FILES:
        return None
    if sum(one.size for one in changed.values()) > MAX_BYTES:
        return None
    found: dict[str, str | None] = dict.fromkeys(gone)
    for path, one in changed.items():
        found[path] = read_stored(one).decode(errors="surrogateescape")
    return found
