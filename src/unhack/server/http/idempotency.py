"""Idempotency keys: a request that is sent again gets the reply of the first.

Covered: the same key with another body is refused; requests of one key that come together wait for
each other. What was stored under a key stays for as long as its batch.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from starlette.requests import Request

from unhack.server.http.problems import invalid

HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(slots=True)
class _Hold:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class IdempotencyKeys:
    """The keys of requests that are under way."""

    def __init__(self) -> None:
        self._holds: dict[tuple[int, str], _Hold] = {}

    @contextlib.asynccontextmanager
    async def hold(self, tenant_id: int, key: str | None) -> AsyncGenerator[None]:
        """Let one request of a tenant's key in at a time."""
        if key is None:
            yield
            return
        hold = self._holds.setdefault((tenant_id, key), _Hold())
        hold.users += 1
        try:
            async with hold.lock:
                yield
        finally:
            hold.users -= 1
            if not hold.users:
                del self._holds[tenant_id, key]


def key_of(request: Request) -> str | None:
    """The request's idempotency key. Raises RequestRefused (422)."""
    key = request.headers.get(HEADER)
    if key is not None and not _KEY.fullmatch(key):
        raise invalid(HEADER, "give 1 to 200 visible ASCII characters, such as a UUID")
    return key


def digest_of(request: Request, raw: bytes) -> str:
    """The hash of what was asked: the route and the body."""
    return hashlib.sha256(request.url.path.encode() + b"\n" + raw).hexdigest()


def check_same(stored: str | None, asked: str | None) -> None:
    """Raise RequestRefused (422) where a key was sent before with another body."""
    if stored != asked:
        words = "this key came before with another request; send a new one"
        raise invalid(HEADER, words, code="key_reused")
