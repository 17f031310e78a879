"""Judges of an episode's end state, and the share of the outcome that they leave.

    judge = EndJudge(task, {"lint": 0.1, "tampering": 0.5})
    left, scores = await judge.share(state)       # 0.95, {"lint": 0.5, "tampering": 1.0}

Build, lint, types and minimality look at what is handed in, laid onto the start; tampering at the
whole workspace. A score is held against the reference's, so a finding of the real fix is nobody's
fault. Files are Python by what they hold, whatever they are called.

Covered: code that no tool reads (`exec`, loaders, odd encodings), new since the start and the
reference, scores 0 with every judge but tampering's; a tool that finds no planted fault on this
host, or does not finish on the reference, is named before the first episode; what is handed in and
breaks a judge scores 0.
Not covered: such code behind names that are put together while it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from unhack.core.errors import SandboxError
from unhack.environments.judging import submission
from unhack.environments.steps.build import judge_build
from unhack.environments.steps.lint import judge_lint
from unhack.environments.steps.minimality import judge_minimality
from unhack.environments.steps.score import StateFiles, StepScore, arun_judge
from unhack.environments.steps.source_text import read_sources
from unhack.environments.steps.tampering import judge_tampering
from unhack.environments.steps.typing_errors import judge_types
from unhack.environments.task import RepositoryTask
from unhack.sandbox.job import Backend
from unhack.sandbox.pool.pool import shared_pool
from unhack.sandbox.workspace.layers import read_stored
from unhack.sandbox.workspace.states import WorkspaceState

_TOOLS = {"build": judge_build, "lint": judge_lint, "types": judge_types}
_PLANTED = {"build": b"(\n", "lint": b"import os\n", "types": b'x: int = ""\n'}
"""A file that each judge with a tool has to find fault with."""
_PLACE = "unhack_control.py"


class EndJudge:
    """The weighted judges of one task's end states.

    Example:

        left, scores = await EndJudge(task, {"minimality": 0.2}).share(state)
    """

    def __init__(
        self, task: RepositoryTask, weights: Mapping[str, float], *, backend: Backend | None = None
    ) -> None:
        """`weights`: as in `StepRewards.judges`."""
        self.task = task
        self._weights = {kind: weight for kind, weight in weights.items() if weight}
        self._backend = backend
        self._lock = asyncio.Lock()
        self._right: dict[str, float] = {}
        """Scores of the reference, of the judges with a tool that were seen to work."""

    async def check(self) -> str:
        """Why a judge cannot be believed on this host; empty where all can."""
        async with self._lock:  # episodes that begin at once wait for one control
            for kind in self._weights:
                trouble = "" if kind in self._right else await self._trouble(kind)
                if trouble:
                    return trouble
        return ""

    async def share(self, state: WorkspaceState) -> tuple[float, dict[str, float]]:
        """The share of the outcome that is left, and the scores by kind. Raises SandboxError where
        a judge does not work here."""
        trouble = await self.check()
        if trouble:
            raise SandboxError(trouble)
        files, unseen = await self._read(laid(self.task.files, submission(self.task, state)))
        whole = whole_of(self.task, state)
        scores = {
            kind: 0.0 if unseen and kind != "tampering" else await self._held(kind, files, whole)
            for kind in self._weights
        }
        lost = sum(self._weights[kind] * (1 - score) for kind, score in scores.items())
        return max(0.0, 1.0 - lost), scores

    async def _held(self, kind: str, files: StateFiles, whole: StateFiles) -> float:
        """A score held against the reference's."""
        score = (await self._score(kind, files, whole)).score
        if score is None:  # what is handed in did this, unless the reference fares no better
            trouble = await self._trouble(kind)
            if trouble:
                raise SandboxError(trouble)
            score = 0.0
        return min(1.0, score / self._right.get(kind, 1.0))

    async def _score(self, kind: str, files: StateFiles, whole: StateFiles) -> StepScore:
        if kind == "minimality":
            return judge_minimality(self.task, {}, files)
        if kind == "tampering":
            return judge_tampering(self.task, {}, whole)
        judge = _TOOLS[kind](self.task, {}, files)  # no step is asked about: nothing before
        return await arun_judge(judge, self._backend or shared_pool())

    async def _trouble(self, kind: str) -> str:
        """Why a judge cannot be believed: it fails on the reference, or finds no planted fault."""
        if kind not in _TOOLS:
            return ""
        right, _ = await self._read(laid(self.task.files, self.task.reference))
        found = await self._score(kind, right, {})
        if not found.score:
            return f"{kind} cannot judge the reference of {self.task.id} here: {found.reason}"
        planted = await self._score(kind, {**right, _PLACE: _PLANTED[kind]}, {})
        if planted.score is None or planted.score >= found.score:
            return f"{kind} finds no planted fault on this host: {planted.reason}"
        self._right[kind] = found.score
        return ""

    async def _read(self, files: StateFiles) -> tuple[StateFiles, str]:
        """The files, those of another name that hold Python under one more ending, and why no tool
        can vouch for what they run."""
        judge = read_sources(self.task.files, laid(self.task.files, self.task.reference), files)
        python, unseen = await arun_judge(judge, self._backend or shared_pool())
        return {
            f"{path}.py" if path in python else path: data for path, data in files.items()
        }, unseen


def laid(base: StateFiles, changed: Mapping[str, str | None]) -> dict[str, bytes]:
    """The start with what is handed in."""
    files = {path: data for path, data in base.items() if path not in changed}
    more = {path: text for path, text in changed.items() if text is not None}
    return files | {path: text.encode(errors="surrogateescape") for path, text in more.items()}


def whole_of(task: RepositoryTask, state: WorkspaceState) -> dict[str, bytes]:
    """All regular files of a workspace; those that did not change are not read again."""
    start = (state.origin or state).tree.files()
    return {
        path: task.files[path]
        if path in task.files and start[path].sha256 == file.sha256
        else read_stored(file)
        for path, file in state.tree.files().items()
    }
