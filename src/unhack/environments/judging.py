"""The judge of one task: verdicts on states, remembered by what is handed in.

    judge = RepositoryJudge(task)
    verdict = await judge.outcome(state)      # the hidden tests
    verdict = await judge.progress(state)     # the dev tests, for step rewards

The workspace is never graded: the declared regular files that changed are read out of the state and
laid onto a fresh base by `verifiers.repository`.

Covered: verdicts of equal submissions are asked for once, also by forks and sibling episodes; what
the judge cannot be given is left out and named.
Not covered: other files outside the declared paths, and modes, which no judge sees.
"""

from __future__ import annotations

import asyncio
import posixpath
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
from unhack.sandbox.workspace.tree import StoredFile, StoredLink
from unhack.tasks.batch import arun_batch
from unhack.tasks.task import Task
from unhack.verifiers.repository.files import (
    MAX_BYTES,
    MAX_FILES,
    is_helper,
    pack_files,
    why_left_out,
)
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

    async def left_out(self, state: WorkspaceState) -> Mapping[str, str]:
        """The paths that are not handed in of a state, with the reasons."""
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

    async def disagreement(self) -> str:
        """Why the reference fails the hidden tests or the dev tests; empty where it passes both."""
        for task in (self._hidden, self._dev):
            if task is not None:
                dev = task is self._dev
                verdict = await self._judge_files(self.task.reference, task, dev=dev)
                if not verdict.passed:
                    part = "dev tests" if dev else "rest of the tests"
                    return f"the reference fails the {part} alone: {verdict.reason}"
        return ""

    async def left_out(self, state: WorkspaceState) -> Mapping[str, str]:
        """The paths that are not handed in, of those that might be looked for: path -> reason."""
        return hand_in(self.task, state)[1]

    async def _judge(self, state: WorkspaceState, task: Task, *, dev: bool) -> Verdict:
        files = submission(self.task, state)
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
            beside=tuple(name for name in task.beside if name in ids),
            partial_credit=partial,
            preload=task.preload,
            limits=LIMITS.with_(wall_s=task.judge_s, cpu_s=task.judge_s),
        )
        reference = pack_files(task.reference)
        return Task(Problem(task.id, task.statement, reference=reference), verifier)


def submission(task: PlayableTask, state: WorkspaceState) -> dict[str, str | None]:
    """The files that are handed in of a state: path -> text, None for a deleted one."""
    return hand_in(task, state)[0]


def hand_in(
    task: PlayableTask, state: WorkspaceState
) -> tuple[dict[str, str | None], dict[str, str]]:
    """The files that changed since the start and that the judge takes, and what is left out of
    those that it might look for: path -> reason.

    Taken are declared files, new modules at the top, and the content of a link to such a file;
    where there is more than a judge takes, what was there and Python before the rest, small files
    first.
    """
    start = state.origin.tree.files() if state.origin is not None else state.tree.files()
    reserved = {path.partition("/")[0] for path in getattr(task, "tests", {})}

    def may_hand_in(path: str) -> bool:
        return task.may_change(path) or is_helper(path, start, reserved)

    changed: dict[str, StoredFile] = {}
    left_out: dict[str, str] = {}
    for path, found in state.tree.walk():
        node = found
        if isinstance(node, StoredLink) and may_hand_in(path):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), node.target))
            end = None if target.startswith(("/", "..")) else state.tree.find(target)
            if isinstance(end, StoredFile) and may_hand_in(target):
                node = end
            else:
                left_out[path] = "a link to what is not handed in"
        if not isinstance(node, StoredFile) or not may_hand_in(path):
            continue
        if path in start and start[path].sha256 == node.sha256:
            continue
        why = why_left_out(path)
        if why:
            left_out[path] = why
        else:
            changed[path] = node
    gone = [path for path in start if task.may_change(path) and path not in changed
            and state.tree.find(path) is None]  # fmt: skip
    result: dict[str, str | None] = dict.fromkeys(gone)
    count, size = len(gone), 0
    for path in sorted(changed, key=lambda one: _last_taken(one, changed[one], start)):
        count, size = count + 1, size + changed[path].size
        if count > MAX_FILES or size > MAX_BYTES:
            most = f"{MAX_FILES} files and {MAX_BYTES >> 20} MiB"
            left_out[path], count = f"more than the judge takes ({most})", count - 1
            size -= changed[path].size
        else:
            result[path] = read_stored(changed[path]).decode(errors="surrogateescape")
    return result, left_out


def _last_taken(
    path: str, file: StoredFile, start: Mapping[str, StoredFile]
) -> tuple[bool, bool, int]:
    """The order in which files are handed in: what was there, Python, then by size."""
    return path not in start, not path.endswith(".py"), file.size
