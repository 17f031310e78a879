"""Rows of a data set as tasks, each proved on what the row itself holds.

    loaded = load_rows("apps.jsonl")
    print(len(loaded.tasks), [str(row) for row in loaded.left_out])

Every row's reference, a junk text, an empty one and, for code, a program that does nothing are
judged as completions are: sealed, as many at once as there are workers. A row is left out when it
cannot be read, when its reference does not pass, or when it pays for one of the others; a row with
a checker that is not run also when it has no second solution, or one with other outputs.

Covered: every row that is left out is listed with its reason; what the proof cost is counted.
Not covered: a right reference beside tests that are too weak (`unhack audit` looks for those).
"""

from __future__ import annotations

import importlib.util
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Unpack

from unhack.core.errors import TaskError
from unhack.core.verdict import Status, Verdict
from unhack.tasks.batch import stream_batch
from unhack.tasks.execution.executor import Placement
from unhack.tasks.loaders.data_sets import DataSet, data_set_of, find_data_set
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.reasoning_gym import MOST_FOR_JUNK
from unhack.tasks.loaders.records import DataSetRow, read_records
from unhack.tasks.task import Task
from unhack.verifiers.answers.final_answer import Marker, write_answer
from unhack.verifiers.text import AnswerCheck, TextVerifier

_CODE = frozenset({"function", "stdio", "script", "pytest"})
_MAX_REASON_CHARS = 300
_MOST_AGAIN = 100
_REFERENCE, _OTHER = "the reference", "another right solution"
_ONE_SOLUTION = "its checker is not run, and one solution cannot show that no other output is right"
_NO_PROBLEMS = "q^{7919}+7907"
"""An expression that the parser reads: a gold that it cannot read is found by it."""


@dataclass(frozen=True, slots=True)
class RowReport:
    """One row and what its proof found.

    Example:

        row: RowReport = load_rows("rows.jsonl").rows[0]
        print(row)
    """

    place: str
    """`path:line`."""
    data_set: str
    id: str = ""
    problem: str = ""
    """The kind of fault, the same words for all rows that have it; empty for a sound row."""
    detail: str = ""
    has_reference: bool = False
    reference_passed: bool = False
    others: int = 0
    """Further right solutions that were judged."""
    spoiled: int = 0
    """Texts that must score nothing and were judged."""
    spoiled_wrong: int = 0
    """Those of them that did."""

    def __str__(self) -> str:
        return f"{self.place}: {self.id + ': ' if self.id else ''}{self.problem}: {self.detail}"


@dataclass(frozen=True, slots=True)
class LoadedRows:
    """The tasks of a file, and a report on each of its rows.

    Example:

        loaded = load_rows("rows.jsonl")
        loaded.tasks, loaded.left_out
    """

    tasks: tuple[Task, ...]
    rows: tuple[RowReport, ...]
    checked: bool
    """False where nothing was run."""
    wall_s: float = 0.0
    """Time that the proof took."""
    cpu_s: float = 0.0
    """CPU time of the judged texts."""

    @property
    def left_out(self) -> tuple[RowReport, ...]:
        """The rows with a problem; with `keep` those that could be read are among the tasks."""
        return tuple(row for row in self.rows if row.problem)

    def problems(self, data_set: str) -> Mapping[str, int]:
        """The rows of a data set by problem."""
        return Counter(row.problem for row in self.left_out if row.data_set == data_set)


class NoSoundRowError(TaskError):
    """No row of a file is sound; `loaded` holds the report on each."""

    def __init__(self, message: str, *, loaded: LoadedRows) -> None:
        super().__init__(message)
        self.loaded = loaded


@dataclass(frozen=True, slots=True)
class RowReading:
    """The way in which rows of a file are read.

    Example:

        load_rows("rows.jsonl", RowReading(columns={"prompt": "question"}, most=100))
    """

    data_set: str | None = None
    """The layout; else each row's columns tell."""
    columns: Mapping[str, str] | None = None
    """Our names of columns -> the file's."""
    most: int | None = None
    """Rows that are read."""
    options: LoadOptions | None = None
    """In place of the limits of the data set's own harness."""
    preload: tuple[str, ...] = ()
    """Packages that solutions may import, where there are no `options`; else numpy for rows whose
    reference or tests import it, where it is installed."""


def load_rows(
    path: str | Path,
    reading: RowReading | None = None,
    *,
    check: bool = True,
    keep: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
    **placement: Unpack[Placement],
) -> LoadedRows:
    """The tasks of a data file or folder, in its order, without the rows that are not sound.

    Without `check` nothing is run; `keep` leaves out only what cannot be read.
    `on_progress(done, all)` is called as verdicts come.

    Raises TaskError for a file that cannot be read or an unknown layout, NoSoundRowError where no
    row is left, UsageError where a package is missing.
    """
    reading = reading or RowReading()
    entry = find_data_set(reading.data_set) if reading.data_set else None
    read: list[tuple[RowReport, Task | None]] = []
    others: dict[int, tuple[str, ...]] = {}
    seen: set[str] = set()
    for row in islice(read_records(path, columns=reading.columns), reading.most):
        found = entry or data_set_of(row)
        report, task = _read(row, found, reading)
        if task is not None and task.id in seen:
            task = replace(task, problem=replace(task.problem, id=f"{task.id}/{row.line}"))
        seen.add(task.id if task is not None else "")
        if task is not None and found.others is not None:
            others[len(read)] = found.others(row)
            if row.first("checker") and not others[len(read)]:
                report = replace(report, problem="cannot be proved", detail=_ONE_SOLUTION)
        read.append((report if task is None else replace(report, id=task.id), task))
    started = time.monotonic()
    reports, cpu_s = [report for report, _ in read], 0.0
    if check:
        reports, cpu_s = _prove(read, others, on_progress, placement)
    tasks = tuple(
        task
        for report, (_, task) in zip(reports, read, strict=True)
        if task is not None and (keep or not report.problem)
    )
    loaded = LoadedRows(tasks, tuple(reports), check, time.monotonic() - started, cpu_s)
    if not tasks:
        message = f"{path}: none of {len(reports)} rows is sound; the first is {reports[0]}"
        raise NoSoundRowError(message, loaded=loaded)
    return loaded


def _used(row: DataSetRow) -> tuple[str, ...]:
    texts = repr(dict(row.fields))
    used = "import numpy" in texts or "from numpy" in texts
    return ("numpy",) if used and importlib.util.find_spec("numpy") is not None else ()


def _read(row: DataSetRow, entry: DataSet, reading: RowReading) -> tuple[RowReport, Task | None]:
    report = RowReport(f"{row.path}:{row.line}", entry.name)
    try:
        options = reading.options
        if options is None:
            limits = entry.row_limits(row, entry.limits) if entry.row_limits else entry.limits
            options = LoadOptions(limits=limits, preload=reading.preload or _used(row))
        return report, entry.read(row, options)
    except (TaskError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        # Rows come from anywhere: one with a value of another kind than its layout has is left
        # out by name as well.
        said = str(error).removeprefix(f"{report.place}: ")[:_MAX_REASON_CHARS]
        return replace(report, problem="cannot be read", detail=said), None


def _prove(
    read: Sequence[tuple[RowReport, Task | None]],
    others: Mapping[int, tuple[str, ...]],
    on_progress: Callable[[int, int], None] | None,
    placement: Placement,
) -> tuple[list[RowReport], float]:
    """The reports with what the judged texts say, and the CPU time of these."""
    items = [
        (index, kind, task, text)
        for index, (_, task) in enumerate(read)
        if task is not None
        for kind, text in _texts(task, others.get(index, ()))
    ]
    found: dict[int, Verdict] = {}
    for number, verdict in _stream(items, placement, window=None):
        found[number] = verdict
        if on_progress is not None:
            on_progress(len(found), len(items))
    cpu_s = sum(verdict.usage.cpu_s for verdict in found.values())
    late = [number for number, verdict in found.items() if _was_late(verdict)][:_MOST_AGAIN]
    for place, verdict in _stream([items[number] for number in late], placement, window=1):
        found[late[place]] = verdict
        cpu_s += verdict.usage.cpu_s
    verdicts: dict[int, dict[str, Verdict]] = {}
    for number, (index, kind, *_) in enumerate(items):
        verdicts.setdefault(index, {})[kind] = found[number]
    judged = [_judged(report, verdicts.get(at, {})) for at, (report, _) in enumerate(read)]
    return judged, cpu_s


def _stream(
    items: Sequence[tuple[int, str, Task, str]], placement: Placement, *, window: int | None
) -> Iterator[tuple[int, Verdict]]:
    tasks, texts = [task for _, _, task, _ in items], [text for *_, text in items]
    return stream_batch(tasks, texts, window=window, **placement)


def _was_late(verdict: Verdict) -> bool:
    """True when a busy host may be at fault: then the text is judged once more, alone."""
    return not verdict.scored or (
        verdict.status is Status.TIMEOUT and "wall time limit reached" in verdict.reason
    )


def _texts(task: Task, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The texts to judge, by their kind."""
    if task.problem.reference is not None:
        yield _REFERENCE, task.problem.reference
    yield from ((f"{_OTHER} ({number})", text) for number, text in enumerate(others, 2))
    verifier = task.verifier
    if verifier.kind in _CODE:
        yield "a text without code", "I have no idea."
        yield "a program that does nothing", verifier.canary()
    else:
        forms = verifier.answer_in if isinstance(verifier, TextVerifier) else (Marker.TAG,)
        yield "an answer that is none", write_answer("no idea", forms[0])
        if isinstance(verifier, TextVerifier) and verifier.check is AnswerCheck.MATH:
            yield "an answer of no problem", write_answer(_NO_PROBLEMS, forms[0])
    yield "an empty text", ""


def _judged(report: RowReport, verdicts: Mapping[str, Verdict]) -> RowReport:
    """The report with what the verdicts on its texts say."""
    if not verdicts:
        return report
    reference = verdicts.get(_REFERENCE)
    right = {kind: verdict for kind, verdict in verdicts.items() if kind.startswith(_OTHER)}
    unlike = [kind for kind, verdict in right.items() if verdict.status is Status.FAILED]
    spoiled = {
        kind: verdict
        for kind, verdict in verdicts.items()
        if kind != _REFERENCE and kind not in right
    }
    paid = [kind for kind, verdict in spoiled.items() if (verdict.score or 0.0) > MOST_FOR_JUNK]
    unscored = [verdict for verdict in verdicts.values() if not verdict.scored]
    problem, detail = report.problem, report.detail
    if reference is not None and reference.scored and not reference.passed:
        problem, detail = "its reference fails", reference.reason
        if "ModuleNotFoundError" in detail:
            detail += "; where it is installed, `preload` (`--preload`) lets solutions import it"
    elif unlike:
        problem = f"{_OTHER} fails"
        detail = f"{unlike[0]}: {right[unlike[0]].reason}; several outputs may be right"
    elif right and not any(verdict.passed for verdict in right.values()):
        problem, detail = (
            "cannot be proved",
            f"no other solution ran: {next(iter(right.values())).reason}",
        )
    elif unscored:
        problem, detail = "cannot be judged", unscored[0].reason
    elif paid:
        problem, detail = "pays for nothing", f"{paid[0]} scores {spoiled[paid[0]].score:g}"
    return replace(
        report,
        problem=problem,
        detail=detail[:_MAX_REASON_CHARS],
        has_reference=reference is not None,
        reference_passed=reference is not None and reference.passed,
        others=len(right),
        spoiled=len(spoiled),
        spoiled_wrong=sum(verdict.scored for verdict in spoiled.values()) - len(paid),
    )
