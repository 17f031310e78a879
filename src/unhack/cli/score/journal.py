"""The folder of a `unhack score --run DIR`: what was judged, so that the same command goes on.

    DIR/inputs.json      what is judged: tasks and completions, by hash
    DIR/verdicts.jsonl   one verdict a line, in the order in which they came

Covered: Ctrl-C, a kill, a full disk (what is stored counts, the rest is judged again); changed
completions, tasks or program (UsageError that names the first change); two processes at once.
Unscored verdicts are not kept: they are judged again.
Not covered: the last seconds before a power cut; somebody who edits the folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self, cast

from unhack.cli.score.completions import CompletionRow
from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict
from unhack.store.errors import StoreError
from unhack.store.run_folder import RunFolder
from unhack.tasks.task import Task
from unhack.verifiers.function import PASSED_CASE

_KIND = "score"
_INPUTS, _VERDICTS = "inputs.json", "verdicts.jsonl"
_DIGITS = 16
_ANEW = "give --run another folder, or delete this one to judge everything anew"


class VerdictJournal:
    """One opened folder: the verdicts that it holds, and a place for new ones."""

    def __init__(self, path: Path, rows: Sequence[CompletionRow], tasks: Sequence[Task]) -> None:
        """Open a folder, made where it is missing, for these completions.

        Raises UsageError where it was begun with others, StoreError where it is in use or damaged.
        """
        if path.exists() and not path.is_dir():
            raise UsageError(f"--run {path}: this is a file; name a folder")
        inputs = _inputs(rows, tasks)
        self._folder = RunFolder(path, kind=_KIND)
        try:
            stored = self._folder.read(_INPUTS)
            if stored is None:
                self._folder.write(_INPUTS, json.dumps(inputs).encode())
            else:
                _check_same(_parse(stored, path / _INPUTS), inputs, rows, path)
            self.known = dict(
                _read_verdict(line, path, len(rows)) for line in self._folder.lines(_VERDICTS)
            )
            """Verdicts of earlier runs, by the number of their completion."""
        except BaseException:
            self._folder.close()
            raise

    def keep(self, index: int, verdict: Verdict) -> None:
        """Store one verdict. Raises StoreError."""
        if verdict.scored:
            line = json.dumps([index, verdict_record(verdict)]) + "\n"
            self._folder.append(_VERDICTS, line.encode("ascii"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.close()


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """All of a verdict as plain JSON values; a case that passed without more is 1."""
    cases = [
        1
        if case == PASSED_CASE
        else [case.passed, case.reason, case.score, case.output, case.skipped]
        for case in verdict.cases
    ]
    return {**verdict.to_json(), "cases": cases}


def verdict_of_record(record: Mapping[str, Any]) -> Verdict:
    """The verdict of `verdict_record`. Raises TypeError, ValueError, KeyError for other values."""
    return Verdict(
        Status(record["status"]),
        record["score"],
        str(record["reason"]),
        tuple(PASSED_CASE if case == 1 else CaseResult(*case) for case in record["cases"]),
        Usage(**record["usage"]),
        Seal(record["seal"]),
        str(record["isolation"]),
        record["details"],
    )


def _read_verdict(line: bytes, path: Path, count: int) -> tuple[int, Verdict]:
    try:
        index, record = json.loads(line)
        if type(index) is not int or not 0 <= index < count:
            raise ValueError(f"no completion {index!r}")
        return index, verdict_of_record(record)
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{path / _VERDICTS}: damaged ({error}); {_ANEW}") from None


def _parse(data: bytes, path: Path) -> dict[str, Any]:
    try:
        found: Any = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise StoreError(f"{path}: damaged; {_ANEW}")
    return cast("dict[str, Any]", found)


def _inputs(rows: Sequence[CompletionRow], tasks: Sequence[Task]) -> dict[str, Any]:
    """All that verdicts depend on: the program, the files of tasks, and each completion's text."""
    folders: dict[Path | None, str] = {}
    for task in tasks:
        if task.path not in folders:
            folders[task.path] = _folder_hash(task.path)
    return {
        "unhack": version("unhack"),
        "tasks": {task.id: folders[task.path] for task in tasks},
        "rows": [
            content_hash(task.id, row.completion)[:_DIGITS]
            for task, row in zip(tasks, rows, strict=True)
        ],
    }


def _folder_hash(path: Path | None) -> str:
    """The names and contents of a task's files."""
    parts: list[str | bytes] = []
    for file in sorted(path.rglob("*")) if path is not None else ():
        inner = file.relative_to(path) if path is not None else file
        if file.is_file() and not any(part[:1] in {".", "_"} for part in inner.parts):
            parts += [str(inner), file.read_bytes()]
    return content_hash(*parts)[:_DIGITS]


def _check_same(
    stored: Mapping[str, Any],
    inputs: Mapping[str, Any],
    rows: Sequence[CompletionRow],
    path: Path,
) -> None:
    """Raises UsageError that names the first thing that differs."""
    if stored == inputs:
        return
    before: list[str] = stored.get("rows", [])
    if len(before) != len(rows):
        change = f"it was begun with {len(before)} completions, and these are {len(rows)}"
    elif before != inputs["rows"]:
        place = next(
            row.place for row, a, b in zip(rows, before, inputs["rows"], strict=True) if a != b
        )
        change = f"the completion at {place} is another one than when it was begun"
    elif stored.get("tasks") != inputs["tasks"]:
        tasks: dict[str, str] = stored.get("tasks", {})
        name = next(name for name, value in inputs["tasks"].items() if tasks.get(name) != value)
        change = f"the files of task {name} have changed since it was begun"
    else:
        change = f"it was begun with unhack {stored.get('unhack')}, and this is {inputs['unhack']}"
    raise UsageError(f"--run {path}: {change}; {_ANEW}")
