"""The modules of a verifier's own folder or package that its module imports, read, never run.

Covered: absolute and relative imports, submodules, imports inside functions, modules that those
import in turn.
Not covered: other packages, modules named at run time, import paths that the source changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from unhack.audit.subject import Source
from unhack.audit.subjects.target import Module
from unhack.core.errors import UsageError

_MOST, _LARGEST = 12, 300_000
"""Modules, and bytes of one, that are read."""


def source_of(module: Module, *, entry: str) -> Source:
    """The source of a module with those that it imports. Raises TaskError."""
    inner = tuple(Source(str(one.path), one.text) for one in imported_modules(module))
    return Source(str(module.path), module.text, entry=entry, imported=inner)


def imported_modules(module: Module) -> tuple[Module, ...]:
    """The modules that are imported from the entry's module on, the nearest first; those that
    cannot be parsed are left out."""
    found: dict[Path, Module] = {module.path: module}
    waiting = [module]
    while waiting and len(found) <= _MOST:
        importing = waiting.pop(0)
        for path in _paths(importing):
            if path in found or path.stat().st_size > _LARGEST:
                continue
            one = Module(path, ".".join(path.relative_to(module.root).parts), module.root)
            if _parses(one):
                found[path] = one
                waiting.append(one)
    return tuple(found.values())[1 : _MOST + 1]


def _parses(module: Module) -> bool:
    try:
        return bool(module.tree.body)
    except (UsageError, ValueError, RecursionError):
        return False


def _paths(module: Module) -> Iterator[Path]:
    """Files of the modules that a module imports, as far as they stand below its root; of an
    installed one, in its own package."""
    top = module.path.relative_to(module.root).parts[0]
    for parts in _names(module):
        if module.installed and parts[:1] != (top,):
            continue
        place = module.root.joinpath(*parts)
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file() and path != module.path:
                yield path.resolve()


def _names(module: Module) -> Iterator[tuple[str, ...]]:
    """Dotted names, as parts, that the module's imports may mean."""
    package = module.path.relative_to(module.root).parts[:-1]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (tuple(item.name.split(".")) for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            if node.level > len(package) + 1:
                continue
            base = (*base, *(node.module.split(".") if node.module else ()))
            if base:
                yield base
            yield from ((*base, item.name) for item in node.names if item.name != "*")


def file_names_in(module: Module) -> Iterator[str]:
    """Names of files that a module imports, or whose path stands in it as text."""
    for node in ast.walk(module.tree):
        tops: list[str] = []
        if isinstance(node, ast.Import):
            tops = [item.name.partition(".")[0] for item in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            tops = [node.module.partition(".")[0]]
        for top in tops:
            yield from (top, f"{top}.py")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from node.value.strip("/").split("/")[:20]
