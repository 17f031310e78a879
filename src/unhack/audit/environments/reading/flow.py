"""One walk through a file of tests in Python: assertions, files, programs, and what may be skipped.

    walk = walk_tests("def test_a():\\n    assert open('/app/a').read()", told)
    walk.assertions[0].paths            # frozenset({"/app/a"})

Covered: functions and methods, fixtures and other functions of the file by the paths that they use,
branches and loops as conditions.
Not covered: methods of unittest that assert, what a class keeps, plugins, generated tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from unhack.audit.environments.reading.assertions import Strength, Told, strength_of
from unhack.audit.environments.reading.programs import command_of, in_workspace, needs_network
from unhack.audit.environments.reading.sources import (
    NONE,
    PathScope,
    name_of,
    paths_in,
    starts_program,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
_OPENS = frozenset(
    {"Path", "PurePath", "open", "exists", "isfile", "isdir", "read_csv", "load", "stat"}
)
_LOOKS = frozenset({
    "exists", "is_file", "is_dir", "isfile", "isdir", "access", "stat", "getsize", "str", "Path",
    "lexists", "print", "len", "format", "fail", "join", "is_absolute", "chmod", "relative_to",
})  # fmt: skip
"""Calls that do not look at a file's content."""
_SKIPS = frozenset({"pytest.skip", "pytest.xfail", "pytest.importorskip"})


@dataclass(frozen=True, slots=True)
class Assertion:
    """Something that a test wants.

    Example:

        Strength.FORM in one.strength
    """

    line: int
    strength: Strength
    paths: frozenset[str]
    """All that it depends on, conditions above it included."""
    function: str
    condition: str = ""
    """The `if` that it stands under; empty for none."""
    given: frozenset[str] = NONE
    """The paths of that condition."""
    text: str = ""


@dataclass
class ReadTests:
    """The assertions, files and programs of a file of tests.

    Example:

        sorted(walk.files)
    """

    assertions: list[Assertion] = field(default_factory=list[Assertion])
    files: dict[str, int] = field(default_factory=dict[str, int])
    """Path that is used as a file -> the first line."""
    contents: set[str] = field(default_factory=set[str])
    """Paths whose content is looked at."""
    programs: dict[int, str] = field(default_factory=dict[int, str])
    """Line -> a program in the workspace that is run there."""
    skips: dict[int, str] = field(default_factory=dict[int, str])
    """Line -> the condition under which checks are left out."""
    fields: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """File and name of a field that is read from it -> line."""
    network: set[int] = field(default_factory=set[int])
    """Lines that start a program which loads something from elsewhere."""
    constants: str = ""
    """The constants of the code, a line each; those of docstrings and messages are left out."""


def walk_tests(source: str, told: Told) -> ReadTests:
    """Walk through a file. Raises SyntaxError."""
    tree = ast.parse(source)
    walker = _Walker(told)
    walker.prepare(tree)
    walker.module(tree.body)
    walker.found.constants = "\n".join(_constants(tree))
    return walker.found


class _Walker:
    """The state of a walk."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.found = ReadTests()
        self.scope = PathScope()
        self.function = ""
        self.conditions: list[tuple[str, frozenset[str]]] = []
        self.guards = 0
        """Conditions above that ask for a file."""
        self.parts: set[str] = set()
        """Names that loops have bound."""

    def prepare(self, tree: ast.Module) -> None:
        """Constants of the module, and what each function uses."""
        self.block([one for one in tree.body if not isinstance(one, (*_FUNCTIONS, ast.ClassDef))])
        functions = [one for one in ast.walk(tree) if isinstance(one, _FUNCTIONS)]
        runners = set[str]()
        for _ in range(2):  # a second time, for functions that call one that stands below
            for one in functions:
                inner = self.scope.copy()
                inner.functions = self.scope.functions
                if not one.name.startswith("test"):
                    self.scope.functions[one.name] = frozenset().union(
                        *(inner.of(part) for part in one.body)
                    )
                    names = {argument.arg for argument in one.args.args}
                    if any(_starts_given(node, names) for node in ast.walk(one)):
                        runners.add(one.name)
        self.scope.runners = frozenset(runners)

    def module(self, body: Sequence[ast.stmt]) -> None:
        """Functions, and those of classes, in order."""
        for one in body:
            if isinstance(one, ast.ClassDef):
                self.module(one.body)
            elif isinstance(one, _FUNCTIONS):
                outer, self.scope = self.scope, self.scope.copy()
                self.function = one.name
                for argument in one.args.args:
                    uses = self.scope.functions.get(argument.arg, NONE)
                    self.scope.bind(ast.Name(argument.arg), uses)
                self.block(one.body)
                self.scope = outer

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Statements in order; an `if` that leaves a test before its checks is a skip."""
        for place, one in enumerate(body):
            leaves = isinstance(one, ast.If) and _leaves(one.body) and body[place + 1 :]
            if isinstance(one, ast.If) and leaves and self.function.startswith("test"):
                self.found.skips.setdefault(one.lineno, ast.unparse(one.test))
            self.statement(one)

    def statement(self, one: ast.stmt) -> None:
        """One statement, and those in it."""
        for node in _own_expressions(one):
            self.expression(node)
        if isinstance(one, ast.Assert):
            self.want(one.test, one)
        elif isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and one.value is not None:
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            for target in targets:
                self.assign(target, one.value, add=isinstance(one, ast.AugAssign))
        elif isinstance(one, ast.Expr):
            self.call(one)
        elif isinstance(one, (ast.For, ast.AsyncFor)):
            self.scope.loop(one.target, one.iter)
            self.parts |= {node.id for node in ast.walk(one.target) if isinstance(node, ast.Name)}
            self.under(None, self.scope.of(one.iter), one.body)
            self.block(one.orelse)
        elif isinstance(one, (ast.If, ast.While)):
            self.branch(one)
        elif isinstance(one, (ast.With, ast.AsyncWith)):
            for item in one.items:
                if item.optional_vars is not None:
                    self.scope.bind(item.optional_vars, self.scope.of(item.context_expr))
            self.block(one.body)
        elif isinstance(one, ast.Try):
            self.attempt(one)
        elif isinstance(one, _FUNCTIONS) and self.function:
            known = NONE.union(*self.scope.sources.values())
            for argument in one.args.args:
                self.scope.bind(ast.Name(argument.arg), known)
            self.scope.functions[one.name] = known
            self.block(one.body)

    def branch(self, one: ast.If | ast.While) -> None:
        """An `if`; one that only fails is an assertion of its condition."""
        if isinstance(one, ast.If) and _fails(one.body):
            self.want(one.test, one)
            self.block(one.orelse)
            return
        other = any(isinstance(node, ast.Assert) for part in one.orelse for node in ast.walk(part))
        blank = name_of(one.test).removesuffix(".strip") in self.parts
        text = None if other or blank or isinstance(one, ast.While) else ast.unparse(one.test)
        guard = "exists" in ast.unparse(one.test)
        self.guards += guard
        self.under(text, self.scope.of(one.test), one.body)
        self.under(None, self.scope.of(one.test), one.orelse)
        self.guards -= guard

    def under(self, text: str | None, paths: frozenset[str], body: Sequence[ast.stmt]) -> None:
        """Statements under a condition, on which all that they set depends."""
        self.conditions.append((text or "", paths))
        self.block(body)
        self.conditions.pop()

    def attempt(self, one: ast.Try) -> None:
        """A `try`; a handler that swallows failures is a skip."""
        asserts = any(isinstance(node, ast.Assert) for part in one.body for node in ast.walk(part))
        self.block(one.body)
        for handler in one.handlers:
            caught = ast.unparse(handler.type) if handler.type is not None else ""
            wide = caught in ("", "Exception", "BaseException", "AssertionError")
            ends = any(
                isinstance(node, (ast.Assert, ast.Raise, ast.Return)) or "fail" in name_of(node)
                for node in ast.walk(handler)
            )
            quiet = not ends or _leaves(handler.body)
            if wide and asserts and quiet and self.function.startswith("test"):
                self.found.skips.setdefault(handler.lineno, f"except {caught}".strip())
            self.block(handler.body)
        self.block([*one.orelse, *one.finalbody])

    def assign(self, target: ast.expr, value: ast.expr, *, add: bool) -> None:
        """A value for a name, or a part of one."""
        sources = self.scope.of(value).union(*(paths for _, paths in self.conditions))
        part = not isinstance(target, (ast.Name, ast.Tuple, ast.List))
        text, values = self.scope.text(value), self.scope.values.get(name_of(target), [])
        self.scope.bind(target, sources, add=add or part)
        if isinstance(target, ast.Name):
            self.scope.values[target.id] = [*values, value]
            if text is not None and not add:
                self.scope.texts[target.id] = text

    def call(self, one: ast.Expr) -> None:
        """A call for its effect: an assertion, or something that is put into a value."""
        node = one.value
        if not isinstance(node, ast.Call):
            return
        name = name_of(node)
        last = name.rsplit(".", 1)[-1]
        if name in _SKIPS:
            given = self.conditions[-1][0] if self.conditions else ""
            self.found.skips.setdefault(one.lineno, given or name)
        elif last.startswith("assert_"):
            self.want(node, one)
        elif isinstance(node.func, ast.Attribute):
            self.scope.bind(node.func.value, self.scope.of(node), add=True)

    def want(self, test: ast.expr, at: ast.stmt) -> None:
        """Keep an assertion. `assert False` is none: it stands where something else failed."""
        if isinstance(test, ast.Constant):
            return
        paths = self.scope.of(test).union(*(paths for _, paths in self.conditions))
        text, given = next(
            ((text, paths) for text, paths in reversed(self.conditions) if text), ("", NONE)
        )
        strength = strength_of(test, self.scope, self.told)
        self.found.assertions.append(
            Assertion(at.lineno, strength, paths, self.function, text, given, ast.unparse(test))
        )

    def expression(self, top: ast.expr) -> None:
        """Files, programs and fields of an expression."""
        options = {
            id(inner) for node in ast.walk(top) if isinstance(node, (ast.List, ast.Tuple))
            for part in node.elts for inner in ast.walk(part)
        }  # fmt: skip
        for node in ast.walk(top):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                key, paths = node.slice.value, self.scope.of(node.value)
                if isinstance(key, str) and len(paths) == 1:
                    self.found.fields.setdefault((min(paths), key), node.lineno)
            if not isinstance(node, ast.Call):
                continue
            last = name_of(node).rsplit(".", 1)[-1]
            text = self.scope.text(node) or (self.scope.text(node.args[0]) if node.args else None)
            path = (text or "").rstrip("/")
            if (
                last in _OPENS
                and path in paths_in(path)
                and not self.guards
                and id(node) not in options
            ):
                self.found.files.setdefault(path, node.lineno)
            if last not in _LOOKS:
                self.found.contents |= self.scope.of(node)
            if starts_program(node) or name_of(node) in self.scope.runners:
                program = in_workspace(node, self.scope)
                if program:
                    self.found.programs.setdefault(node.lineno, program)
                if needs_network(command_of(node, self.scope)):
                    self.found.network.add(node.lineno)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _constants(node: ast.AST) -> Iterator[str]:
    """The constants below a node that are no prose."""
    for name, part in ast.iter_fields(node):
        prose = name == "msg" or "fail" in name_of(node)
        parts = cast("list[Any]", part) if isinstance(part, list) else [part]
        for one in parts:
            if isinstance(one, ast.Constant) and not isinstance(node, ast.Expr):
                yield str(one.value)
            elif isinstance(one, ast.AST) and not prose:
                yield from _constants(one)


def _starts_given(node: ast.AST, names: set[str]) -> bool:
    """True for a call that starts the program that the function was given."""
    return (
        starts_program(node)
        and isinstance(node, ast.Call)
        and bool(node.args)
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id in names
    )


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """True for a body that ends in a bare return."""
    last = body[-1]
    return isinstance(last, ast.Return) and last.value is None


def _fails(body: Sequence[ast.stmt]) -> bool:
    """True for a body that does nothing but fail."""
    for one in body:
        if isinstance(one, ast.Raise):
            return True
        if isinstance(one, ast.Assert) and isinstance(one.test, ast.Constant):
            return not one.test.value
        if isinstance(one, ast.Expr) and name_of(one.value).endswith(("pytest.fail", "self.fail")):
            return True
    return False


def _own_expressions(one: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of statements in it; no docstring."""
    if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
        return
    if isinstance(one, ast.Assert):
        yield one.test
    elif isinstance(one, (ast.With, ast.AsyncWith)):
        yield from (item.context_expr for item in one.items)
    else:
        yield from (node for node in ast.iter_child_nodes(one) if isinstance(node, ast.expr))
