"""The judge's end of a seal: requests, answers, and the record of what could not cross.

Covered: one request and one answer at a time, bounded in size and in waiting; whatever is malformed
ends the connection; a violation is noted before it is raised, so that no `except` hides it.
Not covered: the meaning of values (`judge.values`), of classes (`judge.classes`) and of imports
(`judge.modules`).
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import json
import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

from unhack.core import plain
from unhack.core.errors import SealError
from unhack.sandbox.guest.candidate.standard import SharedContainers, UnsharableError, references
from unhack.sandbox.guest.judge.classes import ClassTable
from unhack.sandbox.guest.judge.exceptions import CandidateEndedError, ExceptionTable
from unhack.sandbox.guest.judge.script.process_state import ProcessState
from unhack.sandbox.guest.judge.script.script_requests import ScriptRequests
from unhack.sandbox.guest.judge.values import JudgeReader, JudgeWriter

PEER = 4
_MAX_BYTES = 8 << 20
_READ_BYTES = 1 << 16
_SCALARS = (int, str, bool, float, type(None))


def _refuse_constant(name: str) -> Any:
    raise plain.PlainDataError(f"not plain data: bare {name}")


_read_json = json.JSONDecoder(parse_constant=_refuse_constant).decode
"""The reader of answers, made once: one for each answer would cost as much as the reading."""
_UNUSED = references([[]])[0]
_MALFORMED = (
    plain.PlainDataError,
    *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
)


class CandidateConnection:
    """The connection to the candidate."""

    def __init__(self, modules: list[str], *, wait_s: float, declared: Sequence[str] = ()) -> None:
        """`wait_s`: how long the judge waits for the candidate, all requests together.

        `declared`: classes of the solution whose comparisons and calculations with data count.
        """
        self.modules = modules
        self.left_s = wait_s
        self.timed_out = False
        self.violation = ""
        self.ended = ""
        """Why there are no more answers: the candidate is gone or does not keep the protocol."""
        self.is_aside = False
        """True while a test runner explains an outcome: nothing is asked, nothing a violation."""
        self.unverified = 0
        """Comparisons of two of its objects that the solution's own classes said were equal."""
        self.exits = False
        """True while a test runs, in which an exit of the solution may be raised as one."""
        self.loaded = False
        self.module_numbers: dict[str, int] = {}
        self.shared = SharedContainers()
        self.exceptions = ExceptionTable(self)
        self.classes = ClassTable(self, declared)
        self.process_state = ProcessState()
        self.script = ScriptRequests(self)
        self.installed: tuple[str, ...] = ()
        """Top names of packages that both processes may import."""
        self.is_bound = False
        """True when the value of the last answer stands in the namespace of its module."""
        self.forget_stale: Callable[[list[tuple[int, str]]], None] = _ignore
        """Told of names in modules that the candidate has bound anew."""
        self.adopt_module: Callable[[Any, Any, Any], Any] = _adopt_none
        """Gives the module here for one that the candidate names (`judge.packages`)."""
        self._buffer = b""
        self._lock = threading.RLock()
        self._broken = False

    def open(self) -> None:
        """Wait for the candidate to be loaded."""
        try:
            self._receive(counted=False)  # it may wait for a slot; from here on its time counts
            first = self._receive()
        except CandidateEndedError:
            return
        numbers = first.get("modules")
        if first.get("load") is not True or type(numbers) is not dict:
            self.ended = "it could not be loaded"
            return
        found = {name: numbers.get(name) for name in self.modules}
        self.loaded = all(type(number) is int for number in found.values())
        self.ended = "" if self.loaded else "it could not be loaded"
        self.module_numbers = cast("dict[str, int]", found)
        self.process_state.earlier = first

    def violate(self, what: str) -> Exception:
        """Note, and return as a SealError, something that cannot cross. Aside it is an absent
        attribute, and nothing is noted."""
        if self.is_aside:
            return AttributeError(what)
        self.violation = self.violation or (
            f"{what}. In the sealed mode the solution runs in a process of its own; import it and "
            'use it with plain data, or choose mode = "as_written"'
        )
        return SealError(self.violation)

    def ask(
        self,
        what: str,
        number: int,
        name: str = "",
        *,
        args: Sequence[Any] = (),
        kwargs: Any = None,
    ) -> Any:
        """The value that the candidate answers with; `what` is one of `candidate.operations`.

        Raises what the candidate raised, SealError, CandidateEndedError, and StopIteration for a
        step that was the last one.
        """
        if self.is_aside:
            if what == "special" and name in ("__repr__", "__str__", "__format__"):
                return "<an object of the solution>"
            raise AttributeError(name)
        with self._lock:
            if self._broken:
                raise self._end("the candidate's process has ended")
            if self._buffer:  # it would be taken for the answer to this request
                raise self._end("the candidate answered what nobody had asked")
            trouble = self.process_state.patched()
            if trouble:
                raise self.violate(trouble)
            writer = JudgeWriter(self)
            request: dict[str, Any] = {"do": [what, number, name]}
            try:
                if self.shared.containers:
                    self._tell_containers(request, writer)
                if args:
                    request["args"] = [writer.encode(item) for item in args]
                if kwargs:
                    request["kwargs"] = {key: writer.encode(item) for key, item in kwargs.items()}
            except (UnsharableError, plain.PlainDataError, RecursionError) as error:
                self.script.table.dropped()
                raise self.violate(f"{name or what} is handed {error}") from None
            self.process_state.tell(request, writer.encode)
            forgotten = self.classes.take_forgotten()
            if forgotten:
                request["forget"] = forgotten
            answer = self._answered(request)
            if self.script.pending is None:
                return self._take(answer, writer, what)
            pending = self.script.take_pending()
            try:
                self._take(answer, writer, what)
            except CandidateEndedError:
                raise
            except BaseException:
                pass
            raise pending  # pyright: ignore[reportGeneralTypeIssues]

    def _answered(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; the candidate's own requests until then are served."""
        while True:
            self._broken = True  # until the answer is whole: an alarm may interrupt the read
            self._write(message)
            answer = self._receive()
            self._broken = False
            if "callback" not in answer:
                return answer
            message = self._serve(answer)

    def _write(self, message: dict[str, Any]) -> None:
        """Send a message, and the temporary files that it names."""
        text = plain.encode_json(message)
        try:
            files = self.process_state.named_files(text)
        except UnsharableError as error:
            self._broken = False
            raise self.violate(f"the solution is given {error}") from None
        if files:
            message["files"] = files
            text = plain.encode_json(message)
        self._send(text.encode() + b"\n")
        self.script.table.sent()

    def _serve(self, message: dict[str, Any]) -> dict[str, Any]:
        """Do what the solution asks of the script, in the middle of a request."""
        reader, writer = JudgeReader(self), JudgeWriter(self)
        try:
            for number, described in message.get("classes", ()):
                self.classes.add(number, described)
            self.shared.apply(reader, message.get("changed", ()))
            if "stale" in message:
                pairs = message["stale"]
                self.forget_stale([(_natural(number), str(name)) for number, name in pairs])
            request = self.script.read(message, reader)
        except _MALFORMED as error:
            self._broken = True
            text = f"the candidate asked with {type(error).__name__}: {error}"
            raise self._end(text[:300]) from None
        self.shared.settle()
        self.process_state.deliver(message)
        self._take_files(message)
        reply = self.script.serve(request, reader, writer)
        changed = self.shared.changes(writer)
        if changed:
            reply["changed"] = changed
        self.process_state.tell(reply, writer.encode)
        return reply

    def _tell_containers(self, request: dict[str, Any], writer: JudgeWriter) -> None:
        changed = self.shared.changes(writer)
        numbers, containers = list(self.shared.containers), list(self.shared.containers.values())
        counts = references(containers)
        del containers
        dropped = [n for n, count in zip(numbers, counts, strict=True) if count <= _UNUSED + 1]
        for number in dropped:
            self.shared.drop(number)
        request.update(
            {key: value for key, value in (("drop", dropped), ("changed", changed)) if value}
        )

    def _take(self, answer: dict[str, Any], writer: JudgeWriter, what: str) -> Any:
        if len(answer) == 1 and "ok" in answer and type(answer["ok"]) in _SCALARS:
            self.is_bound = False  # the usual answer: a value, and nothing besides
            return answer["ok"]
        reader = JudgeReader(self)
        reader.arguments = writer.order
        try:
            value = self._read(answer, reader, what)
        except _MALFORMED as error:
            self._broken = True
            text = f"the candidate answered with {type(error).__name__}: {error}"
            raise self._end(text[:300]) from None
        self.shared.settle()
        self.process_state.deliver(answer)
        self._take_files(answer)
        kind, inner = value
        if kind == "raise":
            end = self.exceptions.awaited_end(answer["raise"])
            if end:
                raise self.violate(f"{end} of the solution, which could end a loop of the verifier")
            raise inner
        if kind == "stop":
            raise StopIteration if inner is None else StopIteration(inner)
        if kind == "refuse":
            raise self.violate(inner)
        return inner

    def _read(self, answer: dict[str, Any], reader: JudgeReader, what: str) -> tuple[str, Any]:
        for number, described in answer.get("classes", ()):
            self.classes.add(number, described)
        reader.held = {place: self._fresh(number) for place, number in answer.get("held", ())}
        for place, content in answer.get("args", ()):
            reader.fill(reader.arguments[_natural(place)], content)
        self.shared.apply(reader, answer.get("changed", ()))
        for place, number in answer.get("kept", ()):
            self.shared.add(self._fresh(number), reader.arguments[_natural(place)])
        if "stale" in answer:
            self.forget_stale([(_natural(number), str(name)) for number, name in answer["stale"]])
        self.is_bound = answer.get("bound") is True
        if "raise" in answer:
            return "raise", self.exceptions.build(answer["raise"], reader)
        if "refuse" in answer:
            return "refuse", str(answer["refuse"])[:300]
        if "stop" in answer and what == "step":
            return "stop", reader.decode(answer["stop"])
        return "ok", reader.decode(answer["ok"])

    def _take_files(self, answer: dict[str, Any]) -> None:
        """Write the temporary files that the solution wrote."""
        if "files" in answer:
            try:
                self.process_state.files.apply(answer["files"])
            except OSError as error:
                raise self.violate(f"a temporary file: {error}") from None
            except (ValueError, TypeError) as error:
                raise self.violate(f"the solution writes {error}") from None

    def _end(self, text: str) -> CandidateEndedError:
        self.ended = self.ended or text
        return CandidateEndedError(text)

    def _fresh(self, number: Any) -> int:
        if number in self.shared.containers:
            raise plain.PlainDataError("a number was given twice")
        return _natural(number)

    def _send(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(PEER, data) :]
        except OSError:
            raise self._end("the candidate's process has ended") from None

    def _wait(self) -> None:
        """Wait for something to read. Raises CandidateEndedError when the time is used up."""
        started = time.monotonic()
        ready, _, _ = select.select([PEER], [], [], max(0.0, self.left_s))
        self.left_s -= time.monotonic() - started
        if not ready:
            self.timed_out = True
            raise self._end("the candidate's time is used up")

    def _receive(self, *, counted: bool = True) -> dict[str, Any]:
        parts = [self._buffer]
        size = len(self._buffer)
        while b"\n" not in parts[-1]:
            if counted:
                self._wait()
            try:
                data = os.read(PEER, _READ_BYTES)
            except OSError:
                data = b""
            size += len(data)
            if not data or size > _MAX_BYTES:
                raise self._end("the candidate's process has ended")
            parts.append(data)
        line, _, self._buffer = b"".join(parts).partition(b"\n")
        try:
            answer = _read_json(line.decode())
        except (ValueError, RecursionError, MemoryError) as error:
            text = f"the candidate answered with {type(error).__name__}"
            raise self._end(text) from None
        if not isinstance(answer, dict):
            raise self._end("the candidate's answer is not an object")
        return cast("dict[str, Any]", answer)


def _ignore(stale: list[tuple[int, str]]) -> None:
    """Forget nothing, as long as nothing is imported."""


def _adopt_none(number: Any, name: Any, is_package: Any) -> Any:
    """Refuse, as long as no packages are imported."""
    del number, name, is_package
    raise plain.PlainDataError("a module, where none is imported")


def _natural(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise plain.PlainDataError("not a number of anything")
    return value
