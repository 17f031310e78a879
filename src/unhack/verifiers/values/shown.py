"""Claimed values and outputs as text for people, in bounded time and size.

Covered: values of any size or depth cost no more than the text that is shown of them; a long output
begins near the place where it leaves the expected one; characters that steer a terminal are
escaped. Not covered: markup of a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from unhack.reporting.text import visible

MOST_CHARS = 2_000
"""Characters kept of the claimed output of the first case that failed."""
_LEAD_CHARS = 300
"""Characters shown before the first difference of a long output."""
_BLOCK = 4096
_MAX_DEPTH = 40
_BRACKETS = {list: "[]", tuple: "()", set: "{}", frozenset: ("frozenset({", "})"), dict: "{}"}


def value_text(value: Any, *, most: int = MOST_CHARS) -> str:
    """The value as `repr` spells it, cut after about `most` characters. Never raises."""
    found: list[str] = []
    _spell(value, found, most, 0)
    text = "".join(found)
    return text if len(text) <= most else f"{text[:most]}…"


def _spell(value: Any, found: list[str], room: int, depth: int) -> int:
    """Append the pieces of a value; the characters left of `room`, negative once it is used up."""
    kind = cast("type[Any]", type(value))
    items = cast("Sequence[Any]", value)
    if kind not in _BRACKETS:
        text = _scalar(value, room)
    elif depth > _MAX_DEPTH:
        text = "…"
    elif kind in (set, frozenset) and not items:
        text = f"{kind.__name__}()"
    else:
        return _spell_items(items, kind, found, room, depth)
    found.append(text)
    return room - len(text)


def _spell_items(
    items: Sequence[Any], kind: type[Any], found: list[str], room: int, depth: int
) -> int:
    opening, closing = _BRACKETS[kind]
    found.append(opening)
    room -= len(opening)
    for place, item in enumerate(items):
        if place:
            found.append(", ")
            room -= 2
        room = _spell(item, found, room, depth + 1)
        if kind is dict:
            found.append(": ")
            value = cast("dict[Any, Any]", items)[item]
            room = _spell(value, found, room - 2, depth + 1)
        if room < 0:
            return room
    closing = f",{closing}" if kind is tuple and len(items) == 1 else closing
    found.append(closing)
    return room - len(closing)


def _scalar(value: Any, most: int) -> str:
    most = max(most, 0)
    if isinstance(value, (str, bytes, bytearray)) and len(value) > most:
        return repr(value[:most]) + "…"
    try:
        return repr(value)[: most + 1]
    except (ValueError, RecursionError):  # an integer with too many digits
        return f"<{type(value).__name__}>"
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__}>"


def call_text(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """`name(1, b=2)`, with long arguments cut."""
    share = max(MOST_CHARS // max(1, len(args) + len(kwargs)), 80)
    parts = [value_text(item, most=share) for item in args]
    parts += [f"{key}={value_text(item, most=share)}" for key, item in kwargs.items()]
    text = f"{name}({', '.join(parts)})"
    return text if len(text) <= 2 * MOST_CHARS else text[: 2 * MOST_CHARS] + "…"


def rest_of(value: Any, expected: Any) -> tuple[str, int]:
    """A value as text, and how many of its first items are left out: those of a long list or tuple
    that are as expected."""
    text = value_text(value)
    if not text.endswith("…") or type(value) not in (list, tuple):
        return text, 0
    left_out = _same_items(value, expected) if type(expected) is type(value) else 0
    return (value_text(value[left_out:]), left_out) if left_out else (text, 0)


def _same_items(left: Sequence[Any], right: Sequence[Any]) -> int:
    """The number of equal items at the beginning."""
    try:
        pairs = enumerate(zip(left, right, strict=False))
        return next((place for place, (a, b) in pairs if a != b), min(len(left), len(right)))
    except Exception:  # deep nesting, or a comparison that is none
        return 0


def output_text(output: str, expected: str | None) -> tuple[str, int]:
    """An output, cut where it is long, and how many of its first characters are left out: of a long
    one those before the line in which it leaves the expected one."""
    if len(output) <= MOST_CHARS:
        return visible(output), 0
    start = 0
    if expected is not None:
        start = max(0, first_difference(output, expected) - _LEAD_CHARS)
        start = output.rfind("\n", 0, start) + 1 if start else 0
    text = visible(output[start : start + MOST_CHARS])
    return text + ("…" if start + MOST_CHARS < len(output) else ""), start


def first_difference(left: str, right: str) -> int:
    """The first place at which two texts differ; the length of the shorter where there is none."""
    shorter = min(len(left), len(right))
    start = 0
    while start < shorter and left[start : start + _BLOCK] == right[start : start + _BLOCK]:
        start += _BLOCK
    pairs = enumerate(
        zip(left[start : start + _BLOCK], right[start : start + _BLOCK], strict=False)
    )
    return next((start + place for place, (a, b) in pairs if a != b), shorter)
