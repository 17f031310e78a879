"""Whole numbers as JSON has them: `3.0` is one, as JSON Schema says; `3.5` and `true` are none.

count: Annotated[int, Field(ge=1), AS_WHOLE] = 1
"""

from __future__ import annotations

from typing import Any

from pydantic import BeforeValidator


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


AS_WHOLE = BeforeValidator(_whole)
"""Stands after the bounds of an `int` field of a request, which the schema then shows."""
