"""Shapes in which a function wants the right answer, and settings that its constructor reads.

    shaped = next(shapes(target, problem))      the same problem, its answer in another shape

Covered: answers in lists, in dicts by the keys that the source looks up, as numbers, as JSON;
`data_source` by the names that the source compares it with; settings by their defaults in the
package.
Not covered: shapes that only a schema elsewhere tells.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from unhack.audit.static_analysis.labels import lookups
from unhack.audit.subject import AuditProblem
from unhack.audit.subjects.parameter_names import ANSWER, likely_role
from unhack.audit.subjects.target import Module, Target
from unhack.core.errors import UsageError

_KEYS = ("target", "answer", "ground_truth", "answers")
_CONFIGS = re.compile(r"(?:^|_)(?:args?|argv|conf|config|configs|cfg|settings?|options?|opts?)$")
_MAX_SOURCES, _MAX_FILES = 12, 4000
_MISSING = object()


def shapes(target: Target, problem: AuditProblem) -> Iterator[AuditProblem]:
    """The problem with its answer in other shapes, the likeliest first; at most some thirty."""
    answer = problem.answer
    if answer is None:
        return
    names = {name for name, value in problem.extra.items() if value == answer} | {"answer"}
    tree = target.defined_in.tree
    for source in _data_sources(tree):
        yield replace(problem, extra={**problem.extra, "data_source": source})
    keys = tuple(dict.fromkeys(_keys(tree)))[:6]
    for value in _values(answer, keys):
        yield replace(problem, extra={**problem.extra, **dict.fromkeys(names, value)})


def _values(answer: str, keys: tuple[str, ...]) -> Iterator[Any]:
    if keys:
        yield {key: [answer] for key in keys}
        yield dict.fromkeys(keys, answer)
    yield [answer]
    for key in _KEYS:
        yield {key: [answer]}
        yield {key: answer}
    yield json.dumps([answer])
    yield json.dumps({"answer": answer})
    yield rf"\boxed{{{answer}}}"
    yield f"#### {answer}"
    yield f"<answer>{answer}</answer>"
    for kind in (int, float):
        try:
            yield kind(answer)
        except ValueError:
            yield answer


def _keys(tree: ast.Module) -> Iterator[str]:
    """Text keys that the source looks up in what may be an answer."""
    for owner, key in lookups(ast.walk(tree)):
        name = _last(owner)
        if name in ANSWER or likely_role(name) == "answer":
            yield key


def _data_sources(tree: ast.Module) -> list[str]:
    """Texts that `data_source` is compared with."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and "data_source" in _names(node.left):
            sides = [item for side in node.comparators for item in ast.walk(side)]
            texts = [item.value for item in sides if isinstance(item, ast.Constant)]
            found += [text for text in texts if isinstance(text, str)]
    return list(dict.fromkeys(found))[:_MAX_SOURCES]


def _names(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def settings_of(target: Target) -> dict[str, Any]:
    """Values that the class of a target reads from the configuration it is made with, as far as
    the source of its package names their defaults."""
    if target.owner is None:
        return {}
    wanted = {
        node.attr
        for node in ast.walk(target.owner)
        if isinstance(node, ast.Attribute) and _CONFIGS.search(_last(node.value))
    }
    found: dict[str, Any] = {}
    for module in _package(target.defined_in) if wanted else ():
        text = module.text
        if any(name in text for name in wanted - set(found)):
            found = {**_defaults(module, wanted), **found}
        if wanted <= set(found):
            break
    return found


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _package(module: Module) -> Iterator[Module]:
    """The module itself, then what else its package holds."""
    yield module
    parts = module.name.split(".")
    files = sorted(Path(module.root, parts[0]).rglob("*.py")) if len(parts) > 1 else []
    for path in files[:_MAX_FILES]:
        yield Module(path, path.stem, module.root)


def _defaults(module: Module, wanted: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        nodes = list(ast.walk(module.tree))
    except UsageError:
        return found
    for node in nodes:
        name, value = "", _MISSING
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name, value = node.target.id, _literal(node.value)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = str(node.args[0].value).lstrip("-").replace("-", "_")
            value = _default_of(node)
        if name in wanted and value is not _MISSING and value is not None:
            found.setdefault(name, value)
    return found


def _literal(node: ast.expr | None) -> Any:
    if isinstance(node, ast.Call):
        return _default_of(node)
    try:
        return ast.literal_eval(node) if node is not None else _MISSING
    except (ValueError, TypeError, SyntaxError):
        return _MISSING


def _default_of(call: ast.Call) -> Any:
    """`field(default=...)` and `add_argument("--name", default=...)`."""
    given = next((item.value for item in call.keywords if item.arg == "default"), None)
    return _MISSING if given is None or isinstance(given, ast.Call) else _literal(given)
