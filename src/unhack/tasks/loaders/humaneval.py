"""HumanEval and EvalPlus rows, loaded from a file.

A completion may be a raw continuation of the prompt or a whole function in a fence: the program is
always the prompt, then the completion's code. A prompt is a complete module by itself (signature
and docstring), so a function that follows it simply takes its place, and helpers that the prompt
defines stay at hand.

Rows with `test` (HumanEval, `evalplus/humanevalplus`) bring their own `check(candidate)`. Rows with
`base_input` and `plus_input` (EvalPlus releases) bring inputs only: the canonical solution is run
on them in the sandbox, and outputs are compared as EvalPlus does.

Covered: `.jsonl`, `.json`, `.gz`; both programs above; asserts as cases, other tests as sealed
scripts.
Not covered: `from __future__` imports in a completion, which would have to come first.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from unhack.core import plain
from unhack.core.problem import Problem
from unhack.sandbox.job import Backend, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import shared_pool
from unhack.tasks.fresh import call_all
from unhack.tasks.loaders import leetcode, mbpp
from unhack.tasks.loaders.check_code import CheckCode, build_case_verifier, build_verifier, end_line
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.predicates import AllClose, PolynomialZero
from unhack.tasks.loaders.records import DataSetRow, read_records
from unhack.tasks.task import Task
from unhack.verifiers.base import Verifier
from unhack.verifiers.function import Case

OPTIONS = LoadOptions(limits=Limits(wall_s=3.0, cpu_s=3.0))
"""Three seconds, as in the published harness."""
_REFERENCE_LIMITS = Limits(wall_s=60.0, cpu_s=60.0, memory_bytes=4 << 30)
_THERE = """
_unhack_solution = {entry}
def {entry}(*args):
    found = _unhack_solution(*args)
    return found if isinstance(found, bool) else found is not None
"""
_MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Raised by conversions and comparisons on values that the task of this number never has."""
_ZERO_TASK = "find_zero"
"""Any zero of the polynomial is right, so there is no expected value."""


def load(
    path: str | Path,
    *,
    options: LoadOptions = OPTIONS,
    base_only: bool = False,
    backend: Backend | None = None,
) -> tuple[Task, ...]:
    """The tasks of a HumanEval or EvalPlus file, in its order.

    `base_only` leaves the extra inputs of an EvalPlus release out. `backend` runs its canonical
    solutions (default: the shared pool). Raises TaskError, which names file and line.
    """
    return tuple(
        read_task(record, options, base_only=base_only, backend=backend)
        for record in read_records(path)
    )


def read_task(
    record: DataSetRow,
    options: LoadOptions,
    *,
    base_only: bool = False,
    backend: Backend | None = None,
) -> Task:
    """The task of one row. Raises TaskError, which names file and line."""
    prompt, entry = record.text("prompt"), record.text("entry_point")
    if not entry.isidentifier():  # LeetCodeDataset, with lists and trees
        return leetcode.read_task(record, options)
    setup = prefix(record, prompt)
    if "base_input" in record.fields:
        cases = _expected_outputs(record, base_only, backend)
        verifier: Verifier = build_case_verifier(entry, cases, options=options, setup=setup)
    else:
        verifier = _from_test(record, CheckCode(entry, record.text("test"), setup=setup), options)
    meta = {"entry_point": entry, "source": record.path.name}
    reference = record.first("canonical_solution")
    problem = Problem(record.text("task_id"), prompt, reference=reference, meta=meta)
    return Task(problem, verifier)


def _from_test(record: DataSetRow, code: CheckCode, options: LoadOptions) -> Verifier:
    try:
        return build_verifier(code, options)
    except (SyntaxError, ValueError) as error:
        raise record.error(f"`test` cannot be used: {error}") from None


def prefix(record: DataSetRow, prompt: str) -> str:
    """The text before a completion, so that a continuation and a whole function both work.

    A prompt that ends with the bare signature gets a `pass`, which either of them may follow.
    """
    prompt = end_line(prompt)
    for text in (prompt, prompt + "    pass\n"):
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        return text
    raise record.error("`prompt` is neither Python nor Python up to the body of a function")


def _expected_outputs(
    record: DataSetRow, base_only: bool, backend: Backend | None
) -> tuple[Case, ...]:
    """The cases of a row that holds inputs only: its canonical solution runs in the sandbox."""
    inputs = _inputs(record, base_only)
    code, entry = record.text("canonical_solution"), record.text("entry_point")
    if _is_mbpp(record) and entry in mbpp.ONLY_THERE:
        code = end_line(code) + _THERE.format(entry=entry)
    answers = call_all(
        prefix(record, record.text("prompt")) + code,
        entry,
        calls=[(args, {}) for args in inputs],
        limits=_REFERENCE_LIMITS,
        profile=Profile(role=Role.JUDGE),
        backend=backend or shared_pool(),
    )
    cases: list[Case] = []
    for number, (args, answer) in enumerate(zip(inputs, answers, strict=True)):
        if isinstance(answer, str) or answer.raised is not None:
            shown = answer if isinstance(answer, str) else answer.to_text()
            raise record.error(f"the canonical solution fails on input {number}: {shown}")
        cases.append(_case(record, args, plain.to_builtins(answer.value)))
    return tuple(cases)


def _inputs(record: DataSetRow, base_only: bool) -> list[list[Any]]:
    inputs = record.items("base_input")
    if not base_only and record.first("plus_input"):
        inputs = inputs + record.items("plus_input")
    if not all(isinstance(args, list) for args in inputs) or not inputs:
        raise record.error("`base_input` must be a list of argument lists")
    if not _is_mbpp(record):
        return inputs
    try:
        return mbpp.converted(record.text("task_id"), inputs)
    except _MISFITS as error:
        raise record.error(f"`base_input` or `plus_input` does not fit MBPP+: {error}") from None


def _is_mbpp(record: DataSetRow) -> bool:
    return record.text("task_id").startswith("Mbpp/")


def _case(record: DataSetRow, args: list[Any], expected: Any) -> Case:
    abs_tol = float(record.first("atol") or 0.0)
    entry = record.text("entry_point")
    if _is_mbpp(record):
        try:
            accepts: Any = mbpp.accepts(entry, args, expected, abs_tol)
        except _MISFITS as error:
            raise record.error(f"cannot be compared as EvalPlus does: {error}") from None
    elif entry == _ZERO_TASK:
        accepts = PolynomialZero(tuple(args[0]), abs_tol or 1e-4)
    else:
        accepts = AllClose(expected, abs_tol)
    return Case(tuple(args), expected=expected, accepts=accepts)
