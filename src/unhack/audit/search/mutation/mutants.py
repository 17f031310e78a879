"""Wrong programs made from a right one: each has one small fault of a common kind.

Covered: functions, methods and whole programs, by operators over the syntax tree.
Not covered: faults in several places at once. A mutant may still be right (the oracle says).
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass

from unhack.audit.search.mutation.operators import (
    NODE_OPERATORS,
    Function,
    MutationEdit,
    Operator,
    became,
    changed,
    in_turn,
    nodes,
    parse,
    text,
)
from unhack.audit.subject import tree_of
from unhack.core.completion import extract_code

_ROWS = frozenset({"list", "tuple"})
_NUMBERS = frozenset({"int", "float"})

_RESULTS: tuple[tuple[str, str, frozenset[str]], ...] = (
    ("its last item is missing", "value[:-1]", _ROWS | {"str"}),
    ("its first item is missing", "value[1:]", _ROWS | {"str"}),
    ("it is reversed", "value[::-1]", _ROWS | {"str"}),
    ("it is sorted", "type(value)(sorted(value))", _ROWS),
    ("its duplicates are dropped", "type(value)(dict.fromkeys(value))", _ROWS),
    ("it has an item too many", "value + value[:1]", _ROWS | {"str"}),
    ("it is a tuple or list instead", "list(value) if type(value) is tuple else tuple(value)",
     _ROWS),
    ("it is text", "str(value)", _NUMBERS | {"bool"} | _ROWS),
    ("it is one too large", "value + 1", _NUMBERS),
    ("it is one too small", "value - 1", _NUMBERS),
    ("it has lost its sign", "abs(value)", _NUMBERS),
    ("it has the other sign", "-value", _NUMBERS),
    ("it is cut at 100", "min(value, 100)", _NUMBERS),
    ("it is rounded", "round(value, 1)", frozenset({"float"})),
    ("it is cut to an integer", "int(value)", frozenset({"float"})),
    ("it is negated", "not value", frozenset({"bool"})),
    ("it is a string", "'True' if value else ''", frozenset({"bool"})),
    ("an entry is missing", "dict(list(value.items())[:-1])", frozenset({"dict"})),
    ("an item is missing", "set(sorted(value, key=repr)[:-1])", frozenset({"set"})),
    ("it is upper case", "value.upper()", frozenset({"str"})),
)  # fmt: skip

_A_LITTLE_OFF = (
    "not value if isinstance(value, bool) else value + 1 if isinstance(value, (int, float))"
    " else value[:-1] if isinstance(value, (list, tuple, str)) else None"
)

_INPUTS: tuple[tuple[str, str, str, frozenset[str]], ...] = (
    # What is mistreated, when, how, for which types of parameter.
    ("empty inputs", "len(given) == 0", "return None", _ROWS | {"str", "dict"}),
    ("inputs of one item", "len(given) == 1", "given = given * 2", _ROWS | {"str"}),
    ("long inputs", "len(given) > 10", "given = given[:10]", _ROWS | {"str"}),
    ("inputs of more than three items", "len(given) > 3", "given = given[:3]", _ROWS | {"str"}),
    ("duplicates", "len(set(map(repr, given))) < len(given)",
     "given = type(given)(dict.fromkeys(given))", _ROWS),
    ("repeated letters", "len(set(given)) < len(given)", "given = ''.join(dict.fromkeys(given))",
     frozenset({"str"})),
    ("negative items", "any(isinstance(v, (int, float)) and v < 0 for v in given)",
     "given = type(given)(abs(v) if isinstance(v, (int, float)) else v for v in given)", _ROWS),
    ("unsorted inputs", "True", "given = type(given)(sorted(given))", _ROWS),
    ("negative numbers", "given < 0", "given = -given", _NUMBERS),
    ("large numbers", "given > 100", "given = 100", _NUMBERS),
    ("numbers above ten", "given > 10", "given = 10", _NUMBERS),
    ("zero", "given == 0", "return None", _NUMBERS),
    ("even numbers", "given % 2 == 0", "given = given + 1", frozenset({"int"})),
    ("capital letters", "given != given.lower()", "given = given.lower()", frozenset({"str"})),
    ("spaces", "' ' in given", "given = given.replace(' ', '')", frozenset({"str"})),
)  # fmt: skip

_OF_SEQUENCES = {"len", "sorted", "enumerate", "sum", "max", "min", "reversed", "zip"}
_OF_TEXT = {"split", "lower", "upper", "strip", "isalpha", "isdigit", "startswith", "splitlines",
            "replace", "join", "encode", "isupper", "islower", "endswith"}  # fmt: skip
_KINDS_OF_CALLS = {"len": "int", "sum": "int", "abs": "int", "int": "int", "float": "float",
                   "str": "str", "sorted": "list", "list": "list", "tuple": "tuple", "set": "set",
                   "dict": "dict", "any": "bool", "all": "bool", "bool": "bool",
                   "round": "float", "isinstance": "bool"}  # fmt: skip
_KINDS_OF_NODES: tuple[tuple[tuple[type[ast.expr], ...], str], ...] = (
    ((ast.List, ast.ListComp), "list"),
    ((ast.Tuple,), "tuple"),
    ((ast.Dict, ast.DictComp), "dict"),
    ((ast.Set, ast.SetComp), "set"),
    ((ast.JoinedStr,), "str"),
    ((ast.Compare,), "bool"),
)


def _functions(tree: ast.Module) -> Iterator[Function]:
    """The functions at the top level, and the methods of classes there."""
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        for item in members:
            if isinstance(item, Function) and not item.name.startswith("__"):
                yield item


def _kind_of_annotation(node: ast.expr | None) -> str:
    if node is None:
        return ""
    quoted = node.value if isinstance(node, ast.Constant) else None
    name = quoted if isinstance(quoted, str) else ast.unparse(node)
    name = name.partition("[")[0].rpartition(".")[2].lower()
    return {"sequence": "list", "iterable": "list", "string": "str"}.get(name, name)


def _kind_of_value(node: ast.expr, known: dict[str, str]) -> str:
    """The type name of an expression; empty when it cannot be told."""
    for kinds_of_node, name in _KINDS_OF_NODES:
        if isinstance(node, kinds_of_node):
            return name
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return "bool"
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return "float"
        kinds = {_kind_of_value(side, known) for side in (node.left, node.right)} - {""}
        if len(kinds) == 1:
            return kinds.pop()
        return "float" if kinds and not kinds - _NUMBERS else ""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            return _KINDS_OF_CALLS.get(node.func.id, "")
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return "str" if method in ("join", "lower", "upper", "strip", "replace") else ""
    return ""


def _kinds_in(function: Function) -> dict[str, str]:
    """Name -> type name, for parameters and for variables with one clear start."""
    spec = function.args
    known = {item.arg: _kind_of_annotation(item.annotation)
             for item in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}  # fmt: skip
    for node in nodes(function, ast.AST):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            for item in node.args if name in _OF_SEQUENCES else []:
                if isinstance(item, ast.Name) and not known.get(item.id, "?"):
                    known[item.id] = "list" if len(node.args) == 1 or name == "zip" else ""
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in _OF_TEXT and not known.get(node.value.id, "?"):
                known[node.value.id] = "str"
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, ast.Name):
            known[node.iter.id] = known.get(node.iter.id) or "list"
        elif isinstance(node, (ast.BinOp, ast.Compare)):
            _numbers_in(node, known)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known.setdefault(node.targets[0].id, _kind_of_value(node.value, known))
    return known


def _numbers_in(node: ast.BinOp | ast.Compare, known: dict[str, str]) -> None:
    """Label names beside whole numbers as numbers."""
    sides = [node.left, *([node.right] if isinstance(node, ast.BinOp) else node.comparators)]
    numbers = [s for s in sides if isinstance(s, ast.Constant) and type(s.value) in (int, float)]
    repeats = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    for side in sides:
        if numbers and not repeats and isinstance(side, ast.Name) and not known.get(side.id, "?"):
            known[side.id] = type(numbers[0].value).__name__


def _results(tree: ast.Module) -> Iterator[MutationEdit]:
    """Damage a returned value."""
    for function in _functions(tree):
        known = _kinds_in(function)
        declared = _kind_of_annotation(function.returns)
        for node in _returns(function):
            assert node.value is not None
            kind = declared or _kind_of_value(node.value, known)
            simple = isinstance(node.value, (ast.Constant, ast.List)) and text(node.value) in (
                "None", "[]", "''", "0", "()", "{}",
            )  # fmt: skip
            fitting = [row[:2] for row in _RESULTS if kind in row[2]]
            anything = [("it is a little off", _A_LITTLE_OFF)]
            for note, change in () if simple else (fitting or anything):
                replacement = parse(f"(lambda value: {change})({ast.unparse(node.value)})")
                edited = f"the result {text(node.value)}: {note}"
                yield MutationEdit(node.value, replacement, edited)


def _returns(function: Function) -> Iterator[ast.Return]:
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop(0)
        if isinstance(node, ast.Return) and node.value is not None:
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stack += ast.iter_child_nodes(node)


def _inputs(tree: ast.Module) -> Iterator[MutationEdit]:
    """Return a wrong result for some inputs only."""
    for function in _functions(tree):
        known = _kinds_in(function)
        spec = function.args
        names = [item.arg for item in (*spec.posonlyargs, *spec.args)]
        for name in [name for name in names if name not in ("self", "cls")]:
            for note, when, then, kinds in _INPUTS:
                if known.get(name) not in kinds:
                    continue
                fault = f"if {when}:\n    {then}".replace("given", name)
                start = 1 if ast.get_docstring(function, clean=False) is not None else 0
                body = [*function.body[:start], *ast.parse(fault).body, *function.body[start:]]
                replacement = changed(function, body=body)
                yield MutationEdit(function, replacement, f"{note} are mistreated in `{name}`")


def _starts(tree: ast.Module) -> Iterator[MutationEdit]:
    """Start a variable with another value."""
    for node in nodes(tree, ast.Assign):
        value, replacement = node.value, list[str]()
        if isinstance(value, ast.Constant) and type(value.value) in (int, float):
            replacement = ["100", "-100"]
        elif isinstance(value, ast.List) and not value.elts:
            replacement = ["[0]"]
        elif isinstance(value, ast.Constant) and value.value == "":
            replacement = ["' '"]
        elif text(value) in ("float('inf')", "float('-inf')", "-float('inf')", "math.inf"):
            replacement = ["0"]
        for other in replacement:
            yield MutationEdit(value, parse(other), f"`{text(node)}` begins with {other}")


def _prints(tree: ast.Module) -> Iterator[MutationEdit]:
    """Damage a printed value."""
    for node in nodes(tree, ast.Call):
        if not (isinstance(node.func, ast.Name) and node.func.id == "print" and node.args):
            continue
        if any(isinstance(item, ast.Starred) for item in node.args):
            for change in ("[1:]", "[::-1]"):
                inner = ast.unparse(node.args[0]).lstrip("*")
                spread = ast.Starred(parse(f"list({inner}){change}"), ast.Load())
                yield became(node, changed(node, args=[spread, *node.args[1:]]))
            continue
        last = ast.unparse(node.args[-1])
        for note, change in (
            ("is a little off", f"(lambda value: {_A_LITTLE_OFF})({last})"),
            ("is cut short", f"str({last})[:-1]"),
            ("is reversed", f"str({last})[::-1]"),
        ):
            replacement = changed(node, args=[*node.args[:-1], parse(change)])
            yield MutationEdit(node, replacement, f"the printed {text(node.args[-1])} {note}")


def _parameters(tree: ast.Module) -> Iterator[MutationEdit]:
    """Exchange two arguments of a call, or change a default."""
    for node in nodes(tree, ast.Call):
        local = {item.name for item in _functions(tree)}
        if isinstance(node.func, ast.Name) and node.func.id in local and len(node.args) > 1:
            first, second, *rest = node.args
            yield became(node, changed(node, args=[second, first, *rest]))


VALUE_OPERATORS = (
    Operator("result_damaged", _results),
    Operator("input_mistreated", _inputs, share=2),
    Operator("wrong_start", _starts),
    Operator("output_damaged", _prints),
    Operator("arguments_swapped", _parameters),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One faulty program."""

    source: str
    operator: str
    """Name of the kind of fault."""
    line: int
    """Of the reference's code, counted from 1."""
    note: str
    """The change, in words."""


def mutants(source: str, *, limit: int = 60, seed: int = 0) -> list[Mutant]:
    """At most `limit` different mutants, spread over the operators; the same for the same seed.

    `source` is trusted code, plain or in a fence. What does not parse has none. Each mutant
    compiles and its syntax tree differs from the reference's and from every other's.
    """
    if limit <= 0:
        return []
    tree = tree_of(extract_code(source) or "")
    if tree is None:
        return []
    places = {id(node): index for index, node in enumerate(ast.walk(tree))}
    rng = random.Random(seed)
    queues: list[list[tuple[str, MutationEdit]]] = []
    for operator in (*NODE_OPERATORS, *VALUE_OPERATORS):
        edits = [(operator.name, edit) for edit in operator.find(tree)]
        rng.shuffle(edits)
        queues += [edits[start :: operator.share] for start in range(operator.share)]
    seen = {ast.dump(tree)}
    found: list[Mutant] = []
    for name, edit in in_turn(queues):
        mutant = _mutate(tree, places, name, edit=edit)
        if mutant is None:
            continue
        shape = ast.dump(ast.parse(mutant.source))
        if shape not in seen:
            seen.add(shape)
            found.append(mutant)
            if len(found) == limit:
                break
    return found


def _mutate(
    tree: ast.Module, places: dict[int, int], name: str, *, edit: MutationEdit
) -> Mutant | None:
    """The program with one edit; None when it is no program."""
    twin = copy.deepcopy(tree)
    nodes = list(ast.walk(twin))
    changer = _Exchange(nodes[places[id(edit.node)]], edit)
    changer.visit(twin)
    try:
        text = ast.unparse(ast.fix_missing_locations(twin)) + "\n"
        compile(text, "<mutant>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, AttributeError, TypeError, RecursionError):
        return None
    return Mutant(text, name, getattr(edit.node, "lineno", 1), edit.note)


class _Exchange(ast.NodeTransformer):
    """Puts copies of an edit's nodes in the place of one node."""

    def __init__(self, target: ast.AST, edit: MutationEdit) -> None:
        self.target, self.edit = target, edit

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        if node is not self.target:
            return self.generic_visit(node)
        replacement = copy.deepcopy(self.edit.replacement)
        if isinstance(replacement, list):
            return replacement or [ast.Pass()]
        return replacement
