"""Bodies: bounded while they arrive, JSON by the letter, checked by a model.

Covered: bodies above the limit (413; never more than the limit is kept), many long ones at a time
(`body_room`), clients that stop in the middle (408), encodings (415), malformed JSON, a name twice
in an object, NaN, infinities and numbers beyond a double, lone surrogates (but in completions,
which are judged whatever they hold), bytes that are no UTF-8, too many values, nesting that is too
deep, wrong types and unknown fields. Each error names the field; where the body as a whole is
wrong, that is `body`.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import PydanticCustomError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from unhack.server.http.body_room import BodyRoom, HeldRoom
from unhack.server.http.problems import RequestRefused, invalid

Model = TypeVar("Model", bound=BaseModel)
MOST_CHARACTERS = 4 << 20
"""Characters of one completion or program: to find the code in it costs seconds for each ten
million, in the process that serves everybody."""
MOST_VALUES = 2_000_000
"""Values of one JSON body: a parser needs up to 200 bytes for each, whatever its length is."""
_VALUE_BYTES = 100
_MOST_NAMES = 20_000
"""Names of one object: each that a model does not know is a complaint."""
_FEW = 1000
_STEP_BYTES = 1 << 20
_DROPPED_BYTES = 256 << 20
_SHORT_BYTES = 1 << 18
_PART_S, _WHOLE_S = 30.0, 600.0
"""Seconds without a byte, and seconds in all, after which a body is given up."""
_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][-+]?[0-9]{1,4})?")


async def read_bytes(request: Request, *, most: int) -> bytes:
    """The body. Raises RequestRefused (408, 413, 415).

    The rest of a long body is read and dropped, up to a bound: a client that is still sending
    would not see the reply otherwise.
    """
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        words = f"{encoding[:40]!r} is not decoded here; send the body as it is"
        raise invalid("Content-Encoding", words, status=415, code="encoded")
    held: HeldRoom | None = getattr(request.state, "held", None)
    parts: list[bytes] = []
    total = 0
    stream = request.stream()
    try:
        async with asyncio.timeout(_WHOLE_S):
            while True:
                async with asyncio.timeout(_PART_S):
                    part = await anext(stream, None)
                if part is None or total > most + _DROPPED_BYTES:
                    break
                total += len(part)
                if total > most:
                    parts.clear()
                    continue
                if held is not None and total > held.amount:
                    await held.grow(_ahead(request, total, most))
                parts.append(part)
    except TimeoutError:
        words, last = "the body stopped on its way", {"Connection": "close"}
        raise RequestRefused(408, "too_slow", words, field="body", headers=last) from None
    if total > most:
        words = f"the body is longer than {most} bytes; send it in parts"
        raise RequestRefused(413, "too_large", words, field="body")
    return b"".join(parts)


def _ahead(request: Request, total: int, most: int) -> int:
    """The room to take for a body of which `total` bytes have come."""
    told = request.headers.get("content-length", "")
    known = int(told) if told.isdecimal() and len(told) < 12 else 0
    return min(most, max(known, -(-total // _STEP_BYTES) * _STEP_BYTES if total > 4096 else total))


async def read_body(request: Request) -> bytes:
    """The body, with room for its bytes and for what they are parsed into; `keep_room` gives it
    back. Raises RequestRefused (408, 413, 415, 503; 400 for one of too many values)."""
    held = _held(request)
    raw = await read_bytes(request, most=held.room.longest)
    if len(raw) < _SHORT_BYTES:
        values = count_values(raw)
    else:
        async with held.room.parsing:
            values = await asyncio.to_thread(count_values, raw)
    if values > MOST_VALUES:
        raise _malformed("body", f"the body holds more than {MOST_VALUES} values; send it in parts")
    await held.grow(len(raw) + _VALUE_BYTES * values)
    return raw


def keep_room(request: Request, most: int = 0) -> None:
    """Keep `most` bytes of the room that the request's body took, and give the rest back."""
    _held(request).keep(most)


class Deferred(Response):
    """A reply that is worked out after its endpoint has returned: FastAPI holds a request's body
    for as long as the endpoint runs, whatever room was given back."""

    def __init__(self, work: Callable[[], Awaitable[Response]]) -> None:
        super().__init__()
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Work it out and send it."""
        reply = await self._work()
        await reply(scope, receive, send)


def _held(request: Request) -> HeldRoom:
    """The room of the request, which its route closes."""
    held: HeldRoom | None = getattr(request.state, "held", None)
    if held is None:
        room = request.app.state.room
        assert isinstance(room, BodyRoom)
        held = request.state.held = HeldRoom(room, request.state.caller.tenant_id)
    return held


def count_values(raw: bytes) -> int:
    """A bound on the number of JSON values. What stands in texts does not count, unless there are
    few marks in all; regular expressions would hold up the event loop for seconds here."""
    found = _marks(raw)
    if found < _FEW:
        return found
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    texts = plain.count(b'"') // 2
    if texts > MOST_VALUES:
        return texts
    return _marks(b"".join(plain.split(b'"')[::2]))


def _marks(raw: bytes) -> int:
    return 1 + raw.count(b",") + raw.count(b":") + raw.count(b"[") + raw.count(b"{")


def _all(value: Any) -> Any:
    return value


class JsonRequest(Request):
    """A request whose body was read as a model, whatever its Content-Type says."""

    def __init__(self, request: Request, raw: bytes, value: BaseModel) -> None:
        headers = [each for each in request.scope["headers"] if each[0] != b"content-type"]
        headers.append((b"content-type", b"application/json"))
        super().__init__({**request.scope, "headers": headers}, request.receive)
        self._raw, self._value = raw, value

    async def body(self) -> bytes:
        """The body as it came."""
        return self._raw

    async def json(self) -> BaseModel:
        """The model of the body, which FastAPI takes as it is."""
        return self._value


async def read_model(request: Request, model: type[BaseModel]) -> JsonRequest:
    """The request with its body as a `model`; long ones are parsed beside the event loop, one at a
    time. What a model's `strict_part` leaves out may hold lone surrogates. Raises RequestRefused.
    """
    raw = await read_body(request)
    strict: Callable[[Any], Any] = getattr(model, "strict_part", _all)

    def read() -> BaseModel:
        return as_model(read_json(raw, strict=strict), model)

    if len(raw) < _SHORT_BYTES:
        return JsonRequest(request, raw, read())
    async with _held(request).room.parsing:
        return JsonRequest(request, raw, await asyncio.to_thread(read))


def check_length(text: str, *, field: str) -> None:
    """Raise RequestRefused (422) for a completion or program that is too long."""
    if len(text) > MOST_CHARACTERS:
        words = f"{len(text)} characters; at most {MOST_CHARACTERS} of one text are judged"
        raise invalid(field, words, code="too_long")


def number_in(least: float, most: float, *, whole: bool = False) -> BeforeValidator:
    """The check of a number in a query, whose words name both bounds."""

    def check(given: Any) -> float:
        number = float(given) if _NUMBER.fullmatch(given) else math.nan
        if least <= number <= most and (number.is_integer() or not whole):
            return number
        told = {"least": f"{least:g}", "most": f"{most:g}", "kind": "whole " if whole else ""}
        raise PydanticCustomError("number", "give a {kind}number from {least} to {most}", told)

    return BeforeValidator(check)


def read_json(raw: bytes, *, strict: Callable[[Any], Any] = _all) -> Any:
    """The JSON value. What `strict` leaves out may hold lone surrogates. Raises RequestRefused
    (400) that names the field where there is one."""
    wrong: list[_Wrong] = []

    def no_number(words: str) -> _Wrong:
        if not wrong:  # the first one is told
            wrong.append(_Wrong(words))
        return wrong[0]

    def read_float(text: str) -> float | _Wrong:
        number = float(text)
        far = math.isinf(number)
        return no_number(f"{text[:20]} is beyond the largest double") if far else number

    value: Any = None
    try:
        value = json.loads(
            raw.decode("utf-8"),
            parse_constant=lambda name: no_number(f"{name} is not a JSON number"),
            parse_float=read_float,
            object_pairs_hook=_without_twins,
        )
        if not wrong and (
            b"\\ud" in raw or b"\\uD" in raw
        ):  # by halves it is a character, alone it is none
            json.dumps(strict(value), ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise _malformed("body", f"the body is not UTF-8: {error.reason}") from None
    except UnicodeEncodeError:
        words = "holds a lone surrogate (\\ud800 to \\udfff)"
        raise _malformed(path_to(strict(value), _has_surrogate), words) from None
    except RecursionError:
        raise _malformed("body", "the body is nested too deeply") from None
    except ValueError as error:
        raise _malformed("body", f"the body is not JSON: {error}") from None
    if wrong:
        raise _malformed(path_to(value, lambda each: each is wrong[0]), wrong[0].words)
    return value


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A value in the place of a number that is none."""

    words: str


def _malformed(field: str, words: str) -> RequestRefused:
    message = words if field == "body" else f"{field}: {words}"
    return RequestRefused(400, "malformed", message, field=field)


def path_to(value: Any, wanted: Callable[[Any], bool]) -> str:
    """The path of the first name or value in a JSON value that is wanted; `body` for the value
    itself."""
    path: list[str] = []
    levels = [_children(value)]
    while levels:
        found = next(levels[-1], None)
        if found is None:
            levels.pop()
            path = path[:-1]
            continue
        name, child = found
        if wanted(child) or wanted(name):
            shown = [*path, str(name)[:100]]
            return ".".join(shown).encode("ascii", "backslashreplace").decode()
        if isinstance(child, dict | list):
            levels.append(_children(cast("dict[str, Any] | list[Any]", child)))
            path.append(str(name)[:100])
    return "body"


def _children(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return iter(cast("dict[str, Any]", value).items())
    return enumerate(cast("list[Any]", value)) if isinstance(value, list) else iter(())


def _has_surrogate(value: Any) -> bool:
    return isinstance(value, str) and has_surrogate(value)


def has_surrogate(text: str) -> bool:
    """True for a text that holds half of a character, which UTF-8 cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def as_model(value: Any, model: type[Model]) -> Model:
    """The value as a `model`. Raises RequestRefused (422) that names the first wrong field."""
    try:
        return model.model_validate(value, strict=True)
    except ValidationError as error:
        found = [
            (_path(item["loc"], model, extra=item["type"] == "extra_forbidden"), item["msg"])
            for item in error.errors(include_url=False, include_input=False, include_context=False)
        ]
    [first, _] = found[0]
    # A union complains once for each member: the complaint that is deepest knows the most.
    path, words = max((each for each in found if each[0][: len(first)] == first), key=_depth)
    field = ".".join(path) or "body"
    raise invalid(field, words)


def _depth(found: tuple[tuple[str, ...], str]) -> int:
    return len(found[0])


def _path(
    location: tuple[int | str, ...], model: type[BaseModel], *, extra: bool
) -> tuple[str, ...]:
    """The names and indices of a place, without pydantic's names of members of a union."""
    known = _field_names(model)
    last = len(location) - 1
    return tuple(
        str(part)[:100]
        for at, part in enumerate(location)
        if isinstance(part, int) or part in known or (extra and at == last)
    )


@cache
def _field_names(model: type[BaseModel]) -> frozenset[str]:
    """The names of the fields of a model and of all models in it."""
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return frozenset(name for part in parts for name in part.get("properties", {}))


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object. Raises ValueError where two readers could see two bodies."""
    if len(pairs) > _MOST_NAMES:
        raise ValueError(f"an object has more than {_MOST_NAMES} names")
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"the name {name[:100]!a} stands twice in an object")
            seen.add(name)
    return found
