"""Tasks that come with a request, as values: no file, no code of the client outside the sandbox.

Covered: cases of functions (values as in `cases.jsonl`, tags included) and of programs, answers of
texts; what does not fit is refused with the field's name.
Not covered: checkers, scripts and pytest suites; put those into a folder for `serve --tasks`.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from unhack.core import plain
from unhack.core.errors import UnhackError
from unhack.core.problem import Problem
from unhack.sandbox.limits import Limits
from unhack.server.http.problems import invalid
from unhack.server.http.request_model import RequestModel
from unhack.tasks.rows import RowError, function_case, stdio_case
from unhack.tasks.task import Task
from unhack.verifiers.base import Verifier
from unhack.verifiers.function import FunctionVerifier
from unhack.verifiers.stdio import StdioCompare, StdioVerifier
from unhack.verifiers.text import TextVerifier
from unhack.verifiers.values.compare import Compare

_Seconds = Annotated[float, Field(gt=0, le=60)]
_Tolerance = Annotated[float, Field(ge=0, le=1e9)]
_Cases = Annotated[list[dict[str, Any]], Field(min_length=1, max_length=10_000, fail_fast=True)]


class _RunTask(RequestModel):
    """The options that tasks that run code have in common."""

    wall_s: _Seconds = 10.0
    wall_hard_s: _Seconds | None = None
    """Seconds of real time, waits for a core included; without it those do not count."""

    def options(self, compare: type[Compare] | type[StdioCompare]) -> dict[str, Any]:
        """The options of a verifier but its cases, by their names there."""
        found = self.model_dump(exclude={"kind", "cases", "wall_s", "wall_hard_s"})
        hard = math.inf if self.wall_hard_s is None else self.wall_hard_s
        limits = Limits(wall_s=self.wall_s, cpu_s=self.wall_s, wall_hard_s=hard)
        return {**found, "compare": compare(found["compare"]), "limits": limits}


class InlineFunction(_RunTask):
    """A function that is called on cases."""

    kind: Literal["function"]
    entry_point: Annotated[str, StringConstraints(pattern=r"^[^\W\d]\w*$", max_length=200)]
    cases: _Cases
    """Objects with `args`, `kwargs`, and `expected` or `raises`."""
    compare: Literal["exact", "equal", "float", "unordered"] = "exact"
    rel_tol: _Tolerance = 1e-9
    abs_tol: _Tolerance = 1e-9
    partial_credit: bool = False


class InlineProgram(_RunTask):
    """A program that reads stdin and writes stdout."""

    kind: Literal["stdio"]
    cases: _Cases
    """Objects with `stdin` and `stdout`."""
    compare: Literal["token", "exact", "float", "lines"] = "token"
    rel_tol: _Tolerance = 1e-9
    abs_tol: _Tolerance = 1e-9
    ignore_case: bool = False
    language: Literal["python", "c", "cpp"] = "python"
    partial_credit: bool = False


class InlineText(RequestModel):
    """A text with a final answer."""

    kind: Literal["text"]
    answer: Annotated[str, Field(min_length=1, max_length=10_000)]
    check: Literal["exact", "numeric", "choice", "math"]
    rel_tol: _Tolerance = 0.0
    abs_tol: _Tolerance = 0.0
    ignore_case: bool = False


InlineTask = Annotated[InlineFunction | InlineProgram | InlineText, Field(discriminator="kind")]


def build_inline(task: InlineFunction | InlineProgram | InlineText, name: str) -> Task:
    """The task, with `name` as its id. Raises RequestRefused (422) that names the field."""
    field = "task"
    answer: str | None = None
    try:
        if isinstance(task, InlineText):
            answer = task.answer
            verifier: Verifier = TextVerifier(**task.model_dump(exclude={"kind", "answer"}))
            verifier.require_answer(Problem("of this request", "", answer=answer))
        elif isinstance(task, InlineFunction):
            cases = tuple(_rows(task.cases, function_case))
            verifier = FunctionVerifier(cases=cases, **task.options(Compare))
        else:
            cases = tuple(_rows(task.cases, stdio_case))
            verifier = StdioVerifier(cases=cases, **task.options(StdioCompare))
    except (ValueError, UnhackError) as error:
        raise invalid(field, str(error)) from None
    return Task(Problem(name, "", answer=answer), verifier)


def _rows(cases: list[dict[str, Any]], parse: Any) -> list[Any]:
    found: list[Any] = []
    for number, case in enumerate(cases):
        try:
            found.append(parse(plain.decode_tags(case)))
        except (RowError, plain.PlainDataError, RecursionError) as error:
            raise ValueError(f"cases.{number}: {error or 'nested too deeply'}") from None
    return found
