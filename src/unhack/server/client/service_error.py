"""The error of a client whose server refused."""

from __future__ import annotations

from unhack.core.errors import UnhackError


class ServiceError(UnhackError):
    """A server refused, or did not answer; the message is the server's own.

    Example:

        try:
            client.task("strings/knit-row")
        except ServiceError as error:
            print(error.status, error.code, error)
    """

    def __init__(self, message: str, *, status: int = 0, code: str = "", field: str = "") -> None:
        super().__init__(message)
        self.status = status
        """Of HTTP; 0 where there was no reply."""
        self.code = code
        """The server's word for programs, such as `not_found`."""
        self.field = field
        """The field of the request that is wrong; empty where it is none."""
