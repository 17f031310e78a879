"""Bodies: bounded while they arrive, JSON by the letter, checked by a model.

Covered: bodies above the limit (413 before they are read to the end), malformed JSON, NaN and
infinities, lone surrogates, bytes that are no UTF-8, wrong types and unknown fields (each error
names the field), nesting that is too deep.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from unhack.server.http.problems import RequestRefused

Model = TypeVar("Model", bound=BaseModel)


async def read_bytes(request: Request, *, most: int) -> bytes:
    """The body. Raises RequestRefused (413) as soon as it is longer than `most` bytes."""
    parts: list[bytes] = []
    total = 0
    async for part in request.stream():
        total += len(part)
        if total > most:
            raise RequestRefused(
                413, "too_large", f"the body is longer than {most} bytes; send it in parts"
            )
        parts.append(part)
    return b"".join(parts)


async def read_model(request: Request, model: type[Model], *, most: int) -> Model:
    """The body as a `model`. Raises RequestRefused."""
    return as_model(read_json(await read_bytes(request, most=most)), model)


def read_json(raw: bytes) -> Any:
    """The JSON value. Raises RequestRefused (400)."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # a lone surrogate ends here
    except UnicodeDecodeError as error:
        raise RequestRefused(400, "malformed", f"the body is no UTF-8: {error.reason}") from None
    except UnicodeEncodeError:
        raise RequestRefused(
            400, "malformed", "a text of the body holds a lone surrogate (\\ud800 to \\udfff)"
        ) from None
    except RecursionError:
        raise RequestRefused(400, "malformed", "the body is nested too deeply") from None
    except ValueError as error:
        raise RequestRefused(400, "malformed", f"the body is no JSON: {error}") from None
    return value


def as_model(value: Any, model: type[Model]) -> Model:
    """The value as a `model`. Raises RequestRefused (422) that names the first wrong field."""
    try:
        return model.model_validate(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "body"
        raise RequestRefused(422, "invalid", f"{field}: {first['msg']}", field=field) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
