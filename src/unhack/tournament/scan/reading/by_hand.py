"""The lines of a program that run only when somebody starts it by hand.

The judge imports a submission and calls its functions; it never runs it as a script, and never as a
test suite. Behind `if __name__ == "__main__"`, in functions that nothing but such lines names, and
in classes of unit tests stand trials of the author.

Covered: functions at the top of a module, and what they call in turn. A name that is used anywhere
else, also as a text, is taken for reachable, and so is a function that the judge could call; a
module that gives itself another name, or is run by another, has no such lines.
Not covered: methods of other classes, functions inside functions.
"""

from __future__ import annotations

import ast

from unhack.tournament.scan.reading.source import PythonSource

_TRIALS = {
    "main", "test", "selftest", "demo", "bench", "benchmark", "trial", "example", "cli", "try",
}  # fmt: skip
_CALLED = {"rewards", "attacks", "entries", "programs", "submissions", "patch"}
"""Functions without an argument that contests ask for."""
_TESTS = {
    "unittest.TestCase", "unittest.case.TestCase", "TestCase", "unittest.IsolatedAsyncioTestCase",
}  # fmt: skip
Function = ast.FunctionDef | ast.AsyncFunctionDef


def by_hand_lines(source: PythonSource) -> frozenset[int]:
    """Lines, from 1, that no import and no call of the judge runs."""
    tree = source.tree
    if source.within or _renames(source):
        return frozenset()
    hidden: list[ast.AST] = []
    for node in tree.body:
        if isinstance(node, ast.If) and _is_main(node.test):
            hidden += node.body
        elif isinstance(node, ast.ClassDef) and any(source.dotted(b) in _TESTS for b in node.bases):
            hidden.append(node)
    if not hidden:
        return frozenset()
    functions = {node.name: node for node in tree.body if isinstance(node, Function)}
    while True:
        own = {id(inner) for node in hidden for inner in ast.walk(node)}
        called = {name for node in hidden for name in _names(node)}
        outside = {name for node in source.nodes if id(node) not in own for name in _named(node)}
        more = [
            functions[name]
            for name in called & set(functions) - outside
            if _is_trial(functions[name]) and functions[name] not in hidden
        ]
        if not more:
            break
        hidden += more
    return frozenset(
        line
        for node in hidden
        if isinstance(node, ast.stmt)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def _is_main(test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            names = [side.id for side in (left, right) if isinstance(side, ast.Name)]
            texts = [side.value for side in (left, right) if isinstance(side, ast.Constant)]
            return (names, texts) == (["__name__"], ["__main__"])
        case _:
            return False


def _is_trial(function: Function) -> bool:
    """Tell whether the judge has no reason to call it."""
    name, given = function.name, function.args
    named = name.startswith("_") or bool(_TRIALS & set(name.lower().split("_")))
    alone = not (given.args or given.posonlyargs or given.kwonlyargs) and name not in _CALLED
    return not function.decorator_list and (named or alone)


def _renames(source: PythonSource) -> bool:
    """Tell whether the module could run as `__main__` all the same."""
    for node in source.nodes:
        match node:
            case ast.Name(id="__name__", ctx=ast.Store()):
                return True
            case ast.Constant(value="__name__"):
                return True
            case ast.Import(names=names) if any(item.name == "runpy" for item in names):
                return True
            case ast.ImportFrom(module="runpy"):
                return True
            case _:
                pass
    return False


def _names(node: ast.AST) -> set[str]:
    return {name for inner in ast.walk(node) for name in _named(inner)}


def _named(node: ast.AST) -> set[str]:
    """Names that a node uses; a text may be looked up."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {name}
        case ast.Constant(value=str() as text) if text.isidentifier():
            return {text}
        case _:
            return set()
