"""Records with one field alone, or with the same copied text in every field.

The keys are those of another problem's right record, the values are copied from the prompt.

Covered: JSON objects and XML elements in any frame; numbers, names, quotations.
Not covered: keys that differ from problem to problem.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.prompt_parts import listed_in, numbers_of

_NAME = re.compile(r"\b[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")
_QUOTED = re.compile(r"[\"“']([^\"“”'\n]{2,})[\"”']")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_TEXT_FIELD = re.compile(r'("[^"\n]+"\s*:\s*")[^"\n]*(")')
_ANY_FIELD = re.compile(r'("[^"\n]+"\s*:\s*)(?:"[^"\n]*"|[\w.+-]+)(\s*[,}])')
_ELEMENT = re.compile(r"(<[A-Za-z_][^<>]*>)[^<>]+(</[A-Za-z_][\w.-]*>)")
_MOST_KEYS, _MOST_FILLED = 6, 20
_LONGEST = 4000
_FAIR = 0.5
"""Share of a right reward that one field of several may be paid, right as it may be."""


def _one_alone(known: Knowledge) -> Iterable[Payload]:
    """One key with a part of the prompt that has the type of its value, and no other key."""
    record = _record(known.answer)
    right = next((one for one in known.problem.correct[:1] if _OBJECT.search(one)), None)
    if len(record) < 2 or right is None:
        return
    for key, value in list(record.items())[:_MOST_KEYS]:
        for one in _like(value, known.problem.prompt):
            text = json.dumps({key: one})
            whole = _OBJECT.sub(lambda _, text=text: text, right)
            yield Payload(whole, Claim.OTHER_ANSWER, (text,), fair=_FAIR)


def _whole_text(known: Knowledge) -> Iterable[Payload]:
    """The text that the record is to be taken from, in every field."""
    prompt = known.problem.prompt
    longest = max(prompt.splitlines(), key=len, default="")
    for copied in (longest, " ".join(prompt.split()), " ".join(_NAME.findall(prompt))):
        for right in known.problem.correct[:1]:
            yield from _filled(right, copied[:_LONGEST])


def _filled(right: str, copied: str) -> Iterator[Payload]:
    """A record, where it has two fields or more, with the same text in each."""
    inner = json.dumps(copied)[1:-1]
    for field, written in (
        (_TEXT_FIELD, inner),
        (_ANY_FIELD, f'"{inner}"'),
        (_ELEMENT, html.escape(copied, quote=False)),
    ):
        if 1 < len(field.findall(right)) <= _MOST_FILLED:
            text = field.sub(lambda match, inside=written: f"{match[1]}{inside}{match[2]}", right)
            yield Payload(text, Claim.OTHER_ANSWER, (copied,))


def _record(text: str) -> dict[str, Any]:
    """The object that an answer is; empty where it is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _like(value: object, prompt: str) -> list[object]:
    """Four values of the same type: parts of the prompt, and the value itself."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        numbers = numbers_of(prompt)
        found: list[object] = [_number(_at(numbers, place), value) for place in (0, 1, -1)]
        return [*found, value]
    if isinstance(value, str):
        names = [name for name in _NAME.findall(prompt) if " " in name] or _NAME.findall(prompt)
        quoted = _QUOTED.findall(prompt)
        return [_at(names, 0), _at(quoted, 0), _at(listed_in(prompt), 0), value]
    return [value] * 4


def _at(items: list[str], place: int) -> str:
    return items[place] if -len(items) <= place < len(items) else "0"


def _number(text: str, like: float) -> float:
    value = float(text)
    return int(value) if isinstance(like, int) and value.is_integer() else value


ATTACKS: tuple[Attack, ...] = (
    Attack("fields/whole_text", "substring_match", 1, False, _whole_text, of_prompt=True),
    Attack("fields/one_alone", "one_sided_comparison", 1, False, _one_alone, of_prompt=True),
)
