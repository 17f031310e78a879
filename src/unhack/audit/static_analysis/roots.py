"""Entry functions of a verifier, and its constant names.

Covered: a named function, a class with a scoring method, a scorer that returns an inner function,
and sources without a named entry. Not covered: registries filled at run time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, MutableMapping, Sequence

from unhack.audit.static_analysis.labels import (
    COMPLETION,
    Function,
    hears_completion,
    labels_of,
    name_of_call,
)


def roots(tree: ast.Module, functions: Mapping[str, Function], *, entry: str) -> list[Function]:
    """The functions that are called from outside; `entry` may be empty or name a class."""
    named = functions.get(entry)
    if named is None:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name == entry:
                methods = [item for item in node.body if isinstance(item, Function)]
                return [item for item in methods if any(labels_of(item).values())]
        used = {name_of_call(node) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        heard = [one for one in functions.values() if hears_completion(one)]
        return [one for name, one in functions.items() if name not in used] or heard
    if any(COMPLETION in labels for labels in labels_of(named).values()):
        return [named]
    inner = [item for item in ast.walk(named) if isinstance(item, Function) and item is not named]
    return [item for item in inner if any(labels_of(item).values())] or [named]


def constant_names(tree: ast.Module) -> dict[tuple[ast.AST, str], object]:
    """Names bound exactly once, to a constant, by the function or module that binds them."""
    found: dict[tuple[ast.AST, str], list[object]] = {}

    def visit(node: ast.AST, home: ast.AST) -> None:
        if isinstance(node, Function):
            spec = node.args
            positional = [*spec.posonlyargs, *spec.args]
            defaults = [*([None] * (len(positional) - len(spec.defaults))), *spec.defaults]
            pairs = [
                *zip(positional, defaults, strict=True),
                *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
            ]
            for name, default in pairs:
                value = default.value if isinstance(default, ast.Constant) else None
                found.setdefault((node, name.arg), []).append(value)
            home = node
        if isinstance(node, ast.Assign):
            value = node.value.value if isinstance(node.value, ast.Constant) else None
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault((home, target.id), []).append(value)
        elif (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and (not isinstance(parents.get(node), ast.Assign))
        ):
            found.setdefault((home, node.id), []).append(None)
        for child in ast.iter_child_nodes(node):
            parents[child] = node
            visit(child, home)

    parents: dict[ast.AST, ast.AST] = {}
    visit(tree, tree)
    return {key: values[0] for key, values in found.items() if len(values) == 1}


def module_value(body: Sequence[ast.stmt], name: str) -> ast.expr:
    """The first value that the statements bind a name to; an empty tuple when there is none."""
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if any(isinstance(to, ast.Name) and to.id == name for to in targets):
            value = getattr(node, "value", None)
            return value if isinstance(value, ast.expr) else ast.Tuple([], ast.Load())
    return ast.Tuple([], ast.Load())


def home_of(function: Function, parents: Mapping[ast.AST, ast.AST]) -> ast.AST:
    """The function or module that a function is defined in."""
    node = parents[function]
    while not isinstance(node, (Function, ast.Module)):
        node = parents[node]
    return node


def pairs_behind(over: ast.expr, nodes: Iterable[ast.AST]) -> ast.expr:
    """The `zip` or `enumerate` that a name or a list stands for; else the expression itself."""
    if isinstance(over, ast.Name):
        for node in nodes:
            targets = node.targets if isinstance(node, ast.Assign) else []
            value = getattr(node, "value", None)
            if any(isinstance(to, ast.Name) and to.id == over.id for to in targets):
                return pairs_behind(value, ()) if isinstance(value, ast.Call) else over
    if isinstance(over, ast.Call) and name_of_call(over) == "list" and over.args:
        inner = over.args[0]
        return inner if isinstance(inner, ast.Call) and name_of_call(inner) == "zip" else over
    return over


def named_lambdas(
    tree: ast.Module, parents: MutableMapping[ast.AST, ast.AST]
) -> dict[str, Function]:
    """Lambdas that are bound to a name, as functions; `parents` gets their new nodes."""
    found: dict[str, Function] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Name):
                given = ast.copy_location(ast.Return(value.body), value.body)
                made = ast.FunctionDef(target.id, value.args, [given], [])
                ast.copy_location(made, value)
                parents.update({value.body: given, given: made, made: parents[node]})
                found[target.id] = made
    return found
