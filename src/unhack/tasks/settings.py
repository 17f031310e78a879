"""What `task.toml` may say, and errors that name its line.

Covered: every key of every kind, unknown keys and values with the nearest valid name, wrong types,
limits that are not positive.
Not covered: the files beside it; `unhack.tasks.directory` reads those.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
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
from unhack.core.errors import TaskError, UnknownNameError
from unhack.sandbox.limits import Limits
from unhack.tasks.files import read_text
from unhack.verifiers.compare import Compare
from unhack.verifiers.script import Mode
from unhack.verifiers.stdio import StdioCompare

_FROZEN = ConfigDict(frozen=True, extra="forbid")

Positive = Annotated[StrictFloat, Field(gt=0)]
Tolerance = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[StrictInt, Field(gt=0)]
Name = Annotated[str, StringConstraints(min_length=1)]
TaskId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$")]


class TaskKind(StrEnum):
    """How a task is checked."""

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


class FunctionOptions(BaseModel):
    """`[verifier]` of kind `function`; the meanings are those of `FunctionVerifier`."""

    model_config = _FROZEN

    compare: Compare = Compare.EXACT
    rel_tol: Tolerance = 1e-9
    abs_tol: Tolerance = 1e-9
    partial_credit: StrictBool = False
    early_stop: StrictBool = False
    setup: str = ""
    scratch: StrictBool = False
    preload: tuple[Name, ...] = ()
    extraction: Extraction = Extraction.AUTO


class StdioOptions(BaseModel):
    """`[verifier]` of kind `stdio`; the meanings are those of `StdioVerifier`."""

    model_config = _FROZEN

    compare: StdioCompare = StdioCompare.TOKEN
    rel_tol: Tolerance = 1e-9
    abs_tol: Tolerance = 1e-9
    partial_credit: StrictBool = False
    language: Literal["python", "c", "cpp"] = "python"
    preload: tuple[Name, ...] = ()
    extraction: Extraction = Extraction.AUTO


class ScriptOptions(BaseModel):
    """`[verifier]` of kind `script`; the meanings are those of `ScriptVerifier`."""

    model_config = _FROZEN

    mode: Mode = Mode.SEALED
    solution: Name = "solution.py"
    """What the script imports, by module name."""
    cases: Name = "cases.jsonl"
    """The file of the task directory that `test_cases_path` names; it may be missing."""
    files: tuple[Name, ...] = ()
    """Further files of the task directory that the script imports or reads."""
    preload: tuple[Name, ...] = ()
    extraction: Extraction = Extraction.AUTO


class PytestOptions(BaseModel):
    """`[verifier]` of kind `pytest`; the meanings are those of `PytestVerifier`."""

    model_config = _FROZEN

    mode: Mode = Mode.SEALED
    solution_files: Annotated[tuple[Name, ...], Field(min_length=1)] = ("solution.py",)
    partial_credit: StrictBool = False
    extraction: Extraction = Extraction.AUTO


class LimitsTable(BaseModel):
    """`[limits]`; what is left out has the default of `unhack.Limits`."""

    model_config = _FROZEN

    wall_s: Positive | None = None
    cpu_s: Positive | None = None
    memory_bytes: Count | None = None
    processes: Count | None = None
    open_files: Count | None = None
    file_bytes: Count | None = None
    output_bytes: Count | None = None
    disk_bytes: Count | None = None
    soft_slice_s: Positive | None = None

    def limits(self) -> Limits:
        """The limits that it stands for."""
        return Limits(**self.model_dump(exclude_none=True))


class TaskSettings(BaseModel):
    """A whole `task.toml`; `options` is its `[verifier]` table, read for the kind."""

    model_config = _FROZEN

    id: TaskId
    kind: TaskKind
    entry_point: Annotated[str, StringConstraints(pattern=r"^[^\W\d]\w*$")] | None = None
    title: str = ""
    difficulty: Difficulty | None = None
    tags: tuple[Name, ...] = ()
    prompt: Name | None = None
    verifier: dict[str, Any] = Field(default_factory=dict[str, Any])
    limits: LimitsTable = LimitsTable()
