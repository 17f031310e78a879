"""The settings of `task.toml`, and errors that name its line.

Covered: every key of every kind, unknown keys and values with the nearest valid name, wrong types,
limits that are not positive.
Not covered: the files beside it; `unhack.tasks.directory` reads those.
"""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    ValidationError,
)
from pydantic_core import ErrorDetails

from unhack.core.completion import Extraction
from unhack.core.errors import TaskError
from unhack.sandbox.limits import Limits
from unhack.tasks.reading import describe_unknown, fault, read_text
from unhack.verifiers.answers.final_answer import Marker
from unhack.verifiers.answers.numerals import Percent
from unhack.verifiers.script import Mode
from unhack.verifiers.stdio import StdioCompare
from unhack.verifiers.text import AnswerCheck, Several
from unhack.verifiers.values.compare import Compare

Positive = Annotated[StrictFloat, Field(gt=0, allow_inf_nan=False)]
Tolerance = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[StrictInt, Field(gt=0)]
Name = Annotated[str, StringConstraints(min_length=1)]
TaskId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$")]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskKind(StrEnum):
    """The way a task is checked."""

    FUNCTION = "function"
    STDIO = "stdio"
    TEXT = "text"
    SCRIPT = "script"
    PYTEST = "pytest"


class Difficulty(StrEnum):
    """A rough grade, for people and for filters."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class FunctionOptions(_Table):
    """`[verifier]` of kind `function`; the meanings are those of `FunctionVerifier`."""

    compare: Compare = Compare.EXACT
    rel_tol: Tolerance = 1e-9
    abs_tol: Tolerance = 1e-9
    partial_credit: StrictBool = False
    early_stop: StrictBool = False
    setup: str = ""
    scratch: StrictBool = False
    preload: tuple[Name, ...] = ()
    extraction: Extraction = Extraction.AUTO


class StdioOptions(_Table):
    """`[verifier]` of kind `stdio`; the meanings are those of `StdioVerifier`."""

    compare: StdioCompare = StdioCompare.TOKEN
    rel_tol: Tolerance = 1e-9
    abs_tol: Tolerance = 1e-9
    ignore_case: StrictBool = False
    partial_credit: StrictBool = False
    language: Literal["python", "c", "cpp"] = "python"
    preload: tuple[Name, ...] = ()
    extraction: Extraction = Extraction.AUTO


class TextOptions(_Table):
    """`[verifier]` of kind `text`; the meanings are those of `TextVerifier`."""

    check: AnswerCheck
    answer_in: Annotated[tuple[Marker, ...], Field(min_length=1)] = (Marker.BOXED, Marker.HASHES)
    else_in: tuple[Marker, ...] = ()
    several: Several = Several.AGREE
    after: str = ""
    reasoning: StrictBool = False
    choices: Annotated[tuple[Name, ...], Field(min_length=1)] = tuple("ABCDEFGHIJ")
    ignore_case: StrictBool = False
    units: tuple[Name, ...] = ()
    any_unit: StrictBool = False
    percent: Percent = Percent.FRACTION
    rel_tol: Tolerance = 0.0
    abs_tol: Tolerance = 0.0
    evaluated: StrictBool = True


class ScriptOptions(_Table):
    """`[verifier]` of kind `script`; the meanings are those of `ScriptVerifier`."""

    mode: Mode = Mode.SEALED
    solution: Name = "solution.py"
    """The modules that the script imports, by name."""
    cases: Name = "cases.jsonl"
    """The file of the task directory that `test_cases_path` names; it may be missing."""
    files: tuple[Name, ...] = ()
    """Further files of the task directory that the script imports or reads."""
    objects: tuple[str, ...] = ()
    preload: tuple[Name, ...] = ()
    extraction: Extraction = Extraction.AUTO


class PytestOptions(_Table):
    """`[verifier]` of kind `pytest`; the meanings are those of `PytestVerifier`."""

    mode: Mode = Mode.SEALED
    solution_files: Annotated[tuple[Name, ...], Field(min_length=1)] = ("solution.py",)
    objects: tuple[str, ...] = ()
    partial_credit: StrictBool = False
    extraction: Extraction = Extraction.AUTO


class LimitsTable(_Table):
    """`[limits]`; what is left out has the default of the kind's verifier."""

    wall_s: Positive | None = None
    wall_hard_s: Positive | None = None
    cpu_s: Positive | None = None
    memory_bytes: Count | None = None
    processes: Count | None = None
    open_files: Count | None = None
    file_bytes: Count | None = None
    output_bytes: Count | None = None
    disk_bytes: Count | None = None
    soft_slice_s: Positive | None = None

    def over(self, defaults: Limits) -> Limits:
        """`defaults` with what the table says in their place."""
        return defaults.with_(**self.model_dump(exclude_none=True))


class TaskSettings(_Table):
    """A whole `task.toml`; `options` is its `[verifier]` table, read for the kind."""

    id: TaskId
    """The directory's name where the file has none."""
    kind: TaskKind
    entry_point: Annotated[str, StringConstraints(pattern=r"^[^\W\d]\w*$")] | None = None
    title: str = ""
    difficulty: Difficulty | None = None
    tags: tuple[Name, ...] = ()
    prompt: Name | None = None
    verifier: dict[str, Any] = Field(default_factory=dict[str, Any])
    limits: LimitsTable = LimitsTable()


Options = FunctionOptions | StdioOptions | TextOptions | ScriptOptions | PytestOptions
OPTIONS: dict[TaskKind, type[Options]] = {
    TaskKind.FUNCTION: FunctionOptions,
    TaskKind.STDIO: StdioOptions,
    TaskKind.TEXT: TextOptions,
    TaskKind.SCRIPT: ScriptOptions,
    TaskKind.PYTEST: PytestOptions,
}


def read_settings(path: Path) -> tuple[TaskSettings, Options]:
    """Read a `task.toml`. Raises TaskError with one line for each thing that is wrong."""
    text = read_text(path)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _toml_fault(path, text, str(error)) from None
    try:
        settings = TaskSettings.model_validate({"id": path.absolute().parent.name, **data})
    except ValidationError as error:
        raise _model_fault(path, text, TaskSettings, error, ()) from None
    model = OPTIONS[settings.kind]
    try:
        options = model.model_validate(settings.verifier)
    except ValidationError as error:
        raise _model_fault(path, text, model, error, ("verifier",)) from None
    _check_fit(path, text, settings, options)
    return settings, options


def _check_fit(path: Path, text: str, settings: TaskSettings, options: Options) -> None:
    """Refuse keys that are right by themselves but not together."""
    if settings.kind is TaskKind.FUNCTION and settings.entry_point is None:
        raise fault(path, 'kind = "function" needs `entry_point`, the name that is called')
    if settings.kind is not TaskKind.FUNCTION and settings.entry_point is not None:
        line = _line_of(text, ("entry_point",))
        raise fault(path, f'`entry_point` has no meaning for kind = "{settings.kind}"', line=line)
    if isinstance(options, (FunctionOptions, StdioOptions)) and options.compare not in {
        "float",
        "lines",
    }:
        lines = ' or "lines"' if isinstance(options, StdioOptions) else ""
        needs = f'compare = "float"{lines}'
        for key in ("rel_tol", "abs_tol"):
            if key in options.model_fields_set:
                line = _line_of(text, ("verifier", key))
                raise fault(path, f"`{key}` needs {needs}", line=line)
    if isinstance(options, StdioOptions) and options.ignore_case and options.compare == "exact":
        line = _line_of(text, ("verifier", "ignore_case"))
        raise fault(path, '`ignore_case` has no meaning with compare = "exact"', line=line)


def _toml_fault(path: Path, text: str, message: str) -> TaskError:
    match = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
    if match is None:
        return fault(path, message)
    line = int(match[1]) if match[1] else text.count("\n") + 1
    return fault(path, f"not TOML: {message[: match.start()]}", line=line)


def _model_fault(
    path: Path,
    text: str,
    model: type[BaseModel],
    error: ValidationError,
    above: tuple[str, ...],
) -> TaskError:
    complaints: list[str] = []
    for item in error.errors():
        names = tuple(str(part) for part in (*above, *item["loc"]) if isinstance(part, str))
        message = _complaint(item, names, _model_at(model, names[len(above) : -1]))
        complaints.append(str(fault(path, message, line=_line_of(text, names))))
    return TaskError("\n".join(complaints))


def _model_at(model: type[BaseModel], names: tuple[str, ...]) -> type[BaseModel]:
    """The model of a table inside `model`."""
    for name in names:
        inner = model.model_fields[name].annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            model = inner
    return model


def _complaint(item: ErrorDetails, names: tuple[str, ...], model: type[BaseModel]) -> str:
    table = f" in [{'.'.join(names[:-1])}]" if names[:-1] else ""
    if item["type"] == "extra_forbidden":
        return describe_unknown(f"key{table}", names[-1], valid=model.model_fields)
    if item["type"] == "missing":
        return f"the key `{names[-1]}`{table} is missing"
    choices = _choices(item)
    if choices and isinstance(item["input"], str):
        return describe_unknown(names[-1], item["input"], valid=choices)
    if names[-1] == "id" and item["type"] == "string_pattern_mismatch":
        return (
            f"id {item['input']!r} may hold letters, digits, '-', '_', '.', and '/' between parts"
        )
    if names[-1] == "entry_point" and item["type"] == "string_pattern_mismatch":
        return f"entry_point {item['input']!r} is not a Python name"
    message = item["msg"].removeprefix("Input ")
    return f"`{names[-1]}`{table} {message}, not {item['input']!r:.80}"


def _choices(item: ErrorDetails) -> list[str]:
    """The valid values, where only some are."""
    if item["type"] not in {"enum", "literal_error"}:
        return []
    expected = cast("str", item.get("ctx", {}).get("expected", ""))
    return re.findall(r"'([^']*)'", expected)


_HEADER = re.compile(r"^\s*\[\s*([A-Za-z0-9_.-]+)\s*\]")
_QUOTES = ('"""', "'''")


def _line_of(text: str, names: tuple[str, ...]) -> int | None:
    """The line, from 1, of a key (`("verifier", "compare")`); else of its table; else None."""
    table = ""
    table_line: int | None = None
    inside = ""
    wanted = ".".join(names[:-1])
    key = re.compile(rf"^\s*[\"']?{re.escape(names[-1])}[\"']?\s*=") if names else None
    for number, line in enumerate(text.split("\n"), start=1):
        if not inside:
            header = _HEADER.match(line)
            if header:
                table = header[1]
                table_line = number if table in (wanted, ".".join(names)) else table_line
            elif key is not None and table == wanted and key.match(line):
                return number
        for quote in _QUOTES:
            if inside in ("", quote) and line.count(quote) % 2:
                inside = "" if inside else quote
    return table_line or (_line_of(text, names[:-1]) if len(names) > 1 else None)
