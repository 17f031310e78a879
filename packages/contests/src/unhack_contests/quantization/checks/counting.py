"""How many bytes a submission takes, and whether its source carries what belongs into the artifact.

Counted: contents and names of the artifact's files, and the program that stage 2 gets: names and
bare text (`sealed.library.bare`) of its modules, as zlib packs them. Whatever data a program holds,
in a literal, a name or the order of its lines, takes at least its own size there; a comment, a
docstring and layout take nothing, because stage 2 does not get them. A literal that is no text (a
long run without a space, a long row of numbers) is data wherever it stands, and a sign besides.
"""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from unhack.tournament.kit import Flag, parse_python
from unhack_contests.quantization.sealed.library import programs

_MAX_RUN_LENGTH = 512
"""Characters without a space or line break that a literal may hold."""
_MAX_NUMBERS = 2048
"""Numbers that one literal may hold."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The bytes of a submission."""

    artifact: int
    names: int
    code: int

    @property
    def total(self) -> int:
        """The bytes that the ratio is taken to."""
        return max(1, self.artifact + self.names + self.code)


def count(artifact: Mapping[str, bytes], submission: Path) -> Counted:
    """The bytes of an artifact and of the program that was handed in."""
    parts = [part for path, tree in programs(submission).items() for part in (path, _text(tree))]
    code = len(zlib.compress("\0".join(parts).encode("utf-8", "surrogatepass"), 9))
    return Counted(sum(map(len, artifact.values())), sum(map(len, artifact)), code)


def _text(tree: ast.Module) -> str:
    try:
        return ast.unparse(tree)
    except ValueError:  # a format string that its writer can write and `unparse` cannot
        return ast.dump(tree)


def data_in_code(submission: Path) -> Flag | None:
    """Literals of the source, and notes, that are data."""
    found = [item for path in sorted(submission.rglob("*.py")) for item in _literals(path)]
    for path in sorted(submission.rglob("*.md")):
        longest = max(map(len, path.read_bytes().split()), default=0)
        found += [(longest, path.name)] if longest > _MAX_RUN_LENGTH else []
    if not found:
        return None
    size = sum(amount for amount, _ in found)
    place = max(found)[1]
    text = f"{size} bytes of data stand in the source or its notes, the longest at {place}"
    return Flag("hidden_bytes", text, "judge")


def _literals(path: Path) -> Iterator[tuple[int, str]]:
    try:
        tree = parse_python(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        size = 0
        match node:
            case ast.Constant(value=str() as text):
                size = max(map(len, text.split()), default=0)
            case ast.Constant(value=bytes() as data):
                size = max(map(len, data.split()), default=0)
            case ast.Constant(value=int() as number):
                size = number.bit_length() // 8
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                size = sum(isinstance(item, ast.Constant) for item in items)
                size = size if size > _MAX_NUMBERS else 0
            case ast.Dict(values=items):
                size = sum(isinstance(item, ast.Constant) for item in items)
                size = size if size > _MAX_NUMBERS else 0
            case _:
                pass
        if size > _MAX_RUN_LENGTH:
            yield size, f"{path.name}:{getattr(node, 'lineno', 0)}"
