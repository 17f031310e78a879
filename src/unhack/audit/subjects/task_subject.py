"""Unhack's tasks as a subject: scored by their own verifiers, exactly as `run_batch` does.

Covered: every kind of verifier, one subject for a whole suite or text task; what is not scored is
told with its reason.
Not covered: the calls of `script` and `pytest` tasks beyond what their files of cases say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from unhack.audit.subject import STOPPED, AuditProblem, Call, Query, Score, Source
from unhack.audit.subjects.problem_rows import folder_cases
from unhack.core.errors import BatchUnscoredError, PoolClosedError
from unhack.core.hashing import content_hash
from unhack.core.verdict import Verdict
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.job import Backend
from unhack.tasks.batch import run_batch
from unhack.tasks.directory import read_folder
from unhack.tasks.reading import read_text_if_there
from unhack.tasks.task import Task
from unhack.verifiers.function import FunctionVerifier
from unhack.verifiers.script import ScriptVerifier
from unhack.verifiers.stdio import StdioVerifier


@dataclass(frozen=True)
class TaskSubject:
    """One or several tasks."""

    name: str
    tasks: tuple[Task, ...]
    backend: Backend | None = field(default=None, compare=False)

    @property
    def problems(self) -> tuple[AuditProblem, ...]:
        """One for each task, in order. Raises TaskError when a file of a folder is wrong."""
        return self._problems

    @property
    def of_problems(self) -> int:
        """As many as there are tasks."""
        return len(self.tasks)

    @cached_property
    def _problems(self) -> tuple[AuditProblem, ...]:
        return tuple(map(audit_problem, self.tasks))

    @property
    def source(self) -> Source | None:
        """The script or checker of the first task's folder."""
        folder = self.tasks[0].path
        for name, entry in (("verifier.py", "verify"), ("checker.py", "check")):
            text = read_text_if_there(folder / name) if folder is not None else None
            if text is not None and folder is not None:
                return Source(str(folder / name), text, entry=entry)
        return None

    @property
    def sees_answer(self) -> bool:
        """True: a task's verifier holds the expected values."""
        return True

    @property
    def fingerprint(self) -> str:
        """Changes with a verifier, its cases or a problem."""
        parts = [repr((task.problem, task.verifier)) for task in self.tasks]
        return content_hash(*parts)

    def with_limit(self, wall_s: float) -> TaskSubject:
        """See `Subject`: a task has limits of its own."""
        return self

    def with_backend(self, backend: Backend | None) -> TaskSubject:
        """See `Subject`."""
        return replace(self, backend=backend)

    def lines_of(self, query: Query) -> frozenset[int]:
        """See `Subject`: unhack's verifiers are not traced."""
        return frozenset()

    def score(self, queries: Sequence[Query]) -> list[Score]:
        """See `Subject`. Raises SandboxUnavailableError."""
        by_id = {task.id: task for task in self.tasks}
        tasks = [by_id[query.problem.id] for query in queries]
        texts = [query.completion for query in queries]
        try:
            batch = run_batch(tasks, texts, backend=self.backend, dedupe=False)
        except BatchUnscoredError as error:
            batch = error.batch
        except PoolClosedError as error:
            if not isinstance(self.backend, DeadlineBackend):
                raise
            return [Score(None, STOPPED, str(error))] * len(queries)
        return [_score(verdict) for verdict in batch.verdicts]


def _score(verdict: Verdict) -> Score:
    seconds = verdict.usage.wall_s
    if verdict.score is None:
        return Score(None, "raised", verdict.reason, seconds)
    return Score(verdict.score, reason=verdict.reason, seconds=seconds)


def audit_problem(task: Task) -> AuditProblem:
    """The problem of a task as the auditor knows it. Raises TaskError for a wrong file."""
    verifier = task.verifier
    entry_point: str | None = None
    calls: tuple[Call, ...] = ()
    checker, setup = "", ""
    if isinstance(verifier, FunctionVerifier):
        entry_point, setup = verifier.entry_point, verifier.setup
        checker = verifier.checker or ""
        calls = tuple(
            Call(case.args, case.kwargs, case.expected)
            for case in verifier.cases
            if case.raises is None
        )
    elif isinstance(verifier, StdioVerifier):
        checker = verifier.checker or ""
        calls = tuple(Call((case.stdin,), {}, case.stdout) for case in verifier.cases)
    elif isinstance(verifier, ScriptVerifier) and task.problem.reference is not None:
        entry_point, calls = folder_cases(
            task.problem.reference, verifier.cases, verifier.script, prompt=task.prompt
        )
    return AuditProblem(
        id=task.id,
        prompt=task.prompt,
        answer=task.problem.answer,
        correct=_correct(task),
        entry_point=entry_point,
        calls=calls,
        extra=dict(task.problem.meta),
        generator=_generator(task) if entry_point is not None or calls else "",
        checker=checker,
        setup=setup,
    )


def _generator(task: Task) -> str:
    """The source of the folder's generator; empty where there is none."""
    if task.path is None or not _is_folder(task.path):
        return ""
    return read_text_if_there(task.path / "generator.py") or ""


def _correct(task: Task) -> tuple[str, ...]:
    """The reference, then the right solutions of the folder."""
    found = [] if task.problem.reference is None else [task.problem.reference]
    if task.problem.answer is None and task.path is not None and _is_folder(task.path):
        folder = read_folder(task.path)
        found += [folder.completion(text) for text in folder.solutions("right").values()]
    return tuple(dict.fromkeys(found))


def _is_folder(path: Path) -> bool:
    return (path / "task.toml").is_file()
