"""Bodies of requests: a field that is not known is refused, a whole number is one as JSON says, and
a completion may be any text.

    count: Annotated[int, Field(ge=1), AS_WHOLE] = 1

What a policy writes is judged, so no text of one refuses the request of a whole batch; everywhere
else in a body a lone surrogate is refused. Clients read this too, so nothing of the server is
imported here.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError


class RequestModel(BaseModel):
    """A body, or a part of one."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


AS_WHOLE = BeforeValidator(_whole)
"""Stands after the bounds of an `int` field of a request, which the schema then shows: `3.0` is a
whole number, as JSON Schema says; `3.5` and `true` are none."""


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise PydanticCustomError("string_type", "Input should be a valid string")


def _same(value: str) -> str:
    return value


CompletionText = Annotated[
    str,
    PlainValidator(_text),
    PlainSerializer(_same, return_type=Any),
    WithJsonSchema({"type": "string"}),
]
"""A text, with half of a surrogate pair too, as in `"\\ud800"`; pydantic's own takes none."""
