"""Exceptions of the candidate as the script gets them.

A class of the solution becomes a class here, below the nearest builtin or standard exception; what
is no Exception, and what would end a loop, arrives as a RuntimeError.

Covered: arguments, text, cause, attributes (asked of the object), groups.
Not covered: tracebacks; exceptions of other libraries are their nearest builtin.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, cast

from unhack.core import plain
from unhack.sandbox.guest.candidate.serialisation import Reader
from unhack.sandbox.guest.candidate.standard import TYPES, data_type
from unhack.sandbox.guest.judge.link import CandidateLink
from unhack.sandbox.guest.judge.names import in_script
from unhack.sandbox.guest.judge.proxies import member


class CandidateEndedError(BaseException):
    """The candidate's process is gone (a limit, a crash, an exit) or does not keep the protocol.

    It is no Exception, so that `except Exception` and `pytest.raises(Exception)` do not take the
    end of the solution for an error that it raised.
    """


class CandidateExitError(RuntimeError):
    """The candidate raised SystemExit, KeyboardInterrupt or another exception that is no error."""


_ENDS = ("builtins.StopIteration", "builtins.StopAsyncIteration")


class ExceptionTable:
    """Builds exceptions out of what the candidate says of them."""

    def __init__(self, seal: CandidateLink) -> None:
        self.seal = seal

    def nearest(self, names: Any) -> type[Exception]:
        """The first of the named classes that this process has; RuntimeError for what is no
        error."""
        for name in names:
            if name in _ENDS:
                return RuntimeError
            builtin = TYPES.get(name.removeprefix("builtins.")) if "." in name else None
            if builtin is not None and issubclass(builtin, Exception):
                return builtin
            found = data_type(name)
            if found is not None and issubclass(found, Exception):
                return found
        return CandidateExitError

    def awaited_end(self, described: Any) -> str:
        """The name of a raised end of an iteration that the running script names: it cannot be
        raised here, and a RuntimeError in its place would pass for a mistake of the solution."""
        names = described.get("names") or ("",)
        short = names[0].removeprefix("builtins.") if names[0] in _ENDS else ""
        frame: Any = sys._getframe(2) if short else None  # pyright: ignore[reportPrivateUsage]
        while frame is not None:
            if short in frame.f_code.co_names and in_script(frame):
                return short
            frame = frame.f_back
        return ""

    def build(self, described: Any, reader: Reader, depth: int = 0) -> Exception:
        """An exception that can be raised here. Malformed descriptions raise PlainDataError."""
        if depth > 16:
            raise plain.PlainDataError("causes nested too deeply")
        if "mine" in described:
            return self.seal.script.own_error(described["mine"])
        if "made" in described:
            args = tuple(reader.decode(item) for item in described["args"])
            return self.seal.script.made_error(described["made"], args)
        text = str(described["text"])
        args = tuple(reader.decode(item) for item in described["args"])
        if "class" in described:
            error = self.seal.classes.error(
                described["number"], described["class"], args, text=text
            )
        else:
            names = [str(name) for name in described["names"]]
            if names[:1] == ["builtins.SystemExit"] and self.seal.exits:
                code = args[0] if args and type(args[0]) in (int, str) else None
                return SystemExit(code)  # type: ignore[return-value]
            error = self._make(self.nearest(names), args, text, name=names[0] if names else "")
        for name, value in described.get("members", ()):
            slot, decoded = member(cast("type", type(error)), name), reader.decode(value)
            with contextlib.suppress(AttributeError, TypeError):  # no such, or not of this type
                slot.__set__(error, decoded)
        for name, value in described.get("values", ()):
            if "class" not in described:
                vars(error)[str(name)] = reader.decode(value)
        if "cause" in described:
            error.__cause__ = self.build(described["cause"], reader, depth + 1)
        context = described.get("context")
        if context is not None:
            is_cause = context is True
            error.__context__ = (
                error.__cause__ if is_cause else self.build(context, reader, depth + 1)
            )
        return error

    def _make(
        self, kind: type[Exception], args: tuple[Any, ...], text: str, *, name: str
    ) -> Exception:
        if kind is CandidateExitError or (kind is RuntimeError and name in _ENDS):
            short = name.removeprefix("builtins.")
            raised = RuntimeError(f"the solution raised {short}: {text}")
            return CandidateExitError(f"{short}: {text}") if kind is CandidateExitError else raised
        try:
            error = kind(*args)
        except Exception:
            error = None
        if type(error) is kind:
            return cast("Exception", error)
        try:
            error = kind.__new__(kind, *args)
            error.args = args
        except Exception:
            error = None
        if type(error) is kind:
            return cast("Exception", error)
        return RuntimeError(f"{kind.__name__}: {text}")
