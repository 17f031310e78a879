"""The rows of the data folder and the prompts that are made of them.

A folder holds one file of training rows (`*train*.jsonl`) and one of held-out rows
(`*test*.jsonl`), each also as `.gz`; further files are not looked at. `base_pass.json`, where it is
there, says which held-out problems the base model solves (`{"id": true}`), and the evaluation sets
are balanced by it.

Row: `id`, `prompt` (messages with `role` and `content`), `func_name` (`Solution().name`),
`setup_code`, `gt_answer` or `answer` (assert statements), `canonical_solution`,
`prompt_metadata.starter_code`; the rest is not read.

Covered: errors name file and line. The clause that hints replace must stand exactly once in the
user messages of every row. Not covered: rows are trusted, as the user's own files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from unhack.core.completion import Extraction
from unhack.core.errors import TaskError, UsageError
from unhack.core.hashing import content_hash
from unhack.tasks.loaders import leetcode as loader
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.records import DataSetRow, read_records
from unhack.tasks.task import Task
from unhack.training.worlds.leetcode.probe import LIMITS, LeetcodeVerifier
from unhack.verifiers.function import FunctionVerifier

CLAUSE = "and should pass all tests"
"""The clause of a user message that a hint replaces."""
_JUDGED = ("func_name", "entry_point", "setup_code", "test", "gt_answer", "answer")
_OPTIONS = LoadOptions(limits=LIMITS, extraction=Extraction.JOINED)


@dataclass(frozen=True)
class LeetcodeRow:
    """One problem."""

    id: str
    messages: tuple[tuple[str, str], ...]
    """(role, content) in the original wording."""
    entry: str
    solution: str
    """A right program; empty where the row has none."""
    starter: str
    task: Task
    fingerprint: str
    """Changes with the tests, the setup or the entry point."""
    base_pass: bool | None = None
    """True where the base model solves it; None where that is not known."""

    def render(self, clause: str) -> list[dict[str, str]]:
        """The messages with another clause; an empty one keeps the original."""
        if not clause:
            return [{"role": role, "content": content} for role, content in self.messages]
        return [
            {
                "role": role,
                "content": content.replace(CLAUSE, clause) if role == "user" else content,
            }
            for role, content in self.messages
        ]


def read_folder(folder: Path) -> tuple[list[LeetcodeRow], list[LeetcodeRow]]:
    """(training rows, held-out rows). Raises UsageError, TaskError."""
    if not folder.is_dir():
        raise UsageError(
            f"world.path: {str(folder)!r} is not a folder; give the one that holds the "
            "*train*.jsonl and *test*.jsonl of a LeetCode-style data set"
        )
    base = _base(folder / "base_pass.json")
    train, test = (_rows(_only(folder, kind), base) for kind in ("train", "test"))
    both = {row.id for row in train} & {row.id for row in test}
    if both:
        raise UsageError(f"{folder}: problem {min(both)} is among the training and the test rows")
    return train, test


def _only(folder: Path, kind: str) -> Path:
    found = sorted(
        path
        for path in folder.iterdir()
        if kind in path.name and "holdout" not in path.name
        and path.name.removesuffix(".gz").endswith(".jsonl")
    )  # fmt: skip
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise UsageError(f"{folder}: it must hold one *{kind}*.jsonl, and holds {names}")
    return found[0]


def _base(path: Path) -> Mapping[str, bool]:
    if not path.exists():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TaskError(f"{path}: not JSON: {error}") from None
    if type(value) is not dict:
        raise TaskError(f"{path}: must be an object of ids and booleans")
    return {str(key): bool(one) for key, one in cast("dict[Any, Any]", value).items()}


def _rows(path: Path, base: Mapping[str, bool]) -> list[LeetcodeRow]:
    tasks = loader.load(path, options=_OPTIONS)
    records = list(read_records(path))
    return [_row(one, task, base) for one, task in zip(records, tasks, strict=True)]


def _row(record: DataSetRow, task: Task, base: Mapping[str, bool]) -> LeetcodeRow:
    messages = tuple(
        (str(item.get("role")), str(item.get("content")))
        for item in cast("list[dict[str, Any]]", record.items("prompt"))
    )
    times = sum(content.count(CLAUSE) for role, content in messages if role == "user")
    if times != 1:
        raise record.error(
            f"the clause {CLAUSE!r} stands {times} times in the user messages, and must stand once"
        )
    number = str(record.first("id", "task_id", "question_id"))
    entry = record.text("func_name", "entry_point")
    starter = cast("dict[str, Any]", record.first("prompt_metadata") or {}).get("starter_code")
    oracle = task.verifier
    if isinstance(oracle, FunctionVerifier):
        # A right program that also writes a file is right: the mode `file_marker` is about files.
        oracle = replace(oracle, scratch=True)
    return LeetcodeRow(
        id=number,
        messages=messages,
        entry=entry,
        solution=str(record.first("canonical_solution") or ""),
        starter=str(starter or ""),
        task=Task(task.problem, LeetcodeVerifier(oracle, entry)),
        fingerprint=content_hash(*(json.dumps(record.fields.get(name)) for name in _JUDGED)),
        base_pass=base.get(number),
    )
