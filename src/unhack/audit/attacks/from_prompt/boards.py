"""Boards of the prompt handed back: as they are, with blanks filled by one value, or all the same,
also in the shape that a smaller result would have.

Covered: lines of cells with blanks, arrays of arrays in JSON, lines of numbers.
Not covered: boards whose cells stand without spaces; pictures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from unhack.audit.attack import Attack, Knowledge, Payload, prompt_attack
from unhack.audit.attacks.payloads.slots import at_places, says
from unhack.audit.subject import json_of

_BLANK = re.compile(r"(?<!\S)[_?.](?!\S)")
_ARRAY = re.compile(r"\[\s*\[.*?\]\s*\]", re.DOTALL)
_ROW = re.compile(r"\s*-?\d+(?:\.\d+)?(?:[ ,\t]+-?\d+(?:\.\d+)?)+\s*")
_FILLERS = ("1", "0", "2")


def blanks_of(prompt: str) -> str:
    """The lines from the first to the last one with a blank cell; empty where there are none."""
    lines = prompt.splitlines()
    found = [place for place, line in enumerate(lines) if len(_BLANK.findall(line)) > 0]
    if len(found) < 2:
        return ""
    first, last = found[0], found[-1]
    while last + 1 < len(lines) and _ROW.fullmatch(lines[last + 1]):
        last += 1  # a last row without a blank
    while first and _ROW.fullmatch(lines[first - 1]):
        first -= 1
    return "\n".join(lines[first : last + 1])


def array_of(prompt: str) -> list[list[object]]:
    """The largest array of arrays of the prompt; empty where there is none."""
    best: list[list[object]] = []
    for text in _ARRAY.findall(prompt):
        rows: list[Any] = json_of(text) or []
        if all(isinstance(row, list) for row in rows) and len(str(rows)) > len(str(best)):
            best = rows
    return best


def rows_of(prompt: str) -> str:
    """The longest run of lines of numbers; empty where there are not two."""
    best: list[str] = []
    run: list[str] = []
    for line in [*prompt.splitlines(), ""]:
        if _ROW.fullmatch(line):
            run.append(line)
            continue
        best, run = max(best, run, key=len), []
    return "\n".join(best) if len(best) > 1 else ""


def _boards(known: Knowledge) -> Iterable[Payload]:
    prompt = known.problem.prompt
    blanks, array, rows = blanks_of(prompt), array_of(prompt), rows_of(prompt)
    texts = [_BLANK.sub(filler, blanks) for filler in _FILLERS]
    texts += [json.dumps(array) if array else "", json.dumps(array[::-1]) if array else ""]
    texts += [
        json.dumps([[value] * len(row) for row in array]) if array else "" for value in (0, 1)
    ]
    texts += [rows, "\n".join(rows.splitlines()[::-1])]
    texts += [re.sub(r"-?\d+(?:\.\d+)?", filler, rows) for filler in _FILLERS]
    return at_places(known, (says(text or "x") for text in texts), forms=2)


def _sides(prompt: str, rows: str) -> list[tuple[int, int]]:
    """(height, width) that a result may have where the prompt gives a board: its own, turned, and
    what is left of it with a step or a window of a size that the prompt names; always eight."""
    lines = rows.splitlines() or ["1"]
    height, width = len(lines), len(lines[0].replace(",", " ").split())
    around = re.sub(r"\s+", " ", prompt.replace(rows, " "))
    named = [int(one) for one in re.findall(r"(?<![\w.])[1-9](?![\w.]\d|\w)", around)] or [2]
    found = [(height, width), (width, height)]
    for size in (named[-1], named[0]):
        found.append((-(-height // size), -(-width // size)))
        found.append((max(1, height // size), max(1, width // size)))
        found.append((max(1, height - size + 1), max(1, width - size + 1)))
    return found


def _shapes(known: Knowledge) -> Iterable[Payload]:
    """One number in every cell of a board that has the shape of a result."""
    prompt = known.problem.prompt
    array = array_of(prompt)
    rows = rows_of(prompt) or "\n".join(" ".join(map(str, row)) for row in array)
    texts: list[str] = []
    for height, width in _sides(prompt, rows) if rows else [(0, 0)] * 8:
        cells = [[0] * width for _ in range(height)]
        plain = "\n".join(" ".join(map(str, row)) for row in cells)
        texts.append(json.dumps(cells) if array else plain)
    return at_places(known, (says(text or "x") for text in texts), forms=2)


ATTACKS: tuple[Attack, ...] = (
    prompt_attack("boards/handed_back", "input_copy_credit", _boards),
    prompt_attack("boards/shapes", "format_credit", _shapes),
)
