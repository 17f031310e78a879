"""Sources of problems and their rewards: what a `TaskWorld` is made of.

Rewards are those of unhack's own machinery: a task's verdict; a reward function called in a fresh
process inside the sandbox, as an audit calls it; the hidden tests of a repository task.

A function that gives no finite number is called once more on a known text. Where that works the
completion caused the fault, and it is worth what an empty completion is worth, at most 0; where it
does not, the machinery is broken and the step ends.

Covered: many problems at once. Not covered: reward functions that keep state between calls (each
call is a process of its own); environments of several turns (`unhack.training.episodes`): a
repository task is played in one turn here, in which the completion is the patch.
"""

from __future__ import annotations

import asyncio
import atexit
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from unhack.audit.subject import AuditProblem, Query, Score
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.task_subject import audit_problem
from unhack.core.completion import Extraction, extract_code
from unhack.core.errors import BatchUnscoredError, UsageError
from unhack.core.hashing import content_hash
from unhack.environments.actions import ApplyPatch, Submit
from unhack.environments.environment import EpisodeTask, RepositoryWorkshop
from unhack.sandbox.job import Backend
from unhack.tasks.task import Task
from unhack.training.worlds.scoring import judge_texts
from unhack.verifiers.reward import reward_of

Answered = tuple[str, str]
"""A problem's id and a completion of it."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+>")


class ProblemSource(Protocol):
    """Problems, and the rewards of completions."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def problems(self) -> Mapping[str, AuditProblem]:
        """By id; `prompt` is what the policy reads."""
        ...

    def fingerprint(self, problem: str) -> str:
        """Changes with whatever the reward of a completion depends on."""
        ...

    def score(self, answered: Sequence[Answered]) -> list[float]:
        """Rewards, in order. Raises BatchUnscoredError where the machinery broke."""
        ...


class TaskSource:
    """Tasks of unhack: the score of their verdicts, in [0, 1]."""

    def __init__(self, name: str, tasks: Sequence[Task], *, backend: Backend | None) -> None:
        """Raises UsageError for no tasks, and for two of one id."""
        self.name = name
        self._tasks = {task.id: task for task in tasks}
        self._backend = backend
        if not tasks or len(self._tasks) < len(tasks):
            raise UsageError(f"{name}: at least one task, each with an id of its own")
        self.problems: Mapping[str, AuditProblem] = {task.id: audit_problem(task) for task in tasks}

    def fingerprint(self, problem: str) -> str:
        """Of problem and verifier."""
        return _stable(self._tasks[problem])

    def score(self, answered: Sequence[Answered]) -> list[float]:
        """See `ProblemSource`."""
        tasks = [self._tasks[problem] for problem, _ in answered]
        verdicts = judge_texts(tasks, [text for _, text in answered], backend=self._backend)
        return [reward_of(verdict) or 0.0 for verdict in verdicts]


class FunctionSource:
    """A reward function, sealed: raw scores in whatever range it has."""

    def __init__(self, subject: FunctionSubject) -> None:
        self.name = subject.name
        self.subject = subject
        self.problems: Mapping[str, AuditProblem] = {
            problem.id: problem for problem in subject.problems
        }
        self._floors: dict[str, float] = {}

    def fingerprint(self, problem: str) -> str:
        """Of the function and the row."""
        return content_hash(self._of_function, repr(self.problems[problem]))

    @cached_property
    def _of_function(self) -> str:
        return self.subject.with_problems(()).fingerprint

    def score(self, answered: Sequence[Answered]) -> list[float]:
        """See `ProblemSource`. Raises SandboxUnavailableError, UsageError where it cannot be
        loaded."""
        scores = self._ask(answered)
        return [
            self._floor(problem, score) if value is None else value
            for (problem, _), score in zip(answered, scores, strict=True)
            for value in (_finite(score),)
        ]

    def _ask(self, answered: Sequence[Answered]) -> list[Score]:
        problems = self.problems
        return self.subject.score([Query(problems[problem], text) for problem, text in answered])

    def _floor(self, problem: str, score: Score) -> float:
        """Reward of a completion that brings the function down."""
        if problem not in self._floors:
            known = self.problems[problem]
            controls = [(problem, ""), *((problem, text) for text in known.correct[:1])]
            values = [_finite(one) for one in self._ask(controls)]
            if all(value is None for value in values):
                told = score.reason or score.trouble or f"it gives {score.value}"
                raise BatchUnscoredError(
                    f"{self.name} gives no score on {problem}, for a known text neither: {told}",
                    batch=None,
                )
            self._floors[problem] = min(0.0, values[0] or 0.0)
        return self._floors[problem]


class RepositorySource:
    """Repository tasks in one turn: the completion is a unified diff, then the files are judged."""

    def __init__(self, name: str, tasks: Sequence[EpisodeTask]) -> None:
        """Raises UsageError for no tasks, and for two of one id."""
        self.name = name
        self._tasks = {task.id: task for task in tasks}
        if not tasks or len(self._tasks) < len(tasks):
            raise UsageError(f"{name}: at least one task, each with an id of its own")
        self.problems: Mapping[str, AuditProblem] = {
            task.id: AuditProblem(task.id, _statement(task)) for task in tasks
        }
        self._runner: asyncio.Runner | None = None
        self._workshop: RepositoryWorkshop | None = None

    def fingerprint(self, problem: str) -> str:
        """Of the task."""
        return _stable(self._tasks[problem])

    def score(self, answered: Sequence[Answered]) -> list[float]:
        """See `ProblemSource`."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self._play_all(answered))

    async def _play_all(self, answered: Sequence[Answered]) -> list[float]:
        if self._workshop is None:
            self._workshop = RepositoryWorkshop()
            atexit.register(self.close)
        return list(await asyncio.gather(*(self._play(*one) for one in answered)))

    async def _play(self, problem: str, text: str) -> float:
        assert self._workshop is not None
        reason = "the episode did not end"
        for _ in range(2):
            episode = self._workshop.begin(self._tasks[problem])
            step = await episode.step(ApplyPatch(_diff(text)))
            step = step if step.ended else await episode.step(Submit())
            if step.outcome is not None and step.outcome.scored:
                return reward_of(step.outcome) or 0.0
            reason = step.outcome.reason if step.outcome is not None else reason
        raise BatchUnscoredError(f"{problem}: no verdict in two plays: {reason}", batch=None)

    def close(self) -> None:
        """End the supervisors. Harmless when closed."""
        if self._workshop is not None:
            self._workshop.close()
        if self._runner is not None:
            self._runner.close()
        self._workshop = self._runner = None


def _diff(text: str) -> str:
    """The patch of a completion: its last fenced block, or all of it."""
    code = extract_code(text, how=Extraction.LAST)
    return f"{text if code is None else code}".rstrip("\n") + "\n"


def _statement(task: EpisodeTask) -> str:
    parts = [task.statement.rstrip()]
    for path, content in task.files.items():
        if task.may_change(path):
            parts.append(f"File {path}:\n```\n{content.decode('utf-8', 'replace')}\n```")
    parts.append("Answer with one unified diff in a fenced block.")
    return "\n\n".join(parts)


def _finite(score: Score) -> float | None:
    value = score.value
    return value if value is not None and math.isfinite(value) else None


def _stable(value: Any) -> str:
    """A hash of a value's text. One that names an address is of this process alone."""
    text = repr(value)
    return content_hash(text, secrets.token_hex(8) if _ADDRESS.search(text) else "")
