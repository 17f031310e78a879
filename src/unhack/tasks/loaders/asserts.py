"""Assert-style test code, compiled into the cases of a function task.

The test code is trusted, and it is parsed all the same, never executed here. Each assert must call
the function once, on constants, and hold the result against a constant:

    assert candidate(1, [2]) == 3            assert not candidate("x")
    assert candidate(0.5) is None            assert abs(candidate(2) - 0.1) < 1e-6
    assert set(candidate([1])) == {1}        assert math.isclose(candidate(3), 0.3, rel_tol=1e-3)

`==` keeps Python's meaning: `1 == 1.0 == True`, a tuple is not a list.

Covered: such asserts and conjunctions of them, names bound to constants, imports, docstrings,
prints.
Not covered: loops, comprehensions, try, helper functions, two calls in one assert, values that are
not plain data. Those give a `NeedsScript`, which says where and why (see `check_script`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unhack.tasks.loaders.literals import PURE, NotLiteralError, evaluate
from unhack.tasks.loaders.predicates import VIEWS, Compared, Near, Predicate
from unhack.verifiers.function import Case


@dataclass(frozen=True, slots=True)
class NeedsScript:
    """The tests cannot be written as cases; a script must run them."""

    reason: str
    """The obstacle, for people."""
    line: int
    """Line in the test code, counted from 1."""


def compile_check(source: str) -> tuple[Case, ...] | NeedsScript:
    """The cases of test code that defines `check(candidate)`; its other definitions are not looked
    at.

    Raises SyntaxError for code that does not parse, ValueError when it defines no `check`.
    """
    tree = ast.parse(source)
    body, call = check_body(tree)
    return _compile(body, call=call, shadowed=_bound_names(tree))


def check_body(tree: ast.Module) -> tuple[list[ast.stmt], ast.expr]:
    """The statements of `check(candidate)` and the name of what they call. Raises ValueError."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "check" and node.args.args:
            return node.body, ast.Name(node.args.args[0].arg, ast.Load())
    raise ValueError("the test code defines no check(candidate)")


def compile_asserts(asserts: Sequence[str], *, call: str) -> tuple[Case, ...] | NeedsScript:
    """The cases of assert statements that call the expression `call`: `name` or `Class().name`.

    Raises SyntaxError for statements or a `call` that do not parse.
    """
    tree = ast.parse("\n".join(asserts))
    function = ast.parse(call, mode="eval").body
    return _compile(tree.body, call=function, shadowed=_bound_names(tree))


def _bound_names(tree: ast.AST) -> set[str]:
    """Every name that the code gives a meaning of its own."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name) for alias in node.names)
    return names


def _compile(
    body: list[ast.stmt], *, call: ast.expr, shadowed: set[str]
) -> tuple[Case, ...] | NeedsScript:
    compiler = _Compiler(ast.dump(call))
    hidden = sorted(shadowed & {*PURE, *VIEWS})
    if hidden:
        return NeedsScript(f"the tests give {hidden[0]} a meaning of their own", 1)
    for node in body:
        try:
            compiler.statement(node)
        except NotLiteralError as error:
            return NeedsScript(str(error), node.lineno)
    if not compiler.cases:
        return NeedsScript("no assert calls the function", 1)
    return tuple(compiler.cases)


_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.In: "in",
}


@dataclass(slots=True)
class _Compiler:
    """A compiler of statements into cases. Raises NotLiteralError at what it cannot express."""

    function: str
    """The called expression, as `ast.dump` writes it."""
    cases: list[Case] = field(default_factory=list[Case])
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    read: set[str] = field(default_factory=set[str])
    """Names of mutable values that a call has had: it may have changed them."""

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assert():
                self.condition(node.test)
            case ast.Assign(targets=[ast.Name(id=name)]):
                self.names[name] = self.constant(node.value)
                self.read.discard(name)
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"))) if self.calls(node) == 0:
                pass
            case ast.Expr(value=ast.Constant() | ast.Name()):
                pass
            case ast.Pass() | ast.Import() | ast.ImportFrom():
                pass
            case _:
                raise NotLiteralError(f"{type(node).__name__} is more than an assert")

    def calls(self, node: ast.AST) -> int:
        """The number of calls of the function in `node`."""
        return sum(
            isinstance(inner, ast.Call) and ast.dump(inner.func) == self.function
            for inner in ast.walk(node)
        )

    def constant(self, node: ast.expr) -> Any:
        """A constant; a name whose value a call may have changed is none."""
        used = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        if used & self.read:
            raise NotLiteralError(f"{sorted(used & self.read)[0]} may have been changed by a call")
        return evaluate(node, self.names)

    def condition(self, node: ast.expr) -> None:
        """Add the cases of an asserted expression."""
        count = self.calls(node)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for part in node.values:
                self.condition(part)
        elif count == 0 and self.constant(node):
            return
        elif count != 1:
            raise NotLiteralError(f"{count} calls in one assert")
        else:
            self.single(node)

    def single(self, node: ast.expr) -> None:
        """Add the case of an expression with one call."""
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                if self.calls(left) == 0:
                    left, right = right, left
                    flipped = _FLIPPED.get(type(operator))
                    operator = flipped() if flipped else operator
                    if isinstance(operator, ast.In):
                        raise NotLiteralError("membership in the result")
                self.compare(left, right, operator=operator)
            case ast.UnaryOp(op=ast.Not(), operand=operand) if self.is_call(operand):
                self.add(operand, Compared("==", False, view="bool"))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr="isclose")):
                self.is_close(node)
            case _ if self.is_call(node):
                self.add(node, Compared("==", True, view="bool"))
            case _:
                raise NotLiteralError(f"{ast.unparse(node):.60} is no comparison with a constant")

    def compare(self, left: ast.expr, right: ast.expr, *, operator: ast.cmpop) -> None:
        """`left operator right`, the call on the left."""
        symbol = _OPERATORS.get(type(operator))
        if symbol is None:
            raise NotLiteralError(f"{type(operator).__name__} is not covered")
        if self.calls(right):
            raise NotLiteralError("the right side calls the function")
        match left:
            case ast.Call(func=func, args=[ast.BinOp(left=first, op=ast.Sub(), right=second)]) if (
                ast.unparse(func) in {"abs", "math.fabs"} and symbol in {"<", "<="}
            ):
                if self.calls(first) == 0:
                    first, second = second, first
                bound = self.number(right)
                near = Near(self.number(second), abs_tol=bound, inclusive=symbol == "<=")
                self.add(first, near)
            case _ if symbol == "==" and self.is_call(left):
                self.add(left, None, expected=self.constant(right))
            case ast.Call(func=ast.Name(id=view), args=[inner], keywords=[]) if view in VIEWS:
                if view in {"set", "frozenset"} and symbol != "==":
                    raise NotLiteralError(f"{symbol} between sets")
                self.add(inner, Compared(symbol, self.constant(right), view=view))
            case _:
                value = self.constant(right)
                if symbol == "is" and not (value is None or isinstance(value, bool)):
                    raise NotLiteralError("`is` with a value other than None, True, False")
                self.add(left, Compared(symbol, value))

    def is_close(self, node: ast.Call) -> None:
        """`math.isclose(call, constant, rel_tol=…, abs_tol=…)`, in either order."""
        if len(node.args) != 2:
            raise NotLiteralError("math.isclose takes two values")
        left, right = node.args if self.calls(node.args[0]) else reversed(node.args)
        tolerances = {word.arg or "**": self.number(word.value) for word in node.keywords}
        if not set(tolerances) <= {"rel_tol", "abs_tol"}:
            raise NotLiteralError("math.isclose takes rel_tol and abs_tol")
        tolerances.setdefault("rel_tol", 1e-9)
        tolerances.setdefault("abs_tol", 0.0)
        self.add(left, Near(self.number(right), **tolerances))

    def number(self, node: ast.expr) -> Any:
        """A constant that is a number."""
        value = self.constant(node)
        if not isinstance(value, (int, float, complex)):
            raise NotLiteralError(f"{value!r:.60} is not a number")
        return value

    def is_call(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and ast.dump(node.func) == self.function

    def add(self, node: ast.expr, accepts: Predicate | None, *, expected: Any = None) -> None:
        """Add the case of a call; without a predicate, the result must equal `expected`."""
        if not (isinstance(node, ast.Call) and self.is_call(node)):
            raise NotLiteralError(f"{ast.unparse(node):.60} is not the plain result of a call")
        args: list[Any] = []
        for item in node.args:
            starred = isinstance(item, ast.Starred)
            value = self.constant(item.value if starred else item)
            args.extend(value if starred else [value])
        kwargs = {word.arg: self.constant(word.value) for word in node.keywords if word.arg}
        if len(kwargs) != len(node.keywords):
            raise NotLiteralError("** in a call")
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(
                self.names.get(inner.id), (list, dict, set)
            ):
                self.read.add(inner.id)
        if accepts is not None:
            expected = accepts.value
        self.cases.append(Case(tuple(args), kwargs, expected, accepts=accepts))
