"""A task directory (see `docs/reference/task-format.md`) becomes `Task` objects.

Covered: all five kinds; every complaint is a TaskError that names file and line; nothing is run and
no process is started.
Not covered: whether the task is right (`unhack.tasks.validate`), and cases drawn anew
(`unhack.tasks.fresh`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from unhack.core.completion import Extraction
from unhack.core.errors import TaskError
from unhack.core.problem import Problem
from unhack.sandbox.limits import Limits
from unhack.tasks.reading import fault, read_text, read_text_if_there
from unhack.tasks.rows import RowError, TextRow, function_case, read_rows, stdio_case, text_row
from unhack.tasks.settings import (
    FunctionOptions,
    Options,
    PytestOptions,
    ScriptOptions,
    StdioOptions,
    TaskSettings,
    TextOptions,
    read_settings,
)
from unhack.tasks.task import Task
from unhack.verifiers.answers.final_answer import write_answer
from unhack.verifiers.base import Verifier
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.pytest import PytestVerifier
from unhack.verifiers.script import ScriptVerifier
from unhack.verifiers.stdio import StdioCase, StdioVerifier
from unhack.verifiers.text import AnswerCheck, TextVerifier

SCRIPT_CASES = ("cases.jsonl", "cases.json", "test_cases.json", "test_cases.jsonl", "tests.json")
"""File names of a script's cases, in this order, when `task.toml` does not say it."""
_SUFFIXES = {"python": ".py", "c": ".c", "cpp": ".cpp"}


@dataclass(frozen=True)
class TaskFolder:
    """A task directory; `task.toml` is read at once, the other files when they are asked for."""

    path: Path
    settings: TaskSettings
    options: Options

    @cached_property
    def limits(self) -> Limits:
        """The limits of one job."""
        text = isinstance(self.options, TextOptions)
        return self.settings.limits.over(TextVerifier.limits if text else Limits())

    @property
    def suffix(self) -> str:
        """The suffix of its solutions' names: `.md` where one completion provides several files."""
        if isinstance(self.options, PytestOptions) and len(self.options.solution_files) > 1:
            return ".md"
        if isinstance(self.options, StdioOptions):
            return _SUFFIXES[self.options.language]
        return ".py"

    @property
    def reference_path(self) -> Path:
        """The path of the known-correct solution, if there is one."""
        return self.path / f"reference{self.suffix}"

    @property
    def generator_path(self) -> Path:
        """The path of the generator, if there is one."""
        return self.path / "generator.py"

    @cached_property
    def reference(self) -> str | None:
        """The source of the known-correct solution."""
        return read_text_if_there(self.reference_path)

    @cached_property
    def checker(self) -> str | None:
        """The source of the custom check."""
        return read_text_if_there(self.path / "checker.py")

    def solutions(self, which: str) -> dict[str, str]:
        """The solutions in `right` or `wrong`: name such as `wrong/off_by_one.py` -> source."""
        paths = sorted((self.path / which).glob(f"*{self.suffix}"))
        return {f"{which}/{path.name}": read_text(path) for path in paths}

    def completion(self, source: str) -> str:
        """A completion from which the verifier takes exactly `source`."""
        how = getattr(self.options, "extraction", Extraction.RAW)
        if self.suffix == ".md" or how is Extraction.RAW:
            return source
        if how is Extraction.AUTO and "```" not in source and "~~~" not in source:
            return source
        longest = max(map(len, re.findall("`+", source)), default=0)
        fence = "`" * max(3, longest + 1)
        language = {".c": "c", ".cpp": "cpp"}.get(self.suffix, "python")
        return f"{fence}{language}\n{source}\n{fence}\n"


Rows = Sequence[Case] | Sequence[StdioCase] | Sequence[TextRow]
"""Cases of a function or stdio task, or the problems of a text task."""


def read_folder(path: Path) -> TaskFolder:
    """The task directory at `path`. Raises TaskError when its `task.toml` is wrong or missing."""
    if not path.is_dir():
        raise fault(path, "there is no such directory" if not path.exists() else "not a directory")
    settings, options = read_settings(path / "task.toml")
    return TaskFolder(path, settings, options)


def load_directory(path: Path) -> tuple[Task, ...]:
    """The tasks of a task directory: one, or for kind `text` one for each row.

    Raises TaskError, which names file and line.
    """
    return build(read_folder(path))


def build(folder: TaskFolder, drawn: Rows | None = None, *, mark: str = "") -> tuple[Task, ...]:
    """The tasks of a folder, with its own cases or, where given, the ones that were drawn.

    `mark` is put before the row's number in the ids of text tasks. Raises TaskError.
    """
    options = folder.options
    try:
        if isinstance(options, TextOptions):
            verifier = _text(folder, options)
        else:
            verifier = _verifier(folder, options, drawn)
    except ValueError as error:  # a verifier refuses its options
        raise fault(folder.path / "task.toml", str(error)) from None
    if isinstance(verifier, TextVerifier):
        return _text_tasks(folder, verifier, drawn, mark)
    return (_single(folder, verifier),)


def _verifier(folder: TaskFolder, options: Options, drawn: Any) -> Verifier:
    given: dict[str, Any] = {**dict(options), "limits": folder.limits}
    if isinstance(options, FunctionOptions):
        cases = tuple(drawn or read_rows(folder.path / "cases.jsonl", function_case))
        given |= {"entry_point": folder.settings.entry_point or "", "checker": folder.checker}
        return FunctionVerifier(cases=cases, **given)
    if isinstance(options, StdioOptions):
        cases = tuple(drawn or read_rows(folder.path / "cases.jsonl", stdio_case))
        return StdioVerifier(cases=cases, checker=folder.checker, **given)
    if isinstance(options, ScriptOptions):
        return ScriptVerifier(**(given | _script(folder, options)))
    assert isinstance(options, PytestOptions)
    return PytestVerifier(**given, **_test_files(folder))


def _single(folder: TaskFolder, verifier: Verifier) -> Task:
    """The only task of a folder."""
    reference = folder.reference
    problem = Problem(
        id=folder.settings.id,
        prompt=_prompt(folder),
        reference=None if reference is None else folder.completion(reference),
        meta=_meta(folder),
    )
    return Task(problem, verifier, folder.path)


def _prompt(folder: TaskFolder) -> str:
    path = folder.path / "prompt.md"
    text = read_text_if_there(path)
    if folder.settings.prompt is None:
        return read_text(path) if text is None else text
    if text is not None:
        raise fault(path, "task.toml has a `prompt` too; keep one of them")
    return folder.settings.prompt


def _meta(folder: TaskFolder) -> dict[str, Any]:
    settings = folder.settings
    difficulty = None if settings.difficulty is None else settings.difficulty.value
    return {"title": settings.title, "difficulty": difficulty, "tags": list(settings.tags)}


def _text(folder: TaskFolder, options: TextOptions) -> TextVerifier:
    try:
        return TextVerifier(limits=folder.limits, **dict(options))
    except TaskError as error:
        raise fault(folder.path / "task.toml", str(error)) from None


def _text_tasks(
    folder: TaskFolder, verifier: TextVerifier, drawn: Any, mark: str
) -> tuple[Task, ...]:
    """One task for each row; the policy reads the row's prompt."""

    def parse(line: Any) -> TextRow:
        row = text_row(line)
        try:
            verifier.require_answer(Problem("of this line", row.prompt, answer=row.answer))
        except TaskError as error:
            raise RowError(str(error)) from None
        return row

    found: Sequence[TextRow] = drawn or read_rows(folder.path / "cases.jsonl", parse)
    meta = _meta(folder)
    tasks: list[Task] = []
    for number, row in enumerate(found):
        name = folder.settings.id
        if len(found) > 1 or mark:
            name = f"{name}#{mark}{number}"
        reference = _recorded_answer(verifier, row)
        problem = Problem(name, row.prompt, reference, row.answer, meta)
        tasks.append(Task(problem, verifier, folder.path))
    return tuple(tasks)


def _recorded_answer(verifier: TextVerifier, row: TextRow) -> str | None:
    """The text that gives the row's answer; None where the answer is a pattern."""
    if verifier.check is AnswerCheck.REGEX:
        return None
    return f"{verifier.after}\n{write_answer(row.answer, verifier.answer_in[0])}"


def _script(folder: TaskFolder, options: ScriptOptions) -> dict[str, Any]:
    """The script, and the files that it reads."""
    for name in (options.cases, *options.files):
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise fault(folder.path / "task.toml", f"{name!r} lies outside the task directory")
    name = options.cases
    if "cases" in options.model_fields_set:
        text = read_text(folder.path / name)
    else:
        name = next((each for each in SCRIPT_CASES if (folder.path / each).is_file()), name)
        text = read_text_if_there(folder.path / name) or ""
    files = {each: read_text(folder.path / each) for each in options.files}
    script = read_text(folder.path / "verifier.py")
    return {"script": script, "cases": text, "cases_name": name, "files": files}


def _test_files(folder: TaskFolder) -> dict[str, Any]:
    """The test files, and the further files that they read."""
    tests: dict[str, str] = {}
    files: dict[str, str] = {}
    for path in sorted((folder.path / "tests").rglob("*")):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        place = tests if path.match("test_*.py") or path.match("*_test.py") else files
        if path.name == "conftest.py":
            place = tests
        place[path.relative_to(folder.path).as_posix()] = read_text(path)
    if not any(not name.endswith("conftest.py") for name in tests):
        raise fault(folder.path / "tests", "holds no file named test_*.py or *_test.py")
    return {"tests": tests, "files": files}
