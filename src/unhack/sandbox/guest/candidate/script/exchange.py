"""Requests of the solution to the script, in the middle of one that it is answering.

    judge      {"do": ["call", 3, ""], "args": [{"$script": [1, ["function", ...]]}]}
    candidate  {"callback": ["call", 1, ""], "args": [4]}
    judge      {"return": 5}          or {"error": exception}, or {"abort": true}
    candidate  {"ok": 9}

Covered: requests of the judge that come before its answer; arguments that the script changes in
place; one thread at a time.
Not covered: a call from a thread while no request is being answered, which raises RuntimeError.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from typing import Any, Protocol

from unhack.core import plain
from unhack.sandbox.guest.candidate.objects import CandidateReader, CandidateWriter, Objects
from unhack.sandbox.guest.candidate.script.stubs import ScriptEnd, ScriptStandIns, named, wrapped
from unhack.sandbox.guest.candidate.standard import (
    SharedContainers,
    UnsharableError,
    data_type_name,
)


class SessionWriter(CandidateWriter):
    """A message being written, in which the judge gets its own things back as themselves."""

    def __init__(
        self, shared: SharedContainers, objects: Objects, arguments: dict[int, int], *,
        stand_ins: ScriptStandIns,
    ) -> None:  # fmt: skip
        super().__init__(shared, objects, arguments)
        self._stand_ins = stand_ins

    def object(self, value: Any, kind: type, depth: int) -> Any:
        """As CandidateWriter; a stand-in by the judge's number, a type of plain data by name."""
        number = self._stand_ins.number(value)
        if number is not None:
            return {"$mine": number}
        if isinstance(kind, enum.EnumType):
            number = self._stand_ins.number(kind)
            if number is not None:
                return {"$member": [number, value.name]}
        found = super().object(value, kind, depth)
        name = data_type_name(value) if "$class" in found else ""
        return {"$named": [name, found["$class"]]} if name else found

    def error(self, error: BaseException, depth: int = 0) -> dict[str, Any]:
        """As CandidateWriter; an error of the script's own, or of a class of the script."""
        number = self._stand_ins.number(error)
        if number is not None:
            error.__traceback__ = None
            return {"mine": number}
        made = self._stand_ins.number(type(error))
        found = super().error(error, depth)
        return found if made is None else {"made": made, "args": found["args"]}


class SessionReader(CandidateReader):
    """A message being read, with stand-ins for what stays with the judge."""

    def __init__(
        self, shared: SharedContainers, objects: Objects, stand_ins: ScriptStandIns
    ) -> None:
        super().__init__(shared, objects)
        self._stand_ins = stand_ins

    def object(self, tag: str, inner: Any) -> Any:
        """As CandidateReader."""
        if tag == "$script":
            return self._stand_ins.get(inner[0], inner[1], self.decode)
        if tag == "$named":
            return named(inner)
        if tag == "$wrap":
            return wrapped(inner[0], [self.decode(item) for item in inner[1]])
        if tag == "$member":
            return self.decode(inner[0])[inner[1]]
        if tag == "$mixin":
            return type(inner[0], tuple(map(self.decode, inner[1])), self.decode(inner[2]))
        return super().object(tag, inner)


class _Session(Protocol):
    """The part of a session that an exchange uses."""

    shared: SharedContainers
    objects: Objects
    stand_ins: ScriptStandIns

    def answer(self, request: dict[str, Any]) -> dict[str, Any]: ...

    def extras(self) -> dict[str, Any]: ...

    def take_state(self, message: dict[str, Any]) -> None: ...


class Exchange:
    """The way from a session to the judge."""

    def __init__(
        self, session: _Session, send: Callable[[Any], None], receive: Callable[[], Any]
    ) -> None:
        self._session, self._send, self._receive = session, send, receive
        self._lock = threading.RLock()
        self._depth = 0

    def answer(self, request: dict[str, Any]) -> None:
        """Answer a request of the judge."""
        self._depth += 1
        try:
            answer = self._session.answer(request)
        finally:
            self._depth -= 1
        with self._lock:  # another thread may be in the middle of a request of its own
            self._send(answer)

    def ask(
        self, what: str, number: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The script's answer. Raises what it raises."""
        with self._lock:
            if not self._depth:
                raise RuntimeError("the script awaits no answer, so that it cannot be called")
            session = self._session
            writer = SessionWriter(session.shared, session.objects, {}, stand_ins=session.stand_ins)
            message: dict[str, Any] = {"callback": [what, number, name]}
            try:
                message["args"] = [writer.encode(item) for item in args]
                message["kwargs"] = {key: writer.encode(item) for key, item in kwargs.items()}
                others = session.shared.changes(writer)
                message.update(session.extras())
            except (UnsharableError, plain.PlainDataError, RecursionError) as error:
                raise TypeError(f"the script cannot be handed {error}") from None
            extras = {"changed": others, "classes": writer.classes}
            message.update({key: value for key, value in extras.items() if value})
            self._send(message)
            return self._read(writer.order)

    def _read(self, arguments: list[Any]) -> Any:
        while True:
            line = self._receive()
            if line is None:
                raise ScriptEnd
            if "do" not in line:
                break
            self.answer(line)
        if "abort" in line:
            raise ScriptEnd
        session = self._session
        reader = SessionReader(session.shared, session.objects, session.stand_ins)
        reader.arguments = arguments
        session.take_state(line)
        session.shared.apply(reader, line.get("changed", ()))
        for place, content in line.get("args", ()):
            reader.fill(arguments[place], content)
        if "error" in line:
            raise reader.decode(line["error"])
        return reader.decode(line["return"])
