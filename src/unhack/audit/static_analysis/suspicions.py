"""Suspicions about a verifier's own source: the flaw, its line, and hints for attacks.

Read from the syntax tree and from data flow; the source is never run. A suspicion is
no finding: only a witness that the oracle calls wrong makes it one.

Covered: a file in Python, and the modules of its own package that it imports (`Source.imported`).
Not covered: values that cross from one module to another, and code made at run time.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from unhack.audit.static_analysis.code import code_hits
from unhack.audit.static_analysis.credit import credit_hits
from unhack.audit.static_analysis.flow import Flow, Scope
from unhack.audit.static_analysis.labels import name_of_call
from unhack.audit.static_analysis.lists import list_hits
from unhack.audit.static_analysis.numbers import number_hits
from unhack.audit.static_analysis.outcome import Hit
from unhack.audit.static_analysis.text import text_hits
from unhack.audit.subject import Source, tree_of

_TIMEOUTS = frozenset({"timeout", "timeout_s", "time_limit", "seconds"})
_ALARMS = frozenset({"alarm", "setitimer", "join", "wait", "wait_for", "communicate", "get"})
_RULES = (text_hits, list_hits, number_hits, credit_hits, code_hits)
_SHOWN, _LONGEST = 160, 200


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A suspicious line."""

    flaw: str
    """Id of the flaw's class in `unhack.audit.report.flaws`."""
    line: int
    """Counted from 1 in the file that the source comes from."""
    code: str
    """That line, without its indentation."""
    why: str
    """One clause for people."""
    hints: tuple[str, ...] = ()
    """Hints for attacks: a tolerance, a pattern, the names of expected values, words."""
    path: str = ""
    """The file."""


@dataclass(frozen=True)
class Site:
    """A suspicion with the node of the syntax tree that it is about."""

    suspicion: Suspicion
    node: ast.AST
    scope: Scope


@functools.lru_cache(maxsize=64)
def suspicions_of(source: Source | None) -> tuple[Suspicion, ...]:
    """Every suspicion by line, then those of imported modules; none for a source that is not
    Python, or without one."""
    every = () if source is None else (source, *source.imported)
    return tuple(site.suspicion for one in every for site in sites(one))


def hints_of(source: Source | None, *flaws: str) -> list[str]:
    """The hints of the suspicions of these classes, or of any where none is named; each once."""
    found = [one for one in suspicions_of(source) if not flaws or one.flaw in flaws]
    found.sort(key=lambda one: flaws.index(one.flaw) if flaws else 0)
    return list(dict.fromkeys(hint for one in found for hint in one.hints))


def sites(source: Source) -> tuple[Site, ...]:
    """Every suspicion with its node, by line; none for a source that is not Python."""
    try:
        flow = Flow(ast.parse(source.text), source.entry)
        found = list(_sites(source, flow))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    unique: dict[tuple[str, int], Site] = {}
    for site in found:
        unique.setdefault((site.suspicion.flaw, site.suspicion.line), site)
    return tuple(sorted(unique.values(), key=lambda site: site.suspicion.line))


def _sites(source: Source, flow: Flow) -> Iterator[Site]:
    lines = source.text.splitlines()
    for scope in flow.scopes:
        for rule in _RULES:
            for hit in rule(scope):
                yield Site(_suspicion(hit, lines, source), hit.node, scope)


def _suspicion(hit: Hit, lines: list[str], source: Source) -> Suspicion:
    line = int(getattr(hit.node, "lineno", 1))
    code = lines[line - 1].strip()[:_SHOWN] if line <= len(lines) else ""
    return Suspicion(hit.flaw, line + source.first_line - 1, code, hit.why, hit.hints, source.path)


@functools.lru_cache(maxsize=64)
def constants(source: Source | None) -> tuple[str, ...]:
    """Strings and numbers of a source that may be accepted values, keywords or tags; none without
    a source.

    Without docstrings, keys, patterns and what is printed or raised; in order, each once, those of
    imported modules last.
    """
    every = () if source is None else (source, *source.imported)
    return tuple(dict.fromkeys(text for one in every for text in _constants_of(one)))


def _constants_of(source: Source) -> tuple[str, ...]:
    tree = tree_of(source.text)
    if tree is None:
        return ()
    left_out = {id(node) for parent in ast.walk(tree) for node in _not_values(parent)}
    kept = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and id(node) not in left_out
        and isinstance(node.value, (str, int, float))
        and not isinstance(node.value, bool)
    ]
    kept.sort(key=lambda node: (node.lineno, node.col_offset))
    found = dict.fromkeys(_as_text(node.value) for node in kept)
    return tuple(text for text in found if text.strip() and len(text) <= _LONGEST)


def longest_timeout(source: Source) -> float:
    """The greatest number of seconds that a source sets as a time-out; 0 where it sets none."""
    tree = tree_of(source.text)
    found = [0.0]
    for node in ast.walk(tree) if tree is not None else ():
        given: list[ast.expr | None] = []
        if isinstance(node, ast.keyword) and node.arg in _TIMEOUTS:
            given.append(node.value)
        elif isinstance(node, ast.Call) and name_of_call(node) in _ALARMS:
            given += node.args
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {one.id.lower() for one in targets if isinstance(one, ast.Name)}
            given += [node.value] if any("timeout" in name for name in names) else []
        elif isinstance(node, ast.arguments):
            named = [*node.posonlyargs, *node.args][-len(node.defaults) :] if node.defaults else []
            pairs = [*zip(named, node.defaults, strict=True)]
            given += [value for one, value in pairs if "timeout" in one.arg.lower()]
        values = (one.value for one in given if isinstance(one, ast.Constant))
        found += [float(one) for one in values if isinstance(one, (int, float))]
    return max(found)


def _as_text(value: object) -> str:
    try:
        return "" if value == "__main__" else str(value)
    except ValueError:  # an integer of more digits than Python prints
        return ""


_NO_VALUES = frozenset(
    {"print", "open", "compile", "search", "match", "fullmatch", "findall", "finditer", "sub"}
    | {"getLogger", "debug", "info", "warning", "error", "exception", "get", "getattr", "hasattr"}
)


def _not_values(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Constant() as text):
            yield text
        case ast.Subscript():
            yield from ast.walk(node.slice)
        case ast.Raise() | ast.Import() | ast.ImportFrom():
            yield from ast.walk(node)
        case ast.Dict():
            yield from (key for key in node.keys if key is not None)
        case ast.Call() if name_of_call(node) in _NO_VALUES:
            for one in node.args:
                yield from ast.walk(one)
        case ast.arg() if node.annotation is not None:
            yield from ast.walk(node.annotation)
        case _:
            pass
