"""Reward functions that are defined within another function, as in verifiers' `load_environment`.

    find_function("gsm8k.py:load_environment.correct_answer")     also "gsm8k.py:correct_answer"

The source that runs is the file's own with the outer function emptied: what the inner one needs of
it stays at its line, parameters have their defaults. So a line of a finding is one of the file.

Covered: functions in functions of a module, with what they use of the statements before them.
Not covered: functions in methods; outer parameters without a default, which are None.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.subjects.parameter_names import COMPLETION
from unhack.audit.subjects.target import Function, Module, Target, find_target, module_of
from unhack.core.errors import UnknownNameError, UsageError


def find_function(text: str) -> tuple[Target, str]:
    """The target that `text` names, and the source that runs in place of its file's; empty for the
    file's own. Raises what `find_target` does."""
    module, entry = module_of(text)
    found = [(outer, inner) for outer, inner in _nested(module) if _names(entry, outer, inner)]
    try:
        target = find_target(text)
        function = target.inner or target.function
        if entry or not found or _takes_completion(function) or target.owner is not None:
            return target, ""
    except UnknownNameError:
        if not found:
            raise
    if not entry and len(found) > 1:  # one that another calls helps it
        used = {one.id for _, at in found for one in ast.walk(at) if isinstance(one, ast.Name)}
        found = [pair for pair in found if pair[1].name not in used] or found
    if not entry and len(found) > 1:
        named = ", ".join(f"{module.path.name}:{outer.name}.{inner.name}" for outer, inner in found)
        raise UsageError(f"{text}: which function gives the score? Name one of {named}")
    outer, inner = found[0]
    source = _lifted(module.text, outer, inner)
    own = Module(module.path, module.name, module.root)
    own.__dict__["text"] = source  # what runs is what is read
    return Target(own, inner.name, inner, own), source


def _nested(module: Module) -> Iterator[tuple[Function, Function]]:
    """(outer, inner) for functions that take a completion, within functions of the module."""
    for outer in module.tree.body:
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for inner in outer.body:
                if isinstance(inner, Function) and _takes_completion(inner):
                    yield outer, inner


def _takes_completion(function: Function | None) -> bool:
    if function is None:
        return True
    named = {item.arg for item in (*function.args.args, *function.args.kwonlyargs)}
    return bool(named & COMPLETION)


def _names(entry: str, outer: Function, inner: Function) -> bool:
    """Tell whether an entry, or none at all, means the inner function."""
    return entry in ("", outer.name, inner.name, f"{outer.name}.{inner.name}")


def _lifted(text: str, outer: Function, inner: Function) -> str:
    """The source with what `inner` needs of `outer` at the module's top level, at its lines."""
    lines = text.split("\n")
    kept = [""] * len(lines)
    first = min([outer.lineno, *(one.lineno for one in outer.decorator_list)]) - 1
    last = outer.end_lineno or outer.lineno
    kept[:first], kept[last:] = lines[:first], lines[last:]
    kept[outer.lineno - 1] = _defaults(outer)
    needed = {inner.name}
    for node in reversed(outer.body):
        if node.lineno <= inner.lineno and _bound(node) & needed:
            needed |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            start = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
            indent = " " * node.col_offset
            part = lines[start - 1 : node.end_lineno]
            kept[start - 1 : node.end_lineno] = [line.removeprefix(indent) for line in part]
    return "\n".join(kept)


def _defaults(outer: Function) -> str:
    """The parameters with their defaults, as assignments on one line."""
    spec = outer.args
    names = [item.arg for item in (*spec.posonlyargs, *spec.args)]
    values = [None] * (len(names) - len(spec.defaults)) + [*spec.defaults]
    pairs = [*zip(names, values, strict=True)]
    pairs += zip((item.arg for item in spec.kwonlyargs), spec.kw_defaults, strict=True)
    pairs += [(spec.kwarg.arg, ast.Dict([], []))] if spec.kwarg is not None else []
    return "; ".join(f"{name} = {ast.unparse(one) if one else None}" for name, one in pairs)


def _bound(node: ast.stmt) -> set[str]:
    """Names that a statement binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    found = {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    imported = [one for one in ast.walk(node) if isinstance(one, (ast.Import, ast.ImportFrom))]
    return found | {
        (name.asname or name.name).partition(".")[0] for one in imported for name in one.names
    }
