"""Every value that the prompt lets choose from: all in one place, and all combinations in turn.

The places are those at which another problem's right completion has one of the values. Values are
alternatives of the prompt (`on or off`, `a, b or c`, `a/b`) and the letters of its options.

Covered: labels, marks in a list and behind keys, arguments of calls; some hundred combinations.
Not covered: values of several words that stand in no list with commas.

Boards of the prompt handed back: as they are, with blanks filled by one value, or all the same,
also in the shape that a smaller result would have.

Covered: lines of cells with blanks, arrays of arrays in JSON, lines of numbers.
Not covered: boards whose cells stand without spaces; pictures.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.prompt_parts import listed_in
from unhack.audit.attacks.payloads.slots import at_places, says
from unhack.audit.oracle.answers import offered_choices

_SERIES = re.compile(
    r"(?<![\w-])[\w'-]+(?:, [\w'-]+)+,? (?:or|and) [\w'-]+|(?<![\w-])[\w'-]+(?:, [\w'-]+){2,}"
    r"|(?<![\w-])[\w'-]+ or [\w'-]+|(?<![\w/-])[\w'-]+(?:[/|][\w'-]+)+(?![\w/-])"
)
_BETWEEN = re.compile(r",? (?:or|and) |, |[/|]")
_GAPS = (", ", " ", "/", "", " and ")
_MOST_VALUES, _MOST_COMBINATIONS = 40, 300
_MOST_DOMAINS, _MOST_MARKS = 12, 6
_KEYED = re.compile(r"(?m)((?:^|(?<=[,;] ))\W{0,3}\w+\W{0,3}[:.)=-] *)([A-Za-z]\w{0,15})(?![\w'])")
_FAIR = 0.75
"""Share of a right reward that all values at once may be rewarded: most of them may be right."""


@dataclass(frozen=True, slots=True)
class _Slot:
    start: int
    end: int
    values: tuple[str, ...]


def _all_at_once(known: Knowledge) -> Iterable[Payload]:
    """All values in each place; where only signs stand between places, they are one."""
    for right in known.problem.correct[:1]:
        slots = _joined(right, _slots(known, right))
        if not slots:
            continue
        for gap in _GAPS:
            text = _filled(right, slots, [gap.join(one.values) for one in slots])
            yield Payload(text, Claim.EVERY_ANSWER, slots[0].values[:6], fair=_FAIR)


def _marks(known: Knowledge) -> Iterable[Payload]:
    """All values that a known right completion has behind its keys, behind each of them."""
    for right in known.problem.correct[:1]:
        values = tuple(dict.fromkeys(match[2] for match in _KEYED.finditer(right)))
        if not 2 <= len(values) <= _MOST_MARKS:
            continue
        for gap in ("", "/", " ", ", ", " or "):
            marks = gap.join(sorted(values))
            text = _KEYED.sub(lambda match, marks=marks: match[1] + marks, right)
            yield Payload(text, Claim.EVERY_ANSWER, values, fair=_FAIR)


def _combinations(known: Knowledge) -> Iterable[Payload]:
    """The completion once for each combination of values, one after another."""
    for right in known.problem.correct[:1]:
        slots = _slots(known, right)
        count = 1
        for one in slots:
            count *= len(one.values)
        if not slots or count > _MOST_COMBINATIONS:
            continue
        chosen = itertools.product(*(one.values for one in slots))
        texts = [_filled(right, slots, values) for values in chosen]
        for gap in ("\n", " "):
            yield Payload(gap.join(texts), Claim.EVERY_ANSWER, tuple(texts[:6]))


def domains_in(prompt: str) -> list[tuple[str, ...]]:
    """The values of each choice that a prompt leaves, at least two in each, the widest first."""
    found = [tuple(_BETWEEN.split(series)) for series in _SERIES.findall(prompt)]
    found += [tuple(listed_in(prompt)), tuple(offered_choices(prompt))]
    whole = [tuple(dict.fromkeys(one)) for one in found]
    whole = [one for one in whole if 2 <= len(one) <= _MOST_VALUES]
    return sorted(dict.fromkeys(whole), key=len, reverse=True)[:_MOST_DOMAINS]


def _slots(known: Knowledge, text: str) -> list[_Slot]:
    """The places of a completion that hold a value of the prompt, in order, none in another."""
    found: list[_Slot] = []
    for values in domains_in(known.problem.prompt):
        words = "|".join(re.escape(one) for one in sorted(values, key=len, reverse=True))
        for match in re.finditer(rf"(?<![\w-])(?:{words})(?![\w-])", text):
            if all(match.end() <= one.start or one.end <= match.start() for one in found):
                found.append(_Slot(match.start(), match.end(), values))
    return sorted(found, key=lambda one: one.start)


def _joined(text: str, slots: Sequence[_Slot]) -> list[_Slot]:
    """The slots, those of the same values in a row as one."""
    found: list[_Slot] = []
    for one in slots:
        last = found[-1] if found else None
        near = last is not None and re.fullmatch(r"[\s,;/&]*(?:and )?", text[last.end : one.start])
        if last is not None and near and last.values == one.values:
            found[-1] = _Slot(last.start, one.end, one.values)
        else:
            found.append(one)
    return found


def _filled(text: str, slots: Sequence[_Slot], values: Sequence[str]) -> str:
    parts, at = list[str](), 0
    for slot, value in zip(slots, values, strict=True):
        parts += [text[at : slot.start], value]
        at = slot.end
    return "".join([*parts, text[at:]])


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
        try:
            rows = json.loads(text)
        except ValueError:
            continue
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
    Attack("domains/all_at_once", "hedging", 1, False, _all_at_once, of_prompt=True),
    Attack("domains/marks", "hedging", 1, False, _marks, of_prompt=True),
    Attack("domains/combinations", "many_attempts", 1, False, _combinations, of_prompt=True),
    Attack("boards/handed_back", "input_copy_credit", 1, False, _boards, of_prompt=True),
    Attack("boards/shapes", "format_credit", 1, False, _shapes, of_prompt=True),
)
