"""Probes: the test functions of a task, made to write down what they look at.

Covered: rows of `parametrize`, in several marks too; fixtures of the test file and of
`conftest.py`, with `return` or `yield`, that need one another; `tmp_path`; other numbers in tests
and rows.
Not covered: other fixtures of pytest, fixtures with parameters or another name, other marks,
`setUp` of a class; such tests are passed over.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import TypeGuard

from unhack.audit.environments.attack import AgentView
from unhack.audit.subject import tree_of
from unhack.environments.task import RepositoryTask

_VARIANTS, _MOST_PROBES, _MOST_FIXTURES, _MOST_ROWS = 4, 400, 20, 60
_BUILT_IN = {"tmp_path": "_tmp_path()"}
_SUPPORT = """
import inspect as _inspect, itertools as _itertools, pathlib as _pathlib, tempfile as _tempfile

def _tmp_path():
    return _pathlib.Path(_tempfile.mkdtemp())

def _had(value):
    return next(value) if _inspect.isgenerator(value) else value

def _cells(row, width):
    if type(row).__name__ == "ParameterSet":
        return tuple(row.values)
    return tuple(row) if width > 1 else (row,)
"""


@dataclass(frozen=True, slots=True)
class BehaviourProbe:
    """A test function that writes down what it looks at."""

    source: str
    name: str
    expressions: tuple[str, ...]
    """The texts of what is written down, by number."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows and fixtures: the source of the arguments of a test."""

    tables: tuple[tuple[tuple[str, ...], ast.expr], ...]
    """(names, rows) of each `parametrize`."""
    needed: tuple[str, ...]
    """Fixtures in the order in which they are made."""
    asked: tuple[str, ...]
    fixtures: Mapping[str, ast.FunctionDef]

    def calls(self, name: str, number: int, changed: _Changed | None) -> str:
        """The text of a function that calls the test `name` with every row; an error in one is
        noted under `number`, and the next one is called."""
        lists: list[str] = []
        for _, table in self.tables:
            copied = ast.parse(ast.unparse(table), mode="eval").body
            lists.append(ast.unparse(copied if changed is None else changed.visit(copied)))
        lines = ["def _each_row():", f"    _tables = [list(one) for one in [{', '.join(lists)}]]",
                 f"    for _row in list(_itertools.product(*_tables))[:{_MOST_ROWS}]:",
                 "        try:", "            pass"]  # fmt: skip
        for at, (names, _) in enumerate(self.tables):
            cells = f"_cells(_row[{at}], {len(names)})"
            lines.append(f"            {', '.join(f'_a_{one}' for one in names)}, = {cells}")
        for one in self.needed:
            if one in self.fixtures:
                parts = [arg.arg for arg in self.fixtures[one].args.args]
                made = f"_had({one}({', '.join(f'{part}=_a_{part}' for part in parts)}))"
            else:
                made = _BUILT_IN[one]
            lines.append(f"            _a_{one} = {made}")
        given = ", ".join(f"{one}=_a_{one}" for one in self.asked)
        lines += [f"            {name}({given})", "        except Exception as _error:",
                  f"            _raised({number}, type(_error).__name__)"]  # fmt: skip
        return "\n".join(lines)


def probes_of(task: RepositoryTask, *, seed: int = 0) -> Iterator[BehaviourProbe]:
    """The probes of a task: its test functions as they are, and with other numbers, which `seed`
    chooses."""
    sources = [*task.tests.values(), *AgentView.of(task).shown]
    common = _common(task)
    shared = _fixtures(ast.Module(common, []))
    count = 0
    for variant in range(_VARIANTS):
        for at, source in enumerate(sources):
            tree = tree_of(source)
            if tree is None:
                continue
            head = [one for one in tree.body if not _is_test(one) and not _is_class(one)]
            for function, rows in _functions(tree, {**shared, **_fixtures(tree)}):
                if count >= _MOST_PROBES:
                    return
                count += 1
                random = Random(f"{seed} {variant} {at} {function.name}")
                changed = _Changed(random) if variant else None
                yield _probe([*common, *head], function, rows, changed)


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test")


def _is_class(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and node.name.startswith("Test")


def _functions(
    tree: ast.Module, fixtures: Mapping[str, ast.FunctionDef]
) -> Iterator[tuple[ast.FunctionDef, _Rows]]:
    """The test functions whose arguments can be had, each with its rows and fixtures."""
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) and _is_class(node) else [node]
        for one in inner:
            if isinstance(one, ast.FunctionDef) and _is_test(one):
                rows = _rows_of(one, fixtures)
                if rows is not None:
                    yield one, rows


def _common(task: RepositoryTask) -> list[ast.stmt]:
    """Statements of the `conftest.py` files beside the tests."""
    texts = {path: data.decode(errors="replace") for path, data in task.files.items()
             if path.startswith("tests/")} | dict(task.tests)  # fmt: skip
    found: list[ast.stmt] = []
    for path, text in sorted(texts.items()):
        if path.rpartition("/")[2] == "conftest.py":
            tree = tree_of(text)
            found += [] if tree is None else tree.body
    return found


def _decorator(node: ast.expr) -> str:
    """`pytest.mark.parametrize(...)` -> its text without arguments."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def _fixtures(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Name -> fixture without parameters of its own."""
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and [_decorator(one).rpartition(".")[2] for one in node.decorator_list] == ["fixture"]
        and "params" not in ast.unparse(node.decorator_list[0])
        and "name=" not in ast.unparse(node.decorator_list[0])
    }


def _rows_of(function: ast.FunctionDef, fixtures: Mapping[str, ast.FunctionDef]) -> _Rows | None:
    """Rows and fixtures for a test's arguments; None where something is not known here."""
    tables: list[tuple[tuple[str, ...], ast.expr]] = []
    for mark in function.decorator_list:
        if not _decorator(mark).endswith("mark.parametrize") or not isinstance(mark, ast.Call):
            return None
        names = _columns(mark)
        if not names or any(one.arg != "ids" for one in mark.keywords):
            return None
        tables.append((names, mark.args[1]))
    given = {name for names, _ in tables for name in names}
    asked = [arg.arg for arg in function.args.args if arg.arg != "self"]
    needed: list[str] = []
    for name in asked:
        if name not in given and not _needs(name, fixtures, needed):
            return None
    return _Rows(tuple(tables), tuple(needed), tuple(asked), fixtures)


def _needs(
    name: str,
    fixtures: Mapping[str, ast.FunctionDef],
    needed: list[str],
    asking: tuple[str, ...] = (),
) -> bool:
    """True for a fixture that can be had; it and what it needs come into `needed`, in order.
    `asking`: the fixtures that ask for it, which it cannot be."""
    if name in needed:
        return True
    if name not in fixtures:
        needed += [name] if name in _BUILT_IN else []
        return name in _BUILT_IN
    parts = [arg.arg for arg in fixtures[name].args.args]
    if name in asking or len(asking) > _MOST_FIXTURES:
        return False
    if not all(_needs(part, fixtures, needed, (*asking, name)) for part in parts):
        return False
    needed.append(name)
    return True


def _columns(mark: ast.Call) -> tuple[str, ...]:
    """The names of a `parametrize`; none where they are not written out."""
    if len(mark.args) < 2:
        return ()
    try:
        told = ast.literal_eval(mark.args[0])
    except ValueError:
        return ()
    names = told.split(",") if isinstance(told, str) else list(told)
    return tuple(str(one).strip() for one in names if str(one).strip())


def _probe(
    head: list[ast.stmt], function: ast.FunctionDef, rows: _Rows, changed: _Changed | None
) -> BehaviourProbe:
    # A copy by its text: the trees are shared by the variants.
    body = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(body, ast.FunctionDef)
    body.args.args = [arg for arg in body.args.args if arg.arg != "self"]
    body.decorator_list = []
    if changed is not None:
        body = changed.visit(body)
    noting = _Noting()
    body = noting.visit(body)
    entry = body.name
    made = [one if not _is_fixture(one) else _undecorated(one) for one in head]
    if rows.asked:
        entry = "_each_row"
        made = [*ast.parse(_SUPPORT).body, *made]
        row = len(noting.expressions)
        noting.expressions.append(f"a row of {body.name}")
        tail = ast.parse(rows.calls(body.name, row, changed)).body
        module = ast.Module([*made, body, *tail], [])
    else:
        module = ast.Module([*made, body], [])
    text = ast.unparse(ast.fix_missing_locations(module))
    return BehaviourProbe(text, entry, tuple(noting.expressions))


def _is_fixture(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and any(
        _decorator(one).rpartition(".")[2] == "fixture" for one in node.decorator_list
    )


def _undecorated(node: ast.FunctionDef) -> ast.stmt:
    made = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(made, ast.FunctionDef)
    made.decorator_list = []
    return made


class _Changed(ast.NodeTransformer):
    """Other numbers above 1, the same one for the same one."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._known: dict[int, int] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A whole number becomes one near it."""
        value = node.value
        if type(value) is not int or not 1 < value < 10**6:
            return node
        if value not in self._known:
            self._known[value] = max(2, value + self._random.choice((-3, -2, -1, 1, 2, 3, 5)))
        return ast.copy_location(ast.Constant(self._known[value]), node)


class _Noting(ast.NodeTransformer):
    """Asserts become notes of what they look at."""

    def __init__(self) -> None:
        self.expressions: list[str] = []

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """The left side of a comparison is noted, of one with bounds all but constants, else the
        whole."""
        test, found = node.test, [node.test]
        if isinstance(test, ast.Compare):
            found = [test.left]
            if len(test.comparators) > 1 or isinstance(test.left, ast.Constant):
                sides = [test.left, *test.comparators]
                found = [one for one in sides if not isinstance(one, ast.Constant)] or found
        notes = [self._note(one) for one in found]
        made = notes[0] if len(notes) == 1 else ast.Tuple(notes, ast.Load())
        return ast.copy_location(ast.Expr(made), node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """The first argument of `self.assertEqual` and its like is noted, and any other call."""
        call = node.value
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "").startswith("assert"):
            if call.args and not getattr(call.func, "attr", "").startswith("assertRaises"):
                return ast.copy_location(ast.Expr(self._note(call.args[0])), node)
            return ast.copy_location(ast.Pass(), node)
        if isinstance(call, ast.Call):
            return ast.copy_location(ast.Expr(self._note(call)), node)
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        """A block that has to raise notes what it raised."""
        self.generic_visit(node)
        call = node.items[0].context_expr
        name = getattr(getattr(call, "func", None), "attr", "")
        if name not in ("raises", "assertRaises"):
            return node
        number = len(self.expressions)
        self.expressions.append(ast.unparse(node.body[0]))
        made = ast.parse(
            f"try:\n    pass\nexcept Exception as _error:\n    _raised({number}, "
            f"type(_error).__name__)\nelse:\n    _raised({number}, 'no error')"
        ).body[0]
        assert isinstance(made, ast.Try)
        made.body = node.body
        return ast.copy_location(made, node)

    def _note(self, expression: ast.expr) -> ast.expr:
        number = len(self.expressions)
        self.expressions.append(ast.unparse(expression))
        made = ast.parse(f"_seen({number}, lambda: 0)", mode="eval").body
        assert isinstance(made, ast.Call)
        made.args[1] = ast.parse(f"lambda: ({ast.unparse(expression)})", mode="eval").body
        return made
