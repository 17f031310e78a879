"""The shapes of puzzle answers: grids, rows of items, assignments.

Covered: grids as lines of cells and as JSON, rows as JSON or Python lists or with a separator,
`name=value` rows.
Not covered: nested lists that are not grids, objects in JSON, prose.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from unhack.audit.subject import json_of

_MIN_CELLS = 2
_PAIR = re.compile(r"\s*([A-Za-z_]\w*)\s*([=:])\s*([\w.+-]+)\s*")
_SEPARATORS = (" → ", "→", " -> ", "->", ", ", ",", " ")
_JSON_GRID = re.compile(r"\[\s*\[[^\[\]]*\](?:\s*,\s*\[[^\[\]]*\])+\s*\]")


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells."""

    text: str
    """The grid as it stands in the text."""
    rows: tuple[tuple[str, ...], ...]
    is_json: bool

    def write(self, rows: Sequence[Sequence[str]]) -> str:
        """A grid of the same notation."""
        if self.is_json:
            return "[" + ",".join(f"[{','.join(row)}]" for row in rows) + "]"
        return "\n".join(" ".join(row) for row in rows)


@dataclass(frozen=True, slots=True)
class PuzzleRow:
    """Items one after the other."""

    items: tuple[str, ...]
    gap: str
    """Between two items; for a list, what stands between its quotes."""
    quote: str = ""
    is_list: bool = False

    def write(self, items: Sequence[str]) -> str:
        """A row of the same notation."""
        inner = self.gap.join(f"{self.quote}{item}{self.quote}" for item in items)
        return f"[{inner}]" if self.is_list else inner


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names with values."""

    items: tuple[tuple[str, str], ...]
    sign: str
    gap: str

    def write(self, items: Sequence[tuple[str, str]]) -> str:
        """Assignments of the same notation."""
        return self.gap.join(f"{name}{self.sign}{value}" for name, value in items)


def grid_of(text: str) -> Grid | None:
    """The grid that a text is: at least two rows of at least two cells; None for others."""
    text = text.strip()
    if text.startswith("["):
        return _json_grid(text)
    rows = tuple(_cells(line) for line in text.splitlines() if line.strip())
    same_width = len({len(row) for row in rows}) == 1 and len(rows[0]) >= _MIN_CELLS
    return Grid(text, rows, False) if same_width and len(rows) >= _MIN_CELLS else None


def grids_in(prompt: str) -> list[Grid]:
    """The grids that a prompt shows, in order: runs of lines, and JSON."""
    found = [(match.start(), _json_grid(match[0])) for match in _JSON_GRID.finditer(prompt)]
    place = 0
    block: list[str] = []
    for line in [*prompt.split("\n"), ""]:
        cells = _cells(line)
        if cells and (not block or len(cells) == len(_cells(block[-1]))):
            block.append(line.strip())
        else:
            found.append((place - 1, grid_of("\n".join(block))))
            block = [line.strip()] if cells else []
        place += len(line) + 1
    found.sort(key=lambda item: item[0])
    return [grid for _, grid in found if grid is not None]


def row_of(text: str) -> PuzzleRow | None:
    """The row of at least two items that a text is; None for others and for grids."""
    text = text.strip()
    if text.startswith("["):
        return _list_row(text)
    if "\n" in text or pairs_of(text) is not None:
        return None
    for gap in _SEPARATORS:
        items = tuple(item.strip() for item in text.split(gap))
        if len(items) >= _MIN_CELLS and all(items):
            plain = all(re.fullmatch(r"[\w.+'-]+", item) for item in items)
            return PuzzleRow(items, gap) if plain else None
    return None


def pairs_of(text: str) -> Pairs | None:
    """The assignments that a text is, at least two of them and no name twice; None for others."""
    parts = text.strip().split(",")
    found = [_PAIR.fullmatch(part) for part in parts]
    items = tuple((match[1], match[3]) for match in found if match is not None)
    if len(items) != len(parts) or len({name for name, _ in items}) < max(2, len(items)):
        return None
    sign = {match[2] for match in found if match is not None}.pop()
    return Pairs(items, sign, ", " if ", " in text else ",")


def _cells(line: str) -> tuple[str, ...]:
    """The cells of a line; none where it has words or fewer than two of them."""
    cells = tuple(line.split())
    wordy = any(len(cell) > 12 or re.search(r"[A-Za-z]{2}", cell) for cell in cells)
    return () if wordy or len(cells) < _MIN_CELLS else cells


def _json_grid(text: str) -> Grid | None:
    rows: list[tuple[str, ...]] = []
    for row in _items(json_of(text)):
        cells = _items(row)
        if not cells or any(isinstance(cell, (list, dict)) for cell in cells):
            return None
        rows.append(tuple(json.dumps(cell) for cell in cells))
    if not rows:
        return None
    same_width = len({len(row) for row in rows}) == 1
    return Grid(text, tuple(rows), True) if same_width else None


def _list_row(text: str) -> PuzzleRow | None:
    try:
        value = _items(ast.literal_eval(text))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if not value or not all(isinstance(item, (str, int, float)) for item in value):
        return None
    quoted = all(isinstance(item, str) for item in value)
    quote = text[1] if quoted and text[1] in "'\"" else ""
    if quoted and not quote:
        return None
    return PuzzleRow(tuple(str(item) for item in value), ", ", quote, True)


def _items(value: Any) -> list[Any]:
    """The items of a list that has enough of them; none for anything else."""
    found = cast(list[Any], value) if isinstance(value, list) else []
    return found if len(found) >= _MIN_CELLS else []
