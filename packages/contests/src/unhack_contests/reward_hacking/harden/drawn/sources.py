"""Files of statements taken apart: top-level names, and what of them a chosen few need."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping
from pathlib import Path

from unhack.tournament.kit import parse_python


@functools.cache
def statements(path: Path) -> Mapping[str, str]:
    """Name -> source of each function, constant and import at the top of a trusted file.

    Raises OSError, SyntaxError.
    """
    text = path.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for node in parse_python(text).body:
        source = ast.get_source_segment(text, node) or ""
        match node:
            case ast.FunctionDef(name=own):
                found[own] = source
            case ast.Assign(targets=[ast.Name(id=own)]):
                found[own] = source
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found[names[0].asname or names[0].name] = source
            case _:
                pass
    return found


def needed(known: Mapping[str, str], called: Iterable[str]) -> list[str]:
    """The sources of the called statements and of what they use, in the order of the file."""
    wanted = {one for one in called if one in known}
    waiting = [*wanted]
    while waiting:
        tree = parse_python(known[waiting.pop()])
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & known.keys()
        waiting += used - wanted
        wanted |= used
    return [text for key, text in known.items() if key in wanted]
