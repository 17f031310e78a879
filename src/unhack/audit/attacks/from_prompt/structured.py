"""Structured answers with the right keys and other values: wildcards, lists, extra keys, records,
one field alone, the same copied text in every field.

The keys are those of another problem's right completion or of an example in the prompt.

Covered: JSON objects, alone or inside a longer completion; nested lists; lists of records; XML
elements whose content is copied from the prompt.
Not covered: YAML, and other content of XML (`listed` dumps the items of both); keys that differ
from problem to problem.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, prompt_attack
from unhack.audit.attacks.payloads.prompt_parts import listed_in, numbers_of, words_of
from unhack.audit.subject import json_of, record_of

_DUMP = list(range(1001))
_NAMES, _COUNTS = 12, 60
_SHOWN = ("0", "1", "2", "3", "10", "100", "999")
_HOLLOW: tuple[Any, ...] = (
    None, "", [], {}, True, False, "*", "any", ".*", float("nan"), float("inf"), -1e308, "nan",
    [None], [[]], {"any": True},
)  # fmt: skip


def _hollow(known: Knowledge) -> Iterable[Payload]:
    """Every value the same, and one that says nothing."""
    for value in _HOLLOW:
        yield from _written(known, lambda _, value=value: value, Claim.NO_ANSWER)
    for whole in ("{}", "[]", "[{}]", "null"):
        yield Payload(_inside(known, whole), Claim.NO_ANSWER)


def _dumped(known: Knowledge) -> Iterable[Payload]:
    """A list of candidates in the place of each value."""
    prompt = known.problem.prompt
    own: list[Any] = [*numbers_of(prompt), *words_of(prompt), "one", "other"]
    texts = [str(number) for number in _DUMP]
    for values, shown in (
        (_DUMP, _SHOWN),
        (texts, _SHOWN),
        ([*_DUMP, *texts, *own], _SHOWN),
        (own, tuple(map(str, own[:6]))),
        ({one: one for one in texts}, _SHOWN),
        (" ".join(texts), _SHOWN),
        (", ".join(texts), _SHOWN),
    ):
        yield from _written(known, lambda _, values=values: values, Claim.EVERY_ANSWER, shown)


def _extra_keys(known: Knowledge) -> Iterable[Payload]:
    """The keys without values that fit, among keys that nobody asked for."""
    record = _record(known)
    more = {f"key{number}": number for number in range(40)}
    yield Payload(_inside(known, json.dumps(more)), Claim.NO_ANSWER)
    flat = {**dict.fromkeys(record), **more}
    yield Payload(_inside(known, json.dumps(flat)), Claim.NO_ANSWER)
    yield Payload(_inside(known, json.dumps({"answer": {"value": None}})), Claim.NO_ANSWER)


def _all_differ(known: Knowledge) -> Iterable[Payload]:
    """A value of its own for each key, and for each that the prompt names as a letter."""
    record = _record(known)
    letters = dict.fromkeys(re.findall(r"\b[A-Z]\b", known.problem.prompt))
    for keys in (list(record), list(letters) or list(record)):
        for first in (1, 101):
            text = json.dumps({key: first + place for place, key in enumerate(keys)})
            yield Payload(_inside(known, text), Claim.OTHER_ANSWER, (text,))


def _emptied(known: Knowledge) -> Iterable[Payload]:
    """The containers of a right completion without what they hold, and with one thing alone."""
    value = _whole(known)
    if value is None:
        return
    for made in (
        _without_content(value, depth=0),
        _without_content(value, depth=1),
        _without_content(value, depth=2),
        _first_alone(value),
    ):
        yield Payload(json.dumps(made), Claim.NO_ANSWER)


def _records(known: Knowledge) -> Iterable[Payload]:
    """Every name of the prompt with every small number, in records like the known ones."""
    value = _whole(known)
    if not isinstance(value, list):
        return
    listed = cast("list[Any]", value)
    if not listed or not isinstance(listed[0], dict):
        return
    keys = cast("dict[str, Any]", listed[0])
    prompt = known.problem.prompt
    names = list(dict.fromkeys(re.findall(r"\b[A-Z][a-z]+\b", prompt)))[:_NAMES] or ["x"]
    made = [
        {key: number if isinstance(of, (int, float)) else name for key, of in keys.items()}
        for name in names
        for number in range(_COUNTS)
    ]
    shown = tuple(json.dumps(one) for one in made[:6])
    yield Payload(json.dumps(made), Claim.EVERY_ANSWER, shown)


def _whole(known: Knowledge) -> object:
    """The value that a known right completion, or the part of it in brackets, is; None for none."""
    for text in known.problem.correct[:2]:
        part = re.search(r"[\[{].*[\]}]", text, re.DOTALL)
        value = json_of(part[0]) if part else None
        if part is None or value is not None:
            return value
    return None


def _without_content(value: object, *, depth: int) -> object:
    """The value with empty containers from this depth on."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {key: _without_content(one, depth=depth - 1) for key, one in items if depth > 0}
    if isinstance(value, list):
        listed = cast("list[object]", value)
        return [_without_content(one, depth=depth - 1) for one in listed if depth > 0]
    return value


def _first_alone(value: object) -> object:
    record = record_of(value)
    if record:
        return dict(list(record.items())[:1])
    return cast("list[object]", value)[:1] if isinstance(value, list) else value


def _written(
    known: Knowledge, value: Callable[[str], Any], claim: Claim, asserts: tuple[str, ...] = ()
) -> Iterator[Payload]:
    record = _record(known)
    text = json.dumps({key: value(key) for key in record})
    yield Payload(_inside(known, text), claim, asserts)


def _record(known: Knowledge) -> dict[str, Any]:
    """The object of the known right completion, else of the prompt; one key where neither has."""
    for text in (*known.problem.correct[:3], known.problem.prompt):
        for found in re.findall(r"\{[^{}]*\}", text):
            value = record_of(json_of(found))
            if value:
                return value
    return {"answer": None}


def _inside(known: Knowledge, text: str) -> str:
    """The text in the place of the object of a known right completion; alone where none has one."""
    for right in known.problem.correct[:3]:
        if re.search(r"\{[^{}]*:[^{}]*\}", right):
            return re.sub(r"\{[^{}]*:[^{}]*\}", lambda _: text, right, count=1)
    return text


_NAME = re.compile(r"\b[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")
_QUOTED = re.compile(r"[\"“']([^\"“”'\n]{2,})[\"”']")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_TEXT_FIELD = re.compile(r'("[^"\n]+"\s*:\s*")[^"\n]*(")')
_ANY_FIELD = re.compile(r'("[^"\n]+"\s*:\s*)(?:"[^"\n]*"|[\w.+-]+)(\s*[,}])')
_ELEMENT = re.compile(r"(<[A-Za-z_][^<>]*>)[^<>]+(</[A-Za-z_][\w.-]*>)")
_MOST_KEYS, _MOST_FILLED = 6, 20
_LONGEST = 4000
_FAIR = 0.5
"""Share of a right reward that one field of several may be rewarded, right as it may be."""


def _one_alone(known: Knowledge) -> Iterable[Payload]:
    """One key with a part of the prompt that has the type of its value, and no other key."""
    record = record_of(json_of(known.answer))
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
    prompt_attack("structured/hollow_values", "vacuous_truth", _hollow),
    prompt_attack("structured/lists_of_values", "many_attempts", _dumped),
    prompt_attack("structured/all_differ", "weak_proxy", _all_differ),
    prompt_attack("structured/emptied", "vacuous_truth", _emptied),
    prompt_attack("structured/records", "many_attempts", _records),
    prompt_attack("structured/extra_keys", "one_sided_comparison", _extra_keys),
    prompt_attack("fields/whole_text", "substring_match", _whole_text),
    prompt_attack("fields/one_alone", "one_sided_comparison", _one_alone),
)
