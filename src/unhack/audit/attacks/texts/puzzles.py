"""Answers that are grids, move lists and assignments: read in part, or too leniently.

Every payload is wrong by its form, whatever other solutions a puzzle has: it has a row too many,
cells or moves that the puzzle does not know, two values for one name, or it denies what it says.

Covered: grids as lines or JSON, lists of moves or numbers, rows of `name=value`.
Not covered: another arrangement of allowed parts, which may be another solution.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import ROUND_UP, Decimal

from unhack.audit.attack import Attack, Knowledge, Payload, part_attack, text_attack
from unhack.audit.attacks.payloads.answer_forms import (
    contents_attack,
    everything,
    nothing_in_forms,
    others,
)
from unhack.audit.attacks.payloads.puzzle_shapes import (
    Grid,
    Pairs,
    PuzzleRow,
    grid_of,
    grids_in,
    pairs_of,
    row_of,
)
from unhack.audit.oracle.answers import decimal_of, plain

_ROUNDED = re.compile(
    r"approximat|estimat|rough|about how|\bround|nearest|closest|significant", re.IGNORECASE
)
_MOVES = re.compile(
    r"\bmoves?\b|\bpath\b|\bsequence\b|\bstring of\b|\bdirections?\b", re.IGNORECASE
)
_SEVERAL = re.compile(r"value\(s\)|solution\(s\)|comma[- ]separated|all (?:values|solutions|roots)")
_STRANGE = ("Q", "Z", "W", "J", "K", "V")
_WITHOUT_VALUE = ("0/0", "1/0", "oo - oo", "1e309 - 1e309")


def _grid(known: Knowledge) -> Grid | None:
    return grid_of(known.answer)


def _row(known: Knowledge) -> PuzzleRow | None:
    return row_of(known.answer)


def _pairs(known: Knowledge) -> Pairs | None:
    return pairs_of(known.answer)


def _grid_longer(known: Knowledge, grid: Grid) -> Iterable[Payload]:
    """A row or a column that does not belong to it."""
    last = [_other_cell(cell) for cell in grid.rows[-1]]
    below = [*grid.rows, last]
    right = [[*row, _other_cell(row[-1])] for row in grid.rows]
    both = [*right, [*last, last[-1]]]
    written = [grid.write(rows) for rows in (below, right, both)]
    yield from others(known, written, limit=5)


def _grid_near(known: Knowledge, grid: Grid) -> Iterable[Payload]:
    """Every number of a grid a little off, by more than rounding does."""
    if _ROUNDED.search(known.problem.prompt):
        return
    for factor in ("1.008", "1.03"):
        rows = [[_scale_cell(cell, Decimal(factor)) for cell in row] for row in grid.rows]
        if rows != [list(row) for row in grid.rows]:
            yield from others(known, [grid.write(rows)], limit=2)


def _grid_cells_longer(known: Knowledge, grid: Grid) -> Iterable[Payload]:
    """Two digits where each cell has one."""
    if all(re.fullmatch(r"\d", cell) for row in grid.rows for cell in row):
        before = [[f"7{cell}" for cell in row] for row in grid.rows]
        signed = [[f"-{cell}" if cell != "0" else "-7" for cell in row] for row in grid.rows]
        between = [[f"x{cell}y" for cell in row] for row in grid.rows]
        yield from others(known, [grid.write(rows) for rows in (before, signed, between)], limit=4)


def _grid_copy(known: Knowledge, grid: Grid) -> Iterable[Payload]:
    """The puzzle's own grid, untouched."""
    shown = grids_in(known.problem.prompt)
    copies = [one for one in shown if one.rows != grid.rows and _may_not_stay(one, grid)]
    texts = [one.text for one in copies[-1:]] + [grid.write(one.rows) for one in copies[-1:]]
    yield from others(known, list(dict.fromkeys(texts)), limit=4)


def _grid_of_nothing(known: Knowledge, grid: Grid) -> Iterable[Payload]:
    """A grid of the right size that says nothing."""
    shape = [len(row) for row in grid.rows]
    made = [grid.write([[mark] * count for count in shape]) for mark in ("nan", "_", "NaN")]
    yield from nothing_in_forms(known, made, limit=4)


def _shift_numbers(known: Knowledge) -> Iterable[Payload]:
    """Numbers that were to be taken from the prompt, all moved the same way: the order stays."""
    row, prompt = row_of(known.answer), known.problem.prompt
    if row is None or _ROUNDED.search(prompt) or not all(item in prompt for item in row.items):
        return
    values = [decimal_of(item) for item in row.items]
    if all(value is not None for value in values):
        steps = (Decimal(1), Decimal("0.9"), Decimal("-0.5"))
        moved = [[plain(value + step) for value in values if value is not None] for step in steps]
        yield from others(known, [row.write(items) for items in moved], limit=5)


def _numbers_of_nothing(known: Knowledge, row: PuzzleRow) -> Iterable[Payload]:
    """As many numbers as asked for, none of them a number."""
    if all(decimal_of(item) is not None for item in row.items):
        marks = ["nan"] * len(row.items)
        written = [row.write(marks), f"[{', '.join(['NaN'] * len(marks))}]"]
        yield from nothing_in_forms(known, written, limit=4)


def _unread_extras(known: Knowledge) -> Iterable[Payload]:
    """Further answers in a notation that a parser may drop without a word."""
    numeric = decimal_of(known.answer) is not None
    row = row_of(known.answer)
    listed = row is not None and all(decimal_of(item) is not None for item in row.items)
    if (numeric and _SEVERAL.search(known.problem.prompt)) or listed:
        answer = known.answer.strip()
        extras = ["71/2", "x = 71", "seventy-one"]
        written = [row.write([*row.items, one]) if row and listed else f"{answer}, {one}"
                   for one in extras]  # fmt: skip
        yield from others(known, written, limit=5)


def _strange_moves(known: Knowledge) -> Iterable[Payload]:
    """Moves that the puzzle does not have, between those that solve it."""
    prompt, answer = known.problem.prompt, known.answer.strip()
    if not _MOVES.search(prompt):
        return
    letters = [one for one in _STRANGE if not re.search(rf"(?<!\w){one}(?!\w)", prompt)]
    letters = [one for one in letters if one not in answer]
    row = row_of(answer)
    written: list[str] = []
    if row is not None and row.gap not in ("", "\n") and letters:
        if all(re.fullmatch(r"[A-Za-z]+", item) for item in row.items):
            between = [part for item in row.items for part in (item, letters[0])]
            written = [row.write(between), row.write([letters[0], *row.items, letters[0]])]
    elif re.fullmatch(r"[A-Z]{4,}", answer) and len(set(answer)) <= 6 and letters:
        written = ["".join(f"{letter}{letters[0]}" for letter in answer), letters[0] + answer]
    yield from others(known, written, limit=4)


def _moves_forbidden(known: Knowledge, row: PuzzleRow) -> Iterable[Payload]:
    """Every move with words behind it that take it back."""
    if _MOVES.search(known.problem.prompt) and _is_plain_text(row):
        for words in (" is forbidden", " (must not be done)"):
            yield from others(known, [row.write([item + words for item in row.items])], limit=2)


def _two_values(known: Knowledge, pairs: Pairs) -> Iterable[Payload]:
    """Every name with two values: whichever a reader keeps, the other was said as well."""
    values = [value for _, value in pairs.items]
    turned = [*values[1:], values[0]]
    if all(one != other for one, other in zip(values, turned, strict=True)):
        names = [name for name, _ in pairs.items]
        wrong = pairs.write(list(zip(names, turned, strict=True)))
        right = pairs.write(pairs.items)
        both = [f"{wrong}{pairs.gap}{right}", f"{right}{pairs.gap}{wrong}"]
        yield from everything(known, both, (wrong, right), limit=4)


def _denial(known: Knowledge) -> Iterable[Payload]:
    """The solution under words that deny it."""
    answer = known.answer.strip()
    known_shape = (grid_of(answer), row_of(answer), pairs_of(answer))
    if any(known_shape) and decimal_of(answer) is None:
        texts = [f"not {answer}", f"NOT\n{answer}", f"{answer}\nis wrong", f"anything but {answer}"]
        yield from others(known, texts, said=[f"not {answer}"] * len(texts), limit=6)


def _may_not_stay(shown: Grid, answer: Grid) -> bool:
    """Tell whether a grid of the prompt must change: it is as large as the answer or has gaps."""
    size = [len(row) for row in shown.rows] == [len(row) for row in answer.rows]
    return size or any(cell in "_.?" for row in shown.rows for cell in row)


def _is_plain_text(row: PuzzleRow) -> bool:
    return any(" " in item for item in row.items)


def _other_cell(cell: str) -> str:
    value = decimal_of(cell)
    if value is None:
        return "7" if cell != "7" else "8"
    return plain(value + 1) if value < 9 else plain(value - 1)


def _scale_cell(cell: str, factor: Decimal) -> str:
    value = decimal_of(cell)
    if not value:
        return cell
    return plain((value * factor).quantize(Decimal("0.01"), rounding=ROUND_UP))


ATTACKS: tuple[Attack, ...] = (
    part_attack("puzzles/grid_longer", "zip_truncation", _grid, _grid_longer),
    part_attack("puzzles/grid_near", "loose_tolerance", _grid, _grid_near),
    part_attack("puzzles/grid_cells_longer", "single_character", _grid, _grid_cells_longer),
    part_attack("puzzles/grid_copied", "input_copy_credit", _grid, _grid_copy),
    part_attack("puzzles/grid_of_nothing", "nan_poisoning", _grid, _grid_of_nothing),
    text_attack("puzzles/numbers_shifted", "loose_tolerance", _shift_numbers),
    part_attack("puzzles/numbers_of_nothing", "nan_poisoning", _row, _numbers_of_nothing),
    text_attack("puzzles/unread_extras", "one_sided_comparison", _unread_extras),
    text_attack("puzzles/strange_moves", "one_sided_comparison", _strange_moves),
    part_attack("puzzles/moves_forbidden", "unanchored_regex", _row, _moves_forbidden),
    part_attack("puzzles/two_values", "hedging", _pairs, _two_values),
    text_attack("puzzles/denied", "over_normalisation", _denial),
    contents_attack("puzzles/undefined", "nan_poisoning", _WITHOUT_VALUE, limit=4),
)
