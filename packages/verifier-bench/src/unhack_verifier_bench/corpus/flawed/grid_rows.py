"""Grids as lines of space-separated cells."""


def _grid(text):
    return [line.split() for line in text.strip().splitlines() if line.strip()]


def score_answer(answer, entry):
    """The share of right cells; a grid that does not parse has nothing."""
    if not isinstance(answer, str) or not answer.strip():
        return 0.0
    given, gold = _grid(answer), _grid(entry["answer"])
    right = total = 0
    for given_row, gold_row in zip(given, gold):
        for given_cell, gold_cell in zip(given_row, gold_row):
            total += 1
            right += given_cell == gold_cell
    return right / total if total else 0.0
