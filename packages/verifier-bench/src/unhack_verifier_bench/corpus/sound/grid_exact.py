"""Grids of digits: the same rows and columns, cell by cell."""

import re

ROW = re.compile(r"\d(?: +\d)*", re.ASCII)


def _grid(text):
    """Rows of digits, or None when a line is anything else."""
    rows = [line.strip() for line in text.strip().splitlines()]
    if not rows or any(ROW.fullmatch(row) is None for row in rows):
        return None
    return [row.split() for row in rows]


def score_answer(answer, entry):
    """1.0 for the grid, 0.0 for every other reply."""
    if not isinstance(answer, str) or len(answer) > 10_000:
        return 0.0
    given, gold = _grid(answer), _grid(entry["answer"])
    assert gold is not None
    if given is None or [len(row) for row in given] != [len(row) for row in gold]:
        return 0.0
    for given_row, gold_row in zip(given, gold):
        for left, right in zip(given_row, gold_row):
            if left != right:
                return 0.0
    return 1.0
