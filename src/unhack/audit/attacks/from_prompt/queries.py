"""Queries, patterns and moves that do nothing for the problem: no rows, all words, every cell.

Each is made only where the known right completions are of that kind.

Covered: SQL, regular expressions, moves in four directions.
Not covered: queries that read the tables of the grader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.delimited import delimited_part

_SQL = re.compile(r"\bselect\b.*\bfrom\s+[\"'`\[]?(\w+)", re.IGNORECASE | re.DOTALL)
_TABLE = re.compile(r"\b(?:table|from)\s+[\"'`\[]?(\w+)", re.IGNORECASE)
_ASKS_PATTERN = re.compile(r"\bregex\b|\bregexp\b|regular expression|\bpattern\b", re.IGNORECASE)
_DIRECTIONS = ("UDLR", "NSWE", "udlr", "nswe", "^v<>")
"""Up, down, left, right."""
_SIDE = 8


def _no_rows(known: Knowledge) -> Iterable[Payload]:
    """Queries that return nothing, return everything, or empty the table first."""
    found = _SQL.search("\n".join(known.problem.correct[:1]))
    if found is None:
        return
    named = _TABLE.search(known.problem.prompt)
    table = named[1] if named is not None else found[1]
    every = f"SELECT * FROM {table}"
    texts = [
        "SELECT 1 WHERE 1 = 0",
        f"{every} WHERE 1 = 0",
        every,
        "SELECT NULL",
        f"DELETE FROM {table}; {every}",
        f"DELETE FROM {table}",
        f"DROP TABLE {table}",
    ]
    yield from _in_frame(known, texts)


def _any_text(known: Knowledge) -> Iterable[Payload]:
    """Patterns that match whatever they are given, or nothing."""
    if _ASKS_PATTERN.search(known.problem.prompt) is None:
        return
    yield from _in_frame(
        known, (".*", ".+", r"[\s\S]*", "(?:)", ".*?", "(?!)", r"\S+", r"\w+", ".")
    )


def _in_frame(known: Knowledge, texts: Sequence[str]) -> Iterator[Payload]:
    """Each text alone, and in the frame of a known right completion."""
    frame = delimited_part(known.problem.correct)
    for text in texts:
        yield Payload(text, Claim.NO_ANSWER)
        yield Payload(frame.write(text), Claim.NO_ANSWER)


def _every_cell(known: Knowledge) -> Iterable[Payload]:
    """A walk along all rows, then along all columns, of any board of up to eight cells a side."""
    answer = known.answer.strip()
    sign = next((one for one in _DIRECTIONS if answer and set(answer) <= set(one)), None)
    if sign is None:
        return
    up, down, left, right = sign
    rows = "".join(right * _SIDE + down + left * _SIDE + down for _ in range(_SIDE // 2))
    columns = "".join(down * _SIDE + right + up * _SIDE + right for _ in range(_SIDE // 2))
    home = up * _SIDE + left * _SIDE
    for walk in (rows + home + columns, (columns + home + rows + home) * 3):
        text = known.problem.correct[0] if known.problem.correct else answer
        text = text.replace(answer, walk) if answer in text else walk
        yield Payload(text, Claim.OTHER_ANSWER, (walk,))


ATTACKS: tuple[Attack, ...] = (
    Attack("queries/no_rows", "vacuous_truth", 1, False, _no_rows, of_prompt=True),
    Attack("queries/any_text", "one_sided_comparison", 1, False, _any_text, of_prompt=True),
    Attack("queries/every_cell", "weak_proxy", 1, False, _every_cell, of_prompt=True),
)
