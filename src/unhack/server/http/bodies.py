"""Bodies: bounded while they arrive, JSON by the letter, checked by a model.

Covered: bodies above the limit (413; never more than the limit is kept), malformed JSON, NaN and
infinities, lone surrogates, bytes that are no UTF-8, wrong types and unknown fields (each error
names the field), nesting that is too deep.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from functools import cache
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from unhack.server.http.problems import RequestRefused

Model = TypeVar("Model", bound=BaseModel)
_DROPPED_BYTES = 256 << 20
_SHORT_BYTES = 1 << 18
_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][-+]?[0-9]{1,4})?")


async def read_bytes(request: Request, *, most: int) -> bytes:
    """The body. Raises RequestRefused (413) for one of more than `most` bytes.

    The rest of a long body is read and dropped, up to a bound: a client that is still sending
    would not see the reply otherwise.
    """
    parts: list[bytes] = []
    total = 0
    async for part in request.stream():
        total += len(part)
        if total > most + _DROPPED_BYTES:
            break
        if total > most:
            parts.clear()
        else:
            parts.append(part)
    if total > most:
        raise RequestRefused(
            413, "too_large", f"the body is longer than {most} bytes; send it in parts"
        )
    return b"".join(parts)


async def read_whole(raw: bytes, model: type[Model]) -> Model:
    """The JSON of a body as a `model`; a long one is read beside the event loop. Raises
    RequestRefused."""
    if len(raw) < _SHORT_BYTES:
        return as_model(read_json(raw), model)
    return await asyncio.to_thread(lambda: as_model(read_json(raw), model))


def query_number(
    request: Request, name: str, *, default: float, least: float, most: float
) -> float:
    """A number of the query; a whole one where the default is an `int`. Raises RequestRefused (422)
    that names it."""
    given = request.query_params.get(name)
    if given is None:
        return default
    whole = isinstance(default, int)
    number = float(given) if _NUMBER.fullmatch(given) else math.nan
    if least <= number <= most and (number.is_integer() or not whole):
        return number
    kind = "whole number" if whole else "number"
    raise RequestRefused(
        422, "invalid", f"{name}: give a {kind} from {least:g} to {most:g}", field=name
    )


async def read_model(request: Request, model: type[Model], *, most: int) -> Model:
    """The body as a `model`. Raises RequestRefused."""
    return await read_whole(await read_bytes(request, most=most), model)


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
        known = _field_names(model)
        parts = [str(part) for part in first["loc"] if isinstance(part, int) or part in known]
        field = ".".join(parts) or "body"
        if first["type"] == "extra_forbidden":
            field = ".".join([*parts, str(first["loc"][-1])])
        raise RequestRefused(422, "invalid", f"{field}: {first['msg']}", field=field) from None


@cache
def _field_names(model: type[BaseModel]) -> frozenset[str]:
    """The names of the fields of a model and of all models in it: what is no name of a field, in
    the place of an error, is pydantic's name of a member of a union."""
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return frozenset(name for part in parts for name in part.get("properties", {}))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
