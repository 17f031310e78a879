"""The text of a completion, which may be any: half of a surrogate pair too, as in `"\\ud800"`.

What a policy writes is judged, so no text of one refuses the request of a whole batch; everywhere
else in a body a lone surrogate is refused. Clients read this too, so nothing of the server is
imported here.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError


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
"""A text; pydantic's own takes no lone surrogate."""
