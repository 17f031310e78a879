"""Errors as a client sees them: a status, a stable code, one sentence, never a stack trace.

{"error": {"code": "invalid", "message": "completion: …", "field": "completion"}}
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import uuid
from collections.abc import Generator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unhack.core.errors import SandboxError, SandboxUnavailableError, TaskError, UsageError

_log = logging.getLogger("unhack.server")


class RequestRefused(Exception):
    """A request that gets an error reply. `headers` go with it, such as Retry-After."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message, field
        self.headers = headers or {}


class FieldError(UsageError):
    """A fault in a field of a body that its model cannot tell."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(f"{field}: {words}")
        self.field = field


@contextlib.contextmanager
def of_field(field: str) -> Generator[None]:
    """Raise a UsageError of the block as one of this field."""
    try:
        yield
    except FieldError:
        raise
    except UsageError as error:
        raise FieldError(field, str(error)) from None


def problem(
    status: int, code: str, message: str, *, field: str = "", headers: dict[str, str] | None = None
) -> Response:
    """The reply."""
    error: dict[str, Any] = {"code": code, "message": message}
    if field:
        error["field"] = field
    return JSONResponse({"error": error}, status, headers)


async def on_refused(_: Request, error: Exception) -> Response:
    """The handler of RequestRefused."""
    assert isinstance(error, RequestRefused)
    return problem(
        error.status, error.code, error.message, field=error.field, headers=error.headers
    )


async def on_known(request: Request, error: Exception) -> Response:
    """The handler of UnhackError: the user's mistake is 400, a sandbox that failed is 503.

    Files of the server's tasks and the state of its sandbox are told to the log alone.
    """
    if isinstance(error, SandboxUnavailableError | SandboxError):
        number = _logged(error)
        message = f"the server's sandbox failed; its log has it under {number}"
        return problem(503, "sandbox", message, headers={"Retry-After": "5"})
    if isinstance(error, UsageError) and not isinstance(error, TaskError):
        field = error.field if isinstance(error, FieldError) else ""
        return problem(400, "invalid", str(error), field=field)
    return await on_unknown(request, error)


async def on_unknown(_: Request, error: Exception) -> Response:
    """The handler of everything else: the log gets the trace, the client a number to ask with."""
    number = _logged(error)
    return problem(500, "internal", f"unhack failed; the server's log has it under {number}")


async def on_database(request: Request, error: Exception) -> Response:
    """The handler of a database that does not answer, is full, or belongs to another server."""
    return await on_refused(request, database_refusal(error))


def database_refusal(error: Exception) -> RequestRefused:
    """The refusal of what a database did not answer: it may be asked again. A statement that SQLite
    does not understand is our fault."""
    number, cause = _logged(error), getattr(error, "orig", None)
    if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
        words = f"unhack failed; the server's log has it under {number}"
        return RequestRefused(500, "internal", words)
    words = f"the database does not answer; the server's log has it under {number}"
    return RequestRefused(503, "database", words, headers={"Retry-After": "5"})


def _logged(error: Exception) -> str:
    number = uuid.uuid4().hex[:12]
    _log.error("request failed", exc_info=error, extra={"error_id": number})
    return number
