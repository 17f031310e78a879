"""Query parameters, read strictly; an error names the parameter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import overload

from starlette.requests import Request

from unhack.server.http.problems import RequestRefused

_NUMBER = re.compile(r"\d{1,15}(\.\d{1,15})?")


@overload
def number_of(
    request: Request, name: str, *, default: None, low: float, high: float
) -> float | None: ...
@overload
def number_of(request: Request, name: str, *, default: int, low: float, high: float) -> float: ...
def number_of(
    request: Request, name: str, *, default: int | None, low: float, high: float
) -> float | None:
    """The number that a parameter holds; a whole one where the default is. Raises RequestRefused
    (422)."""
    text = request.query_params.get(name)
    if text is None:
        return default
    whole = default is not None
    if not text.isascii() or not _NUMBER.fullmatch(text) or (whole and "." in text):
        raise _refused(name, f"{text[:40]!r} is no {'whole ' if whole else ''}number")
    if not low <= float(text) <= high:
        raise _refused(name, f"{text} is not between {low:g} and {high:g}")
    return float(text)


def choice_of(request: Request, name: str, valid: Sequence[str]) -> str | None:
    """The word that a parameter holds, one of `valid`. Raises RequestRefused (422)."""
    text = request.query_params.get(name)
    if text is not None and text not in valid:
        raise _refused(name, f"{text[:40]!r} is none of {', '.join(valid)}")
    return text


def _refused(name: str, words: str) -> RequestRefused:
    return RequestRefused(422, "invalid", f"{name}: {words}", field=name)
