"""The script's values on their way to the candidate, and the candidate's on their way back.

Covered: plain data of exact types, proxies for the candidate's objects, builtin types and
exceptions; functions and objects of the script, which stay here (`judge.script.handed`).
Not covered, and refused: what that module does not hand over.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

from unhack.core import plain
from unhack.sandbox.guest.candidate.serialisation import Reader, Writer
from unhack.sandbox.guest.candidate.standard import NAMES, UnsharableError, data_type, type_name
from unhack.sandbox.guest.judge.classes import Mirror, number_of
from unhack.sandbox.guest.judge.link import CandidateLink
from unhack.sandbox.guest.judge.script.derived import write_mixin


class JudgeWriter(Writer):
    """A request being written."""

    def __init__(self, seal: CandidateLink) -> None:
        super().__init__(seal.shared)
        self.seal = seal
        self.reply_to: dict[int, int] = {}
        """Id -> place, of the containers of the request that this message answers."""

    def encode(self, value: Any, depth: int = 0) -> Any:
        """As Writer; a container of the solution's request goes back as itself."""
        if self.reply_to and id(value) not in self.shared.numbers:
            place = self.reply_to.get(id(value))
            if place is not None:
                return {"$arg": place}
        return super().encode(value, depth)

    def object(self, value: Any, kind: type, depth: int) -> Any:
        """A proxy by its number, an exception of a builtin class, or what the script hands over."""
        del depth
        if type(kind) is Mirror:
            return {"$ref": number_of(value)}
        if kind is Mirror:
            return {"$ref": self.seal.classes.number_of_class(value)}
        number = self.seal.classes.module_number(value)
        if number is not None:
            return {"$ref": number}
        if issubclass(kind, Exception) and kind in NAMES:
            shown = () if issubclass(kind, AssertionError) else value.args
            return {"$error": [NAMES[kind], [self.encode(item, 1) for item in shown]]}
        found = write_mixin(value, self.encode)
        found = found or self.seal.script.table.share(value, kind, self.encode)
        if found is not None:
            return found
        if callable(value):
            name = getattr(value, "__name__", kind.__name__)
            raise UnsharableError(f"{name!r:.80}, a function or class of the script")
        raise UnsharableError(f"a {type_name(kind)} of the script, which is not plain data")


class JudgeReader(Reader):
    """An answer being read."""

    def __init__(self, seal: CandidateLink) -> None:
        super().__init__(seal.shared)
        self.seal = seal

    def object(self, tag: str, inner: Any) -> Any:
        """A proxy for what the candidate names by a number."""
        if tag == "$object":
            number, kind, *plain_values = inner
            return self.seal.classes.proxy(number, kind, [self.decode(i) for i in plain_values])
        if tag == "$class":
            return self.seal.classes.get(inner)
        if tag == "$module":
            number, name, is_package = inner
            return self.seal.adopt_module(number, name, is_package)
        if tag == "$mine":
            return self.seal.script.table[inner]
        if tag == "$member":
            return self.seal.script.member(inner)
        if tag == "$named":
            return data_type(inner[0]) or self.seal.classes.get(inner[1])
        if tag == "$error":
            return self.seal.exceptions.build(inner, self)
        raise plain.PlainDataError(f"unknown tag {tag[:20]!r}")
