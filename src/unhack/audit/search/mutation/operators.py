"""Faults of conditions, arithmetic, bounds and statements.

Covered: one node exchanged for others of the same kind. Left alone: annotations, docstrings,
imports, the `__main__` guard, and what would only make a loop run for ever.
Not covered: faults of values as a whole, see `unhack.audit.search.mutation.mutants`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Node = TypeVar("_Node", bound=ast.AST)
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class MutationEdit:
    """One node exchanged."""

    node: ast.AST
    """A node of the tree that was searched."""
    replacement: ast.AST | list[ast.stmt]
    """Its replacement; an empty list drops a statement."""
    note: str


@dataclass(frozen=True, slots=True)
class Operator:
    """A kind of fault."""

    name: str
    find: Callable[[ast.Module], Iterator[MutationEdit]]
    """All the places where it can be made."""
    share: int = 1
    """Number in each round, where mutants are spread over the operators."""


_COMPARES: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq, ast.GtE, ast.LtE),
    ast.NotEq: (ast.Eq, ast.Gt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Pow),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div, ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitOr,),
}
_CALLS = {
    "max": "min",
    "min": "max",
    "any": "all",
    "all": "any",
    "sum": "max",
    "sorted": "list",
    "reversed": "list",
    "set": "list",
    "abs": "int",
    "round": "int",
}


def in_turn(queues: Iterable[Sequence[_Item]]) -> list[_Item]:
    """The first of each, then the second of each, and so on."""
    some = list(queues)
    longest = max(map(len, some), default=0)
    return [queue[at] for at in range(longest) for queue in some if at < len(queue)]


def text(node: ast.AST) -> str:
    """The node as source, on one line, cut short."""
    return " ".join(ast.unparse(node).split())[:60]


def nodes(tree: ast.AST, kind: type[_Node]) -> Iterator[_Node]:
    """The nodes of a kind that matter to what the program computes."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, kind):
            yield node
        stack += reversed(list(_inner(node)))


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params"):
            continue
        items: list[object] = list(value) if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownArgumentType]
        for item in items:
            if isinstance(item, ast.AST) and not _apart(item):
                yield item


def _apart(node: ast.AST) -> bool:
    """Tell whether a node is a docstring, an import or the guard of the main program."""
    if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
        return True
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or isinstance(node, (ast.Import, ast.ImportFrom))


def changed(node: _Node, **fields: object) -> _Node:
    """A copy with other fields."""
    twin = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


def became(node: ast.AST, replacement: ast.AST) -> MutationEdit:
    """An edit whose note quotes both nodes."""
    return MutationEdit(node, replacement, f"{text(node)} became {text(replacement)}")


def parse(source: str) -> ast.expr:
    """The syntax tree of an expression."""
    return ast.parse(source, mode="eval").body


def _compares(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.Compare):
        for index, operation in enumerate(node.ops):
            for other in _COMPARES[type(operation)]:
                ops = [*node.ops[:index], other(), *node.ops[index + 1 :]]
                yield became(node, changed(node, ops=ops))


def _bounds(tree: ast.Module) -> Iterator[MutationEdit]:
    """Comparisons that are off by one."""
    for node in nodes(tree, ast.Compare):
        ordered = isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        if len(node.ops) == 1 and ordered and not _texts(node):
            for sign in "+-":
                bound = parse(f"{ast.unparse(node.comparators[0])} {sign} 1")
                yield became(node, changed(node, comparators=[bound]))


def _texts(node: ast.AST) -> bool:
    return any(
        isinstance(item, ast.Constant) and isinstance(item.value, str) for item in ast.walk(node)
    )


def _constants(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.Constant):
        value = node.value
        replacement: list[object] = []
        if isinstance(value, bool):
            replacement = [not value]
        elif isinstance(value, (int, float)):
            replacement = [value + 1, value - 1, *([0] if value not in (0, 1, -1) else [])]
        elif isinstance(value, str) and value:
            replacement = [value[:-1], value + value[-1]]
        for other in replacement:
            yield MutationEdit(node, parse(repr(other)), f"{value!r:.40} became {other!r:.40}")


def _ranges(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.Call):
        if not (isinstance(node.func, ast.Name) and node.func.id == "range"):
            continue
        texts = list(map(ast.unparse, node.args))
        stop = 0 if len(texts) == 1 else 1
        ends = [[*texts[:stop], texts[stop] + change, *texts[stop + 1 :]]
                for change in (" - 1", " + 1")]  # fmt: skip
        start = ["1", *texts] if len(texts) == 1 else [f"{texts[0]} + 1", *texts[1:]]
        for bounds in (*ends, start):
            yield became(node, parse(f"range({', '.join(bounds)})"))


def _conditions(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.AST):
        if isinstance(node, (ast.If, ast.IfExp)):
            negated = ast.UnaryOp(ast.Not(), node.test)
            yield MutationEdit(node.test, negated, f"{text(node.test)} was negated")
            for value in (True, False):
                note = f"{text(node.test)} became {value}"
                yield MutationEdit(node.test, ast.Constant(value), note)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield MutationEdit(node, node.operand, f"{text(node)} lost its `not`")
        elif isinstance(node, ast.comprehension):
            for index, test in enumerate(node.ifs):
                note = f"the filter {text(test)} was dropped"
                yield MutationEdit(node.ifs[index], ast.Constant(True), note)


def _branches(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.If):
        if not node.orelse:
            continue
        swapped = changed(node, body=node.orelse, orelse=node.body)
        yield MutationEdit(node, swapped, f"the branches of `if {text(node.test)}` were swapped")
        [*rest] = node.orelse
        following = rest[0] if len(rest) == 1 and isinstance(rest[0], ast.If) else None
        without = changed(node, orelse=following.orelse if following is not None else [])
        kind = f"elif {text(following.test)}" if following is not None else "else"
        yield MutationEdit(node, without, f"the branch `{kind}` was dropped")
    for node in nodes(tree, ast.IfExp):
        swapped = ast.IfExp(node.test, node.orelse, node.body)
        yield MutationEdit(node, swapped, f"{text(node)}: its values were swapped")


def _guards(tree: ast.Module) -> Iterator[MutationEdit]:
    """Drop a base case or an early return."""
    for node in nodes(tree, ast.If):
        ends = isinstance(node.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
        if ends and not node.orelse and not isinstance(node.body[-1], ast.Break):
            yield MutationEdit(node, [], f"`if {text(node.test)}` and its way out were dropped")


def _drops(tree: ast.Module) -> Iterator[MutationEdit]:
    counted = {name for loop in nodes(tree, ast.While) for name in _names(loop.test)}
    assigned: set[str] = set()
    for node in nodes(tree, ast.stmt):
        names, needed = set[str](), True
        if isinstance(node, ast.AugAssign):
            names, needed = set(_names(node.target)), False
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            names, needed = set(_names(node.value.func)), False
        elif isinstance(node, ast.Assign):
            names = {name for target in node.targets for name in _names(target)}
            needed = not names <= assigned
            assigned |= names
        if not needed and not names & counted:
            yield MutationEdit(node, [], f"`{text(node)}` was dropped")


def _names(node: ast.AST) -> list[str]:
    return [item.id for item in ast.walk(node) if isinstance(item, ast.Name)]


def _arithmetic(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.AST):
        if not isinstance(node, (ast.BinOp, ast.AugAssign)) or _texts(node):
            continue
        for other in _ARITHMETIC.get(type(node.op), ()):
            if not (isinstance(node, ast.AugAssign) and other is ast.Pow):
                yield became(node, changed(node, op=other()))


def _signs(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.UnaryOp):
        if isinstance(node.op, ast.USub):
            yield became(node, node.operand)


def _junctions(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield became(node, changed(node, op=other))
        for index, part in enumerate(node.values):
            rest = [*node.values[:index], *node.values[index + 1 :]]
            fewer = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            yield MutationEdit(node, fewer, f"the condition {text(part)} was dropped")


def _slices(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.Slice):
        for side in ("lower", "upper"):
            bound: ast.expr | None = getattr(node, side)
            texts = [f"{ast.unparse(bound)} {sign} 1" for sign in "+-"] if bound else []
            for shifted in texts:
                replacement = changed(node, **{side: parse(shifted)})
                note = f"[{text(node)}] became [{text(replacement)}]"
                yield MutationEdit(node, replacement, note)


def _indexes(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.Subscript):
        index = node.slice
        if isinstance(node.ctx, ast.Load) and isinstance(index, (ast.BinOp, ast.Name)):
            yield became(node, changed(node, slice=parse(f"{ast.unparse(index)} - 1")))


def _jumps(tree: ast.Module) -> Iterator[MutationEdit]:
    """`break` for `continue` in `for` loops, and the other way; a return inside a loop dropped."""
    for loop in nodes(tree, ast.For):
        for node in _directly_in(loop):
            if isinstance(node, ast.Break):
                yield MutationEdit(node, [ast.Continue()], "break became continue")
            elif isinstance(node, ast.Continue):
                yield MutationEdit(node, [ast.Break()], "continue became break")
            elif isinstance(node, ast.Return):
                yield MutationEdit(node, [ast.Continue()], f"`{text(node)}` became continue")
            elif isinstance(node, (ast.AugAssign, ast.Assign)):
                yield MutationEdit(node, [node, ast.Break()], f"a break after `{text(node)}`")


def _directly_in(loop: ast.For) -> Iterator[ast.stmt]:
    stack: list[ast.AST] = list(loop.body)
    while stack:
        node = stack.pop(0)
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (ast.For, ast.While, ast.FunctionDef, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def _calls(tree: ast.Module) -> Iterator[MutationEdit]:
    for node in nodes(tree, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _CALLS:
            replacement = changed(node, func=ast.Name(_CALLS[name], ast.Load()))
            if name in ("sorted", "sum", "set"):
                replacement.args, replacement.keywords = replacement.args[:1], []
            yield became(node, replacement)
        for index, word in enumerate(node.keywords):
            if word.arg in ("default", "key", "reverse", "start", "initial"):
                fewer = changed(node)
                del fewer.keywords[index]
                yield MutationEdit(node, fewer, f"{text(node)} lost its `{word.arg}`")


NODE_OPERATORS = (
    Operator("comparison_flipped", _compares),
    Operator("bound_off_by_one", _bounds),
    Operator("constant_changed", _constants),
    Operator("range_off_by_one", _ranges),
    Operator("condition_changed", _conditions),
    Operator("branches_changed", _branches),
    Operator("base_case_removed", _guards),
    Operator("statement_dropped", _drops),
    Operator("arithmetic_changed", _arithmetic),
    Operator("sign_dropped", _signs),
    Operator("and_or_changed", _junctions),
    Operator("slice_shifted", _slices),
    Operator("index_shifted", _indexes),
    Operator("jump_changed", _jumps),
    Operator("function_changed", _calls),
)
