"""Files of completions, and which problem each completion answers.

    completions.jsonl    one JSON object a line: {"completion": "…"}; "id", "task", "row" if wanted
    -                    the same from standard input
    any other name       a plain text file: the whole file is one completion

Covered: every complaint names file and line; everything is read and checked before anything runs.
Not covered: other spellings of a data set; further keys of a row are left aside.

The order in which completions are started, and in which their verdicts are shown.

Completions start from both ends, so that a stretch of endless loops at one end does not keep the
others from being judged. Verdicts are shown in the order of the completions, but none waits longer
than three seconds for those before it. With groups a whole group is shown at once, as advantages
need all of it.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UnknownNameError, UsageError
from unhack.tasks.reading import json_name
from unhack.tasks.task import Task

_ROW_SUFFIXES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class CompletionRow:
    """One completion and what its file says about it."""

    completion: str
    place: str
    """`file:line`, or the file for plain text; for error messages."""
    id: str | int | None = None
    """The row's own id."""
    task: str | None = None
    """The task that it answers, where TASK stands for several."""
    row: int | None = None
    """The number of the problem of a text task that it answers, from 0."""


def read_completions(names: Sequence[str]) -> list[CompletionRow]:
    """The rows of all files, in order. Raises UsageError, which names file and line."""
    rows: list[CompletionRow] = []
    for name in names:
        found = list(_read_one(name))
        if not found:
            raise UsageError(
                f'{_place_name(name)}: holds no completion; a row is {{"completion": "…"}}'
            )
        rows += found
    return rows


def _read_one(name: str) -> Iterator[CompletionRow]:
    text = _text(name)
    if name != "-" and not name.endswith(_ROW_SUFFIXES):
        if name.endswith(".json"):
            raise UsageError(
                f"{name}: rows are read from JSON Lines, one object a line; name the file .jsonl"
            )
        yield CompletionRow(text, name, id=name)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _parse(line, f"{_place_name(name)}:{number}")


def _place_name(name: str) -> str:
    return "stdin" if name == "-" else name


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        near = _near_files(Path(name)) if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"{name}: cannot be read: {error.strerror}{near}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{_place_name(name)}:{line}: this is not UTF-8 text") from None


def _near_files(path: Path) -> str:
    import difflib

    try:
        names = [item.name for item in path.parent.iterdir() if item.is_file()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.75)
    return f"; did you mean {', '.join(near)}?" if near else ""


def _parse(line: str, place: str) -> CompletionRow:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(f"{place}: not JSON: {error.msg} (column {error.colno})") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place}: not JSON: {error}") from None
    if not isinstance(value, dict):
        kind = json_name(value)
        raise UsageError(f'{place}: a row is an object such as {{"completion": "…"}}, not {kind}')
    fields = cast("dict[str, Any]", value)
    if "completion" not in fields:
        raise UsageError(f'{place}: the row has no "completion"{_near_key(fields)}')
    return CompletionRow(
        _typed_value(fields, "completion", kinds=(str,), place=place),
        place,
        id=_typed_value(fields, "id", kinds=(str, int), place=place),
        task=_typed_value(fields, "task", kinds=(str,), place=place),
        row=_typed_value(fields, "row", kinds=(int,), place=place),
    )


def _near_key(fields: dict[str, Any]) -> str:
    import difflib

    near = difflib.get_close_matches("completion", fields, n=1, cutoff=0.6)
    return f"; is {near[0]!r:.60} meant?" if near else f"; it has {', '.join(list(fields)[:6])}"


_NAMES = {str: "a string", int: "a whole number"}


def _typed_value(fields: dict[str, Any], key: str, *, kinds: tuple[type, ...], place: str) -> Any:
    value = fields.get(key)
    if key not in fields or (value is None and key != "completion"):
        return None
    if type(value) not in kinds:
        wanted = " or ".join(_NAMES[kind] for kind in kinds)
        raise UsageError(f'{place}: "{key}" must be {wanted}, not {json_name(value)}')
    return value


class TaskChooser:
    """Finds the task of each row among those that TASK stands for."""

    def __init__(self, name: str, tasks: Sequence[Task]) -> None:
        self._name = name
        self._bases: dict[str, list[Task]] = {}
        self._tasks = {task.id: task for task in tasks}
        for task in tasks:
            self._bases.setdefault(task.id.partition("#")[0], []).append(task)
        shorts = [base.rpartition("/")[2] for base in self._bases]
        self._shorts = {
            short: base for short, base in zip(shorts, self._bases, strict=True)
            if shorts.count(short) == 1
        }  # fmt: skip

    def choose(self, row: CompletionRow) -> Task:
        """The task that `row` answers. Raises UsageError, which names file and line."""
        if row.task is not None and row.row is None and row.task in self._tasks:
            return self._tasks[row.task]
        problems = self._problems(row)
        if row.row is not None:
            if not 0 <= row.row < len(problems):
                raise UsageError(
                    f'{row.place}: "row" is {row.row}, but {problems[0].id.partition("#")[0]} has '
                    f"rows 0 to {len(problems) - 1}"
                )
            return problems[row.row]
        if len(problems) > 1:
            raise UsageError(
                f"{row.place}: {problems[0].id.partition('#')[0]} has {len(problems)} problems; "
                f'the row needs "row", from 0 to {len(problems) - 1}'
            )
        return problems[0]

    def _problems(self, row: CompletionRow) -> list[Task]:
        """The problems of the row's task."""
        if row.task is None:
            if len(self._bases) == 1:
                return next(iter(self._bases.values()))
            few = ", ".join(list(self._bases)[:3])
            raise UsageError(
                f"{row.place}: {self._name} matches {len(self._bases)} tasks; the row needs "
                f'"task", one of {few}, …'
            )
        base = self._shorts.get(row.task, row.task)
        if base in self._bases:
            return self._bases[base]
        valid = [*self._bases, *(self._tasks if "#" in row.task else ())]
        error = UnknownNameError("task", row.task, valid=valid)
        raise UsageError(f"{row.place}: {error}; {self._name} holds no such task")


PATIENCE_S = 3.0
"""Longest wait of a unit that is judged for those before it."""


def from_both_ends(items: Sequence[int]) -> Iterator[int]:
    """First, last, second, last but one, …"""
    low, high = 0, len(items) - 1
    while low <= high:
        yield items[low]
        if low < high:
            yield items[high]
        low, high = low + 1, high - 1


class Turns:
    """Hands units on, once all their members are there. Threads may share it."""

    def __init__(
        self,
        units: Sequence[Sequence[int]],
        show: Callable[[int], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`units` are lists of members, each member in one; `show` takes the number of a unit."""
        self._show = show
        self._clock = clock
        self._unit_of = {member: number for number, unit in enumerate(units) for member in unit}
        self._missing = [len(unit) for unit in units]
        self._whole: dict[int, float] = {}
        self._shown: set[int] = set()
        self._next = 0
        self._lock = threading.RLock()

    def put(self, member: int) -> None:
        """A member is there; shows what may be shown. Each member comes once."""
        with self._lock:
            unit = self._unit_of[member]
            self._missing[unit] -= 1
            if not self._missing[unit]:
                self._whole[unit] = self._clock()
            self.look()

    def look(self) -> None:
        """Show what is next, and what has waited for long enough."""
        with self._lock:
            while self._next in self._whole or self._next in self._shown:
                if self._next in self._whole:
                    self._hand_on(self._next)
                self._shown.discard(self._next)
                self._next += 1
            due = self._clock() - PATIENCE_S
            # In the order in which they came; the first that is not due ends the search.
            while self._whole:
                unit, since = next(iter(self._whole.items()))
                if since > due:
                    break
                self._hand_on(unit)

    def finish(self) -> None:
        """Show every whole unit that is left, in order."""
        with self._lock:
            for unit in sorted(self._whole):
                self._hand_on(unit)

    def _hand_on(self, unit: int) -> None:
        del self._whole[unit]
        self._shown.add(unit)
        self._show(unit)
