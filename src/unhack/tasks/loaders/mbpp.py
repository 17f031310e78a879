"""MBPP rows, loaded from a file: `mbpp.jsonl`, `sanitized-mbpp.json`, `evalplus/mbppplus`.

The name to define stands only in the asserts, so the prompt shows the first of them; the others are
hidden. The function under test is the one that the row's own solution defines and the asserts call.

Covered: asserts as cases, other tests (EvalPlus's loops) as sealed scripts.
Not covered: tests that build objects of the completion's classes; they need `Mode.AS_WRITTEN`.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from unhack.core.problem import Problem
from unhack.sandbox.limits import Limits
from unhack.tasks.loaders.check_code import CheckCode, build_verifier, needs_names
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.records import DataSetRow, read_records
from unhack.tasks.task import Task

OPTIONS = LoadOptions(limits=Limits(wall_s=3.0, cpu_s=3.0))


def load(
    path: str | Path, *, options: LoadOptions = OPTIONS, shown_asserts: int = 1
) -> tuple[Task, ...]:
    """The tasks of an MBPP file, in its order.

    The prompt is the row's text and its first `shown_asserts` asserts; the published prompt shows
    all of them, which lets a policy write the answers down. Raises TaskError, which names file and
    line.
    """
    return tuple(
        read_task(record, options, shown_asserts=shown_asserts) for record in read_records(path)
    )


def read_task(record: DataSetRow, options: LoadOptions, *, shown_asserts: int = 1) -> Task:
    """The task of one row. Raises TaskError, which names file and line."""
    text = record.text("text", "prompt")
    source = record.text("code")
    asserts = record.texts("test_list")
    entry = _entry_point(record, source, asserts)
    setup = record.text_or("", "test_setup_code")
    if record.first("test_imports"):
        setup = "\n".join([*record.texts("test_imports"), setup])
    test = record.text_or("", "test")
    tests = asserts
    if record.first("challenge_test_list"):
        tests = asserts + record.texts("challenge_test_list")
    try:
        if test:
            code = _wrap_statements(test, entry, setup)
        elif needs_names(setup):  # objects of the completion's own classes
            code = CheckCode(entry, asserts=(setup, *tests))
        else:
            code = CheckCode(entry, asserts=tuple(tests), setup=setup)
        verifier = build_verifier(code, options)
    except (SyntaxError, ValueError) as error:
        raise record.error(f"the tests cannot be used: {error}") from None
    shown = "".join(f"\n{line}" for line in asserts[:shown_asserts])
    prompt = f"{text.strip()}\n\nYour code must pass tests such as:\n{shown}\n" if shown else text
    task_id = str(record.first("task_id"))
    name = task_id if "/" in task_id else f"mbpp/{task_id}"
    meta = {"entry_point": entry, "source": record.path.name}
    return Task(Problem(name, prompt, reference=source, meta=meta), verifier)


def _wrap_statements(test: str, entry: str, setup: str) -> CheckCode:
    """Test code whose statements stand at the top level, as `check(candidate)`."""
    tree = ast.parse(test)
    if any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body):
        return CheckCode(entry, test, setup=setup)
    inside = (ast.For, ast.Assert, ast.Expr, ast.With, ast.If, ast.While)
    body: list[ast.stmt] = [node for node in tree.body if isinstance(node, inside)]
    head = [node for node in tree.body if not isinstance(node, inside)]
    check = ast.parse("def check(candidate):\n    pass\n").body[0]
    assert isinstance(check, ast.FunctionDef)
    check.body = body or check.body
    source = ast.unparse(ast.Module([*head, check], []))
    return CheckCode(entry, source, setup=setup)


def _entry_point(record: DataSetRow, source: str, asserts: list[str]) -> str:
    """The function that the solution defines and the asserts call."""
    try:
        defined = {
            node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)
        }
        calls = list(ast.walk(ast.parse("\n".join(asserts))))
    except SyntaxError as error:
        raise record.error(f"`code` or `test_list` is not Python: {error}") from None
    names = Counter(
        node.func.id
        for node in calls
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in defined
    )
    if not names:
        raise record.error("no function of `code` is called in `test_list`")
    return names.most_common(1)[0][0]
