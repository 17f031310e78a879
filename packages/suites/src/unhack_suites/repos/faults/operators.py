"""Slips inside functions, as people make them, found over `ast` and written as edits of the text.

    slips(source)    every slip of every kind, in the order of the text

Covered: comparisons, arithmetic, logic, constants, bounds, guards, lost statements, swapped and
mixed-up arguments, neighbours among names (`min` for `max`), lost keywords.
Not covered: slips at the borders of files and silent ones (`borders`).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from unhack_suites.repos.faults.edits import Function, ParsedFile, SourceEdit, functions
from unhack_suites.repos.faults.edits import statement_lines as whole

_COMPARE: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">"), ast.LtE: ("<",), ast.Gt: (">=", "<"), ast.GtE: (">",),
    ast.Eq: ("!=",), ast.NotEq: ("==",), ast.In: ("not in",), ast.NotIn: ("in",),
    ast.Is: ("is not",), ast.IsNot: ("is",),
}  # fmt: skip
_COMPARE_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<", ast.Gt: ">", ast.GtE: ">",
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "%", ast.Mod: "//",
    ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "|",
}  # fmt: skip
_NEIGHBOURS = {
    "min": "max", "max": "min", "any": "all", "all": "any", "startswith": "endswith",
    "endswith": "startswith", "lstrip": "rstrip", "rstrip": "lstrip", "ljust": "rjust",
    "rjust": "ljust", "partition": "rpartition", "rpartition": "partition", "find": "rfind",
    "append": "extend", "update": "setdefault", "index": "count", "upper": "lower",
    "heappop": "heappush", "popleft": "pop", "sorted": "list", "reversed": "list",
    "values": "keys", "union": "intersection", "isdigit": "isalnum", "strip": "lstrip",
}  # fmt: skip


def slips(source: ParsedFile) -> Iterator[SourceEdit]:
    """Every slip inside the functions of a file."""
    for name, function in functions(source.tree):
        for statement in function.body:
            if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                yield from _in_statement(source, name, function, statement)


def _in_statement(
    source: ParsedFile, name: str, function: Function, statement: ast.stmt
) -> Iterator[SourceEdit]:
    seen: set[tuple[int, int, str]] = set()
    for edit in itertools.chain(
        _in_expressions(source, function, statement), _statements(source, function, statement)
    ):
        key = (edit.start, edit.end, edit.text)
        if key not in seen:
            seen.add(key)
            line = source.text.count("\n", 0, edit.start) + 1
            yield SourceEdit(source.path, *key, edit.operator, name, line)


def _in_expressions(source: ParsedFile, function: Function, top: ast.stmt) -> Iterator[SourceEdit]:
    # What an exception says is nobody's contract.
    said = {
        id(one) for node in ast.walk(top) if isinstance(node, ast.Raise) for one in ast.walk(node)
    }
    for node in ast.walk(top):
        if id(node) in said:
            continue
        match node:
            case ast.Compare():
                yield from _comparison(source, node)
            case ast.BinOp():
                yield from _binary(source, node)
            case ast.BoolOp():
                yield from _logic(source, node)
            case ast.UnaryOp(op=ast.Not()):
                start, end = source.span(node)
                yield _edit(source, start, end, source.code(node.operand), "lost not")
            case ast.Constant():
                yield from _constant(source, node)
            case ast.Call():
                yield from _call(source, node)
            case ast.Name(ctx=ast.Load()):
                yield from _name(source, node, function)
            case ast.IfExp():
                start, end = source.span(node)
                body, test, other = map(source.code, (node.body, node.test, node.orelse))
                yield _edit(source, start, end, f"{other} if {test} else {body}", "swapped arms")
            case _:
                pass


def _edit(source: ParsedFile, start: int, end: int, text: str, operator: str) -> SourceEdit:
    return SourceEdit(source.path, start, end, text, operator)


def _between(
    source: ParsedFile, left: ast.expr, right: ast.expr, *, new: str, what: str
) -> Iterator[SourceEdit]:
    """The operator between two operands replaced; nothing where a bracket or a line ends there."""
    start, end = source.span(left)[1], source.span(right)[0]
    gap = source.text[start:end]
    word = gap.strip()
    if word and gap.count(" ") >= 2 and not set(word) & set("()\n#"):
        at = start + gap.index(word)
        yield _edit(source, at, at + len(word), new, what)


def _comparison(source: ParsedFile, node: ast.Compare) -> Iterator[SourceEdit]:
    operands = [node.left, *node.comparators]
    for (left, right), op in zip(itertools.pairwise(operands), node.ops, strict=True):
        for new in _COMPARE[type(op)]:
            what = "boundary" if new.rstrip("=") == _sign(op) else "comparison"
            yield from _between(source, left, right, new=new, what=what)


def _sign(op: ast.cmpop) -> str:
    return _COMPARE_SIGNS.get(type(op), "none")


def _binary(source: ParsedFile, node: ast.BinOp) -> Iterator[SourceEdit]:
    new = _ARITHMETIC.get(type(node.op))
    sides = (node.left, node.right)
    texts = (ast.JoinedStr, ast.List, ast.Tuple)
    if new is None or any(isinstance(one, texts) or _is_text(one) for one in sides):
        return
    yield from _between(source, node.left, node.right, new=new, what="arithmetic")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def _logic(source: ParsedFile, node: ast.BoolOp) -> Iterator[SourceEdit]:
    word = "or" if isinstance(node.op, ast.And) else "and"
    for left, right in itertools.pairwise(node.values):
        yield from _between(source, left, right, new=word, what="and for or")
    if len(node.values) == 2:
        start, end = source.span(node)
        for kept in node.values:
            yield _edit(source, start, end, source.code(kept), "lost condition")


def _constant(source: ParsedFile, node: ast.Constant) -> Iterator[SourceEdit]:
    start, end = source.span(node)
    if isinstance(node.value, bool):
        yield _edit(source, start, end, str(not node.value), "constant")
    elif isinstance(node.value, int) and abs(node.value) < 10_000:
        yield _edit(source, start, end, str(node.value + 1), "constant")
        if node.value > 0:
            yield _edit(source, start, end, str(node.value - 1), "constant")


def _call(source: ParsedFile, node: ast.Call) -> Iterator[SourceEdit]:
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    start, end = source.span(called)
    if name in _NEIGHBOURS:
        yield _edit(source, end - len(name), end, _NEIGHBOURS[name], "neighbour")
    plain = [one for one in node.args if not isinstance(one, ast.Starred)]
    if len(plain) == len(node.args) >= 2 and name not in ("min", "max", "isinstance", "zip"):
        first, second = plain[:2]
        (a, b), (c, d) = source.span(first), source.span(second)
        swapped = source.code(second) + source.text[b:c] + source.code(first)
        yield _edit(source, a, d, swapped, "swapped arguments")
    for keyword in node.keywords:
        low, high = source.span(keyword)
        before = source.text[start:low].rstrip()
        if keyword.arg and before.endswith(","):
            yield _edit(source, start + len(before) - 1, high, "", "lost keyword")


def _name(source: ParsedFile, node: ast.Name, function: Function) -> Iterator[SourceEdit]:
    spec = function.args
    names = [one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    others = [name for name in names if name not in ("self", "cls", node.id)]
    if node.id in names and node.id not in ("self", "cls") and others:
        start, end = source.span(node)
        near = others[(names.index(node.id)) % len(others)]
        yield _edit(source, start, end, near, "mixed-up names")


def _statements(source: ParsedFile, function: Function, top: ast.stmt) -> Iterator[SourceEdit]:
    blocks = [function.body] if top in function.body else []
    for node in ast.walk(top):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                blocks.append(block)  # pyright: ignore[reportUnknownArgumentType]
    for block in blocks:
        for node in block:
            inside = block is not function.body or node is top
            alone = len([one for one in block if not _is_docstring(one)]) == 1
            if inside and not alone:
                yield from _lost(source, node)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _lost(source: ParsedFile, node: ast.stmt) -> Iterator[SourceEdit]:
    """Removal of a guard, an update or a call whose result nobody takes."""
    start, end = whole(source, node)
    match node:
        case ast.If(orelse=[]) if isinstance(node.body[-1], (ast.Raise, ast.Return, ast.Continue)):
            yield _edit(source, start, end, "", "lost guard")
        case ast.If(orelse=[]):
            yield _edit(source, start, end, "", "lost branch")
        case ast.AugAssign() | ast.Delete():
            yield _edit(source, start, end, "", "lost update")
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield _edit(source, start, end, "", "lost update")
        case ast.Expr(value=ast.Call()):
            yield _edit(source, start, end, "", "lost call")
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if any(
            isinstance(one, ast.Name) and one.id == name for one in ast.walk(value)
        ):
            yield _edit(source, start, end, "", "lost update")
        case _:
            pass
