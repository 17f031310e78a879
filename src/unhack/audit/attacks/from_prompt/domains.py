"""Every value that the prompt lets choose from: all in one place, and all combinations in turn.

The places are those at which another problem's right completion has one of the values. Values are
alternatives of the prompt (`on or off`, `a, b or c`, `a/b`) and the letters of its options.

Covered: labels, marks in a list and behind keys, arguments of calls; some hundred combinations.
Not covered: values of several words that stand in no list with commas.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, prompt_attack
from unhack.audit.attacks.payloads.prompt_parts import listed_in
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


ATTACKS: tuple[Attack, ...] = (
    prompt_attack("domains/all_at_once", "hedging", _all_at_once),
    prompt_attack("domains/marks", "hedging", _marks),
    prompt_attack("domains/combinations", "many_attempts", _combinations),
)
