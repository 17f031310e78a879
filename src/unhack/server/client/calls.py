"""A request to the server as a value: what is sent, and the model of what comes back.

Covered: idempotency keys for what must not be done twice, so that it may be sent again.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from unhack.server.client.service_error import ServiceError

Reply = TypeVar("Reply", bound=BaseModel)
AnyTask = str | Mapping[str, Any]
"""The id of a task, or a task as a value."""
AnyCompletion = str | Sequence[Mapping[str, Any]]
"""A text, or the messages of a chat."""


@dataclass(frozen=True, slots=True)
class ServerCall(Generic[Reply]):
    """One request."""

    method: str
    path: str
    reply: type[Reply]
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def repeatable(self) -> bool:
        """True where sending it twice does it once."""
        return self.method != "POST" or "Idempotency-Key" in self.headers

    def content(self) -> bytes | None:
        """The body as it is sent; None where there is none. A text with a lone surrogate, which
        UTF-8 cannot say, is sent escaped: the server answers which it is. Raises ServiceError."""
        if self.body is None:
            return None
        try:
            return json.dumps(self.body, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError:
            return json.dumps(self.body, allow_nan=False).encode()
        except ValueError:
            raise ServiceError("the request holds NaN or an infinity; JSON has neither") from None


class TextReply(BaseModel):
    """A reply that is no JSON."""

    text: str


def get(path: str, reply: type[Reply], **query: Any) -> ServerCall[Reply]:
    """A `GET`, whose query leaves out what is None."""
    given = {name: value for name, value in query.items() if value is not None}
    return ServerCall("GET", path, reply, query=given)


def delete(path: str, reply: type[Reply]) -> ServerCall[Reply]:
    """A `DELETE`."""
    return ServerCall("DELETE", path, reply)


def post(path: str, reply: type[Reply], body: Any, *, once: bool = False) -> ServerCall[Reply]:
    """A `POST` of a model or of JSON; `once` gives it an idempotency key."""
    headers = {"Idempotency-Key": uuid.uuid4().hex} if once else {}
    sent = body.model_dump(mode="json", by_alias=True) if isinstance(body, BaseModel) else body
    return ServerCall("POST", path, reply, sent, headers=headers)


def part(text: str) -> str:
    """A text as one part of a path."""
    return quote(text, safe="")
