"""A user's own ground truth, in a file: `is_wrong(prompt, completion, answer) -> bool | None`.

With a fourth parameter it is given the whole row, which holds what a constraint is about. The file
may define `right(row) -> str` too, a reference solver: its completions stand in for those that rows
do not have.

It runs in a judge's worker: the completion that it reads is hostile, and the auditor trusts nothing
that has touched it beyond this answer.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unhack.audit.attack import Payload
from unhack.audit.subject import AuditProblem
from unhack.core import plain
from unhack.core.errors import UsageError
from unhack.core.finding import Evidence
from unhack.sandbox.job import Backend, Profile, Role, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import shared_pool
from unhack.tasks.fresh import call_all
from unhack.verifiers import jobs

_LIMITS = Limits(wall_s=20.0, cpu_s=20.0)
_CALL = """
import inspect as _inspect

def check(*given):
    code = _inspect.unwrap(is_wrong).__code__
    taken = given if code.co_flags & _inspect.CO_VARARGS else given[: code.co_argcount]
    return {True: 1.0, False: 0.0, None: 0.5}[is_wrong(*taken)]
"""
_SOLVER = "right"


@dataclass(frozen=True)
class OwnOracle:
    """An oracle that asks the user's file."""

    path: Path
    backend: Backend | None = None

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        """See `unhack.audit.oracle.oracle.Oracle`. Raises UsageError when the file cannot judge."""
        source = _source_of(self.path)
        given = (problem.prompt, payload.text, problem.answer, _row(problem))
        values = [plain.encode_tags(value) for value in given]
        fields = {"source": source + _CALL, "items": [[0, values]]}
        job = jobs.judge("check", fields, limits=_LIMITS)
        outcome = run_one(self.backend or shared_pool(), job)
        lines = jobs.result_lines(outcome.result)
        if not lines or lines[0][0] is None:
            said = ", ".join(map(str, lines[0][1:])) if lines else outcome.ending.value
            raise UsageError(f"{self.path}: is_wrong gave no valid reply: {said}")
        if lines[0][2] != 1.0:
            return None
        return Evidence("oracle", f"{self.path.name} says that it is wrong", expected="")


def with_solver(
    problems: Sequence[AuditProblem], path: Path | None, backend: Backend | None = None
) -> tuple[AuditProblem, ...]:
    """The problems, with the completions of the oracle's `right(row)` where a row has none; as they
    are where it defines no such function. Raises UsageError for one that gives no text."""
    missing = [one for one in problems if not one.correct]
    source = "" if path is None or not missing else _source_of(path)
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise UsageError(f"{path}: it is no Python: {error}") from None
    if not any(isinstance(node, ast.FunctionDef) and node.name == _SOLVER for node in body):
        return tuple(problems)
    given = call_all(
        source, _SOLVER, calls=[((_row(one),), {}) for one in missing], limits=_LIMITS,
        profile=Profile(role=Role.JUDGE, site_packages=True), backend=backend or shared_pool(),
    )  # fmt: skip
    solved: dict[str, str] = {}
    for one, answer in zip(missing, given, strict=True):
        why = answer if isinstance(answer, str) else answer.raised and answer.to_text()
        value = None if isinstance(answer, str) else plain.to_builtins(answer.value)
        if why or not isinstance(value, str):
            raise UsageError(
                f"{path}: {_SOLVER} gave no text for problem {one.id}: {why or value!r}"
            )
        solved[one.id] = value
    return tuple(
        replace(one, correct=(solved[one.id],)) if one.id in solved else one for one in problems
    )


def _source_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None


def _row(problem: AuditProblem) -> dict[str, Any]:
    """The row of a problem, as its file has it."""
    read = {"prompt": problem.prompt, "answer": problem.answer, "entry_point": problem.entry_point}
    return {**{name: value for name, value in read.items() if value is not None}, **problem.extra}
