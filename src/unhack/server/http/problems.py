"""Errors as a client sees them: a status, a stable code, one sentence, never a stack trace.

{"error": {"code": "invalid", "message": "completion: …", "field": "completion"}}
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import uuid
from collections.abc import Generator, Mapping

from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from unhack.core.errors import (
    NotInstalledError,
    SandboxError,
    SandboxUnavailableError,
    TaskError,
    UsageError,
)
from unhack.server.database.database import DatabaseTakenError, is_of_the_disk

_log = logging.getLogger("unhack.server")
_SOON_S, _FULL_S = 5, 30
"""With a 503, after which clients ask again; after a 500 none does."""
_CODES = {404: "not_found", 405: "method_not_allowed"}


class RequestRefused(Exception):
    """A request that gets an error reply. `headers` go with it; `retry_s` seconds, where they are
    above 0, as Retry-After."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str = "",
        retry_s: int = 0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message, field
        self.headers = {**({"Retry-After": str(retry_s)} if retry_s else {}), **(headers or {})}

    def reply(self) -> Response:
        """The refusal as a client gets it."""
        error = {"code": self.code, "message": self.message}
        if self.field:
            error["field"] = self.field
        return JSONResponse({"error": error}, self.status, self.headers)


def invalid(field: str, words: str, *, status: int = 422, code: str = "invalid") -> RequestRefused:
    """The refusal of a request by a field or a header, which its message names first."""
    return RequestRefused(status, code, f"{field}: {words}", field=field)


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


def refusal_of(error: Exception) -> RequestRefused:
    """The refusal that answers an error: the user's mistake is 400, a sandbox that failed or a
    database that does not answer is 503, a full disk 507, what a package is missing for 501,
    everything else is 500 with a number to ask with.

    Files of the server's tasks and the state of its sandbox are told to the log alone.
    """
    if isinstance(error, RequestRefused):
        return error
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"][1:]))
        return invalid(field, first["msg"])
    if isinstance(error, HTTPException):
        code = _CODES.get(error.status_code, "refused")
        headers = dict(error.headers or {})
        return RequestRefused(error.status_code, code, str(error.detail), headers=headers)
    if isinstance(error, UsageError) and not (isinstance(error, TaskError) or is_lack(error)):
        field = error.field if isinstance(error, FieldError) else ""
        return RequestRefused(400, "invalid", str(error), field=field)
    number = uuid.uuid4().hex[:12]
    _log.error("request failed", exc_info=error, extra={"error_id": number})
    told = f"; the server's log has it under {number}"
    if is_lack(error):
        return RequestRefused(501, "not_installed", f"this server lacks a package for it{told}")
    if isinstance(error, SandboxUnavailableError | SandboxError):
        words = f"the server's sandbox failed; its log has it under {number}"
        return RequestRefused(503, "sandbox", words, retry_s=_SOON_S)
    if is_of_the_disk(error):
        words = f"the disk of the server's data is full, or fails{told}"
        return RequestRefused(507, "disk", words, retry_s=_FULL_S)
    if isinstance(error, OperationalError | DatabaseTakenError) and not _is_our_fault(error):
        return RequestRefused(
            503, "database", f"the database does not answer{told}", retry_s=_SOON_S
        )
    return RequestRefused(500, "internal", f"unhack failed{told}")


def is_lack(error: BaseException | None) -> bool:
    """True where a package is missing on the server, however the error came to be told."""
    while error is not None and not isinstance(error, NotInstalledError):
        error = error.__cause__ or error.__context__
    return error is not None


def _is_our_fault(error: Exception) -> bool:
    """True for a statement that SQLite does not understand."""
    cause = getattr(error, "orig", None)
    return getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
