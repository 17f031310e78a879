"""LeetCode-style rows: a prompt, setup code, the name to call, asserts, a known-good solution.

The asserts are a list of strings (`test`, `gt_answer`), or the body of `check(candidate)` as in
LeetCodeDataset, whose `prompt` is the code that stands before a completion.

`func_name` is a function, or a method written as `Solution().name`. Linked lists and binary trees
cross as plain lists: where an assert builds an argument with `list_node([...])` or
`tree_node([...])`, or compares with `is_same_list` or `is_same_tree`, the setup's own helpers build
the argument beside the completion, and the result is flattened there; the comparison stays in the
judge.

Covered: prompts as text or as a list of messages; asserts as cases, other tests as sealed scripts.
Not covered: tests that hand other objects to the completion; they need `Mode.AS_WRITTEN`.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from unhack.core.problem import Problem
from unhack.sandbox.limits import Limits
from unhack.tasks.loaders.asserts import NeedsScript
from unhack.tasks.loaders.check_code import (
    CALL,
    CheckCode,
    build_case_verifier,
    build_script_verifier,
    end_line,
)
from unhack.tasks.loaders.literals import NotLiteralError, evaluate
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.records import DataSetRow, read_records
from unhack.tasks.task import Task
from unhack.verifiers.base import Verifier
from unhack.verifiers.function import Case

OPTIONS = LoadOptions(limits=Limits(wall_s=10.0, cpu_s=10.0))
_BUILDERS = ("list_node", "tree_node")
_COMPARISONS = {"is_same_list": "list_node", "is_same_tree": "tree_node"}

_ADAPTER = """
def unhack_flat(value, shape):
    if shape == "list_node":
        items = []
        while value is not None and len(items) < 1000000:
            items.append(value.val)
            value = value.next
        return items
    if shape == "tree_node":
        items, row = [], [value]
        while any(node is not None for node in row) and len(items) < 1000000:
            items.extend(None if node is None else node.val for node in row)
            row = [part for node in row if node for part in (node.left, node.right)]
        while items and items[-1] is None:
            items.pop()
        return items
    return value


def {call}(shapes, named_shapes, result_shape, *args, **kwargs):
    for index, shape in shapes:
        args = (*args[:index], globals()[shape](args[index]), *args[index + 1:])
    for name, shape in named_shapes:
        kwargs[name] = globals()[shape](kwargs[name])
    return unhack_flat({entry}(*args, **kwargs), result_shape)
"""


def load(path: str | Path, *, options: LoadOptions = OPTIONS) -> tuple[Task, ...]:
    """The tasks of a file of LeetCode-style rows, in its order. Raises TaskError (file and
    line)."""
    return tuple(read_task(record, options) for record in read_records(path))


def read_task(record: DataSetRow, options: LoadOptions) -> Task:
    """The task of one row. Raises TaskError, which names file and line."""
    entry = record.text("func_name", "entry_point")
    if isinstance(record.first("test"), str):
        setup = end_line(record.text("prompt")) if "completion" in record.fields else ""
        code = CheckCode(entry, record.text("test"), setup=setup)
    else:
        asserts = tuple(record.texts("test", "gt_answer", "answer"))
        if not asserts:
            raise record.error("`test` is empty; a task without tests would pass everything")
        code = CheckCode(entry, asserts=asserts, setup=record.text_or("", "setup_code"))
    try:
        verifier = _verifier(code, options)
    except (SyntaxError, ValueError) as error:
        raise record.error(f"the tests cannot be used: {error}") from None
    number = record.first("id", "task_id", "question_id")
    name = f"leetcode/{record.line if number is None else number}"
    meta = {"entry_point": entry, "source": record.path.name}
    if record.first("difficulty") is not None:
        meta["difficulty"] = str(record.first("difficulty"))
    reference = record.first("canonical_solution", "completion")
    return Task(Problem(name, _prompt(record), reference=reference, meta=meta), verifier)


def _prompt(record: DataSetRow) -> str:
    if record.first("query", "problem_description") is None:
        return record.message_text("prompt", "question")
    starter = record.text_or("", "starter_code") if "query" not in record.fields else ""
    text = record.text("query", "problem_description")
    return f"{text.rstrip()}\n\nStart from this code:\n\n{starter}\n" if starter.strip() else text


def _verifier(code: CheckCode, options: LoadOptions) -> Verifier:
    compiled = code.compile()
    if not isinstance(compiled, NeedsScript):
        return build_case_verifier(code.entry, compiled, options=options, setup=code.setup)
    shaped = _shape_cases(code) if _has_builders(code.setup) else None
    if shaped is not None:
        adapter = end_line(code.setup) + _ADAPTER.format(call=CALL, entry=code.entry)
        return build_case_verifier(CALL, shaped, options=options, setup=adapter)
    return build_script_verifier(code, options)


def _has_builders(setup: str) -> bool:
    return any(
        isinstance(node, ast.FunctionDef) and node.name in _BUILDERS
        for node in ast.parse(setup).body
    )


def _shape_cases(code: CheckCode) -> tuple[Case, ...] | None:
    """Cases with lists and trees as plain lists; None when some assert is of another form."""
    body, call = code.statements()
    function = ast.dump(call)
    try:
        return tuple(_shape_case(node, function) for node in body)
    except NotLiteralError:
        return None


def _shape_case(node: ast.stmt, function: str) -> Case:
    match node:
        case ast.Assert(test=ast.Compare(left=call, ops=[ast.Eq()], comparators=[wanted])):
            result = ""
        case ast.Assert(
            test=ast.Call(func=ast.Name(id=name), args=[call, wanted], keywords=[])
        ) if name in _COMPARISONS:
            result = _COMPARISONS[name]
        case _:
            raise NotLiteralError("not an assert on lists or trees")
    if not (isinstance(call, ast.Call) and ast.dump(call.func) == function):
        raise NotLiteralError("not a call of the solution")
    args = list(map(_shape, call.args))
    kwargs = {word.arg or "": _shape(word.value) for word in call.keywords}
    if "" in kwargs:
        raise NotLiteralError("** in the call")
    shapes = [[index, shape] for index, (shape, _) in enumerate(args) if shape]
    named_shapes = [[name, shape] for name, (shape, _) in kwargs.items() if shape]
    shape, expected = _shape(wanted)
    if shape != result and (shape or expected is not None):
        raise NotLiteralError("compared with another shape")
    if result:
        expected = _trim(expected or [])  # a bare None is the empty list or tree
    values = {name: value for name, (_, value) in kwargs.items()}
    plain_args = [value for _, value in args]
    return Case((shapes, named_shapes, result, *plain_args), values, expected)


def _trim(values: list[Any]) -> list[Any]:
    """The nodes without the absent ones at the end."""
    while values and values[-1] is None:
        values = values[:-1]
    return values


def _shape(node: ast.expr) -> tuple[str, Any]:
    """(builder, plain list) of an argument; no builder for a constant."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _BUILDERS:
            return name, evaluate(inner, {})
        case _:
            return "", evaluate(node, {})
