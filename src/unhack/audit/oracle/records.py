"""Answers that are JSON records: the same keys and values, however they are written.

Covered: objects, and lists that hold them; order of keys, case, numbers as strings.
Not covered: lists without objects (`listings`), values that are the same by calculation.
"""

from __future__ import annotations

import json
import re
from typing import cast

_FORMULA = re.compile(r"[/\\^]")
"""Signs of values that may be the same by calculation."""


def same_record(given: str, answer: str) -> bool | None:
    """Tell whether two JSON texts with objects say the same; None where one is no such text."""
    left, right = _read(given), _read(answer)
    if left is None or right is None:
        return None
    return left == right


def _read(text: str) -> object | None:
    if "{" not in text or ":" not in text or _FORMULA.search(text):
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if isinstance(value, (str, int, float)) else _plain(value)


def _plain(value: object) -> object:
    """The value with scalars as texts or numbers, case folded."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {key.strip().casefold(): _plain(one) for key, one in items}
    if isinstance(value, list):
        return [_plain(one) for one in cast("list[object]", value)]
    text = str(value).strip().casefold()
    try:
        return float(text)
    except ValueError:
        return text
