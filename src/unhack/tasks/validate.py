"""Validation: does a task judge its right and wrong solutions rightly?

    report = validate(Path("two-sum"))
    report.ok, report.problems

Checked: the reference and every `right/*` pass, and every `wrong/*` fails; a solution that does
nothing gets a score, but does not pass; nothing is unscored; the generator gives the same cases for
the same seed, in another order too, and not the same case for all seeds; on fresh cases the
reference passes its own answers and every `right/*` agrees. Everything is judged twice, in
a shuffled order and then backwards, and the verdicts must be the same.

Not covered: whether the prompt says what the cases ask for, and mistakes that the reference and the
cases share.
"""

from __future__ import annotations

import difflib
import random
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from unhack.core import plain
from unhack.core.errors import BatchUnscoredError, TaskError
from unhack.core.verdict import Status, Verdict
from unhack.sandbox.job import Backend
from unhack.sandbox.pool.pool import shared_pool
from unhack.tasks.batch import run_batch
from unhack.tasks.directory import SCRIPT_CASES, TaskFolder, build, read_folder
from unhack.tasks.fresh import call_all, draw_values, fresh_tasks, trusted_profile
from unhack.tasks.settings import ScriptOptions, TextOptions
from unhack.tasks.task import MissingControlWarning, Task
from unhack.verifiers.jobs import Answer, printable

_KNOWN_FILES = (
    "task.toml",
    "prompt.md",
    "cases.jsonl",
    "reference.py",
    "generator.py",
    "checker.py",
    "verifier.py",
    "tests",
    "right",
    "wrong",
)


class _Part(StrEnum):
    """The reason to try a solution."""

    RIGHT = "right"
    """It must pass."""
    WRONG = "wrong"
    """At least one of its completions must not pass."""
    IDLE = "idle"
    """A solution that does nothing; it must not pass either."""
    GUESS = "guess"
    """A text with some answer, which may be right by chance; it must get a score."""
    FRESH = "fresh"
    """It must pass on cases that were drawn."""
    ANSWERS = "answers"
    """The recorded answers of a text task; they must pass."""


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """The findings of `validate`."""

    path: Path
    id: str
    """The task's id; the directory's name where `task.toml` cannot be read."""
    kind: str
    problems: tuple[str, ...]
    """One sentence for each thing that is wrong; empty when the task is sound."""
    right: int = 0
    """The number of correct solutions that passed as they must, the reference included."""
    wrong: int = 0
    """The number of wrong solutions that failed as they must."""
    cases: int = 0
    """Cases of its own (for text tasks: problems)."""
    fresh_cases: int = 0
    """Cases drawn from the generator."""
    judged: int = 0
    """Completions judged, both rounds together."""

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "id": self.id,
            "path": str(self.path),
            "kind": self.kind,
            "ok": self.ok,
            "problems": list(self.problems),
            "right": self.right,
            "wrong": self.wrong,
            "cases": self.cases,
            "fresh_cases": self.fresh_cases,
            "judged": self.judged,
        }


@dataclass(frozen=True, slots=True)
class _Trial:
    """One solution, and its expected result."""

    name: str
    part: _Part
    items: Sequence[tuple[Task, str]]
    """Its completions: one, or for text tasks one for each problem."""
    note: str = ""
    """The error in making the completions."""

    def complaint(self, verdicts: Sequence[Verdict]) -> str:
        """The fault of these verdicts; empty when there is none."""
        for (task, _), verdict in zip(self.items, verdicts, strict=True):
            if not verdict.scored:
                return f"{self.name}: {task.id} could not be scored: {verdict.reason}"
        if self.part in (_Part.WRONG, _Part.IDLE):
            passes = all(verdict.passed for verdict in verdicts)
            return f"{self.name}: must fail, but passes" if passes else ""
        for (task, _), verdict in zip(self.items, verdicts, strict=True):
            if not verdict.passed and self.part is not _Part.GUESS:
                shown = _first_failing_case(task, verdict)
                return f"{self.name}: must pass {task.id}, but: {verdict.reason}{shown}{self.note}"
        return ""


def validate(
    path: Path, *, backend: Backend | None = None, fresh_count: int = 12, seed: int = 0
) -> ValidationReport:
    """Validate the task directory at `path`; what is wrong stands in the report.

    `fresh_count` cases are drawn where there is a generator. `seed` chooses the cases and the
    order. Raises SandboxUnavailableError and SandboxError only.
    """
    try:
        folder = read_folder(path)
    except TaskError as error:
        return ValidationReport(path, path.name, "", tuple(str(error).split("\n")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingControlWarning)  # the canary is tried
        return _validate(folder, fresh_count, seed, backend or shared_pool())


def _validate(folder: TaskFolder, fresh_count: int, seed: int, pool: Backend) -> ValidationReport:
    problems = list(_misnamed_files(folder))
    trials: list[_Trial] = []
    tasks: tuple[Task, ...] = ()
    drawn = 0
    try:
        tasks = build(folder)
        trials += _own_trials(folder, tasks, pool)
        if folder.generator_path.exists():
            problems += _generator_problems(folder, fresh_count, seed, pool)
            fresh = fresh_tasks(folder, count=fresh_count, seed=seed, backend=pool)
            trials += _fresh_trials(folder, fresh, pool)
            drawn = fresh_count
    except TaskError as error:
        problems += str(error).split("\n")
    complaints = _judge_twice(trials, random.Random(seed), pool)
    problems += [complaint for complaint in complaints if complaint]
    good = [
        trial.part for trial, complaint in zip(trials, complaints, strict=True) if not complaint
    ]
    return ValidationReport(
        folder.path,
        folder.settings.id,
        folder.settings.kind.value,
        tuple(problems),
        right=good.count(_Part.RIGHT),
        wrong=good.count(_Part.WRONG),
        cases=_count_cases(tasks),
        fresh_cases=drawn,
        judged=2 * sum(len(trial.items) for trial in trials),
    )


def _misnamed_files(folder: TaskFolder) -> Iterable[str]:
    """Files that nothing reads although their names are nearly right."""
    known = {*_KNOWN_FILES, folder.reference_path.name}
    used = getattr(folder.options, "files", ())
    if isinstance(folder.options, ScriptOptions):
        used = (*used, folder.options.cases, *SCRIPT_CASES)
    for path in sorted(folder.path.iterdir()):
        if path.name not in known and path.name not in used:
            near = difflib.get_close_matches(path.name, known, n=1, cutoff=0.75)
            if near:
                yield f"{path.name}: nothing reads this file; did you mean {near[0]}?"


def _sources(folder: TaskFolder) -> dict[str, str]:
    """Every solution that must pass: name -> source."""
    reference = folder.reference
    known = {} if reference is None else {folder.reference_path.name: reference}
    return {**known, **folder.solutions("right")}


def _own_trials(folder: TaskFolder, tasks: tuple[Task, ...], pool: Backend) -> list[_Trial]:
    trials = [
        _trial(folder, name, source, tasks=tasks, part=_Part.RIGHT, pool=pool)
        for name, source in _sources(folder).items()
    ]
    trials += [
        _trial(folder, name, source, tasks=tasks, part=_Part.WRONG, pool=pool)
        for name, source in folder.solutions("wrong").items()
    ]
    idle = [(_task_by_itself(tasks[0]), tasks[0].verifier.canary())]
    if not isinstance(folder.options, TextOptions):
        return [*trials, _Trial("a solution that does nothing", _Part.IDLE, idle)]
    recorded = [(task, task.problem.reference) for task in tasks]
    known = [(task, reference) for task, reference in recorded if reference is not None]
    trials.append(_Trial("a guessed answer", _Part.GUESS, idle))
    return [*trials, _Trial("the answers in cases.jsonl", _Part.ANSWERS, known)]


def _task_by_itself(task: Task) -> Task:
    """The task under another id, where it has no reference: none of its solutions is a control, so
    the canary has to be one."""
    if task.problem.reference is not None:
        return task
    return replace(task, problem=replace(task.problem, id=f"{task.id} by itself"))


def _fresh_trials(folder: TaskFolder, fresh: tuple[Task, ...], pool: Backend) -> list[_Trial]:
    return [
        _trial(folder, f"{name} on fresh cases", source, tasks=fresh, part=_Part.FRESH, pool=pool)
        for name, source in _sources(folder).items()
    ]


def _trial(
    folder: TaskFolder,
    name: str,
    source: str,
    *,
    tasks: tuple[Task, ...],
    part: _Part,
    pool: Backend,
) -> _Trial:
    """The trial of one solution; a text task's solution is asked each prompt, in the sandbox."""
    if not isinstance(folder.options, TextOptions):
        completion = folder.completion(source)
        return _Trial(name, part, [(task, completion) for task in tasks])
    answers = call_all(
        source, "solve", calls=[((task.prompt,), {}) for task in tasks],
        limits=folder.limits, profile=trusted_profile(folder), backend=pool,
    )  # fmt: skip
    items: list[tuple[Task, str]] = []
    silent = ""
    for task, answer in zip(tasks, answers, strict=True):
        spoke = isinstance(answer, Answer) and isinstance(answer.value, str)
        # What fails to answer gives the empty text, which no verifier passes.
        items.append((task, cast("str", cast("Answer", answer).value) if spoke else ""))
        if not spoke and not silent:
            shown = answer if isinstance(answer, str) else answer.to_text()
            silent = f" [solve gave no text for {task.id}: {shown}]"
    return _Trial(name, part, items, silent)


def _generator_problems(folder: TaskFolder, count: int, seed: int, pool: Backend) -> Iterable[str]:
    """Problems of a generator: the same seed must give the same cases, in another order too, and
    another seed others."""
    seeds = [f"{seed}/{index}" for index in range(count)]
    first = [plain.dumps(value) for value in draw_values(folder, seeds, backend=pool)]
    again = [plain.dumps(value) for value in draw_values(folder, seeds[::-1], backend=pool)]
    if first != again[::-1]:
        yield "generator.py: the same seed gives different cases; draw from `rng` only"
    elif len(first) > 3 and len(set(first)) == 1:
        yield "generator.py: every seed gives the same case; draw from `rng`"


def _judge_twice(trials: list[_Trial], rng: random.Random, pool: Backend) -> list[str]:
    """Judge everything in two orders; the complaint about each trial, empty for none."""
    places = [(t, i) for t, trial in enumerate(trials) for i in range(len(trial.items))]
    rounds: list[dict[tuple[int, int], Verdict]] = []
    rng.shuffle(places)
    for order in (places, places[::-1]):  # whatever came before another comes after it
        chosen = [trials[t].items[i] for t, i in order]
        rounds.append(dict(zip(order, _verdicts(chosen, pool), strict=True)))
    complaints: list[str] = []
    for t, trial in enumerate(trials):
        first, second = ([found[t, i] for i in range(len(trial.items))] for found in rounds)
        complaint = trial.complaint(first) or trial.complaint(second)
        for (task, _), one, two in zip(trial.items, first, second, strict=True):
            if not complaint and _gist(one) != _gist(two):
                complaint = (
                    f"{trial.name}: {task.id} was judged twice and differently: "
                    f"{one.status} ({one.reason}), then {two.status} ({two.reason})"
                )
        complaints.append(complaint)
    return complaints


def _verdicts(items: list[tuple[Task, str]], pool: Backend) -> Sequence[Verdict]:
    if not items:
        return ()
    tasks, completions = zip(*items, strict=True)
    try:
        return run_batch(tasks, completions, backend=pool, dedupe=False).verdicts
    except BatchUnscoredError as error:
        return error.batch.verdicts


def _gist(verdict: Verdict) -> tuple[Any, ...]:
    """The part of a verdict that must be the same in both rounds; which of two time limits was hit
    first may vary."""
    late = verdict.status in (Status.TIMEOUT, Status.LIMIT)
    cases = tuple((case.passed, case.credit) for case in verdict.cases)
    return verdict.status, verdict.score, "" if late else verdict.reason, cases


def _count_cases(tasks: tuple[Task, ...]) -> int:
    if len(tasks) != 1:
        return len(tasks)
    return len(_cases(tasks[0]))


def _cases(task: Task) -> tuple[Any, ...]:
    """The cases of a function or stdio task; a script's or a pytest suite's are its own affair."""
    cases: Any = getattr(task.verifier, "cases", ())
    return cast("tuple[Any, ...]", cases) if isinstance(cases, tuple) else ()


def _first_failing_case(task: Task, verdict: Verdict) -> str:
    """The case that a correct solution fails, for the author of the task."""
    for case, result in zip(_cases(task), verdict.cases, strict=False):
        if not result.passed:
            output = f", it gave {printable(result.output)}" if result.output else ""
            return f" [{printable(repr(case))}{output}]"
    return ""
