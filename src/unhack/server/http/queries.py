"""Query parameters, read strictly; an error names the parameter."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import overload

from starlette.requests import Request

from unhack.server.http.problems import RequestRefused

_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][-+]?[0-9]{1,4})?")


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
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(number) or (default is not None and not number.is_integer()):
        kind = "number" if default is None else "whole number"
        raise _refused(name, f"{text[:40]!r} is no {kind}")
    if not low <= number <= high:
        raise _refused(name, f"{text[:40]} is not between {low:g} and {high:g}")
    return number


def choice_of(request: Request, name: str, valid: Sequence[str]) -> str | None:
    """The word that a parameter holds, one of `valid`. Raises RequestRefused (422)."""
    text = request.query_params.get(name)
    if text is not None and text not in valid:
        raise _refused(name, f"{text[:40]!r} is none of {', '.join(valid)}")
    return text


def _refused(name: str, words: str) -> RequestRefused:
    return RequestRefused(422, "invalid", f"{name}: {words}", field=name)
