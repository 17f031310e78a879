"""State that a script and its solution share in one process, and that a seal has to carry: printed
text, warnings, patched standard input, the environment.

Covered: text and warnings of a call arrive when it ends; `os.environ` and an `io.StringIO` in
place of `sys.stdin` go to the candidate; a patched clock, generator of random numbers or `input`
is refused.
Not covered: the state of `random`, files, the working directory, the recursion limit; functions
that the script patches in a module which was not loaded when the seal was opened.
"""

# Values of unknown types are what this module is about.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import io
import operator
import os
import sys
import warnings
from typing import Any, cast

from unhack.sandbox.guest.candidate.standard import TYPES

_MAX_CHARS = 1 << 20
_WATCHED = {
    "builtins": ("input", "open", "print"),
    "time": ("time", "sleep", "monotonic", "perf_counter", "time_ns"),
    "random": ("random", "randint", "randrange", "choice", "shuffle", "sample", "uniform"),
    "os": ("getenv", "getcwd", "listdir", "urandom"),
    "datetime": ("datetime", "date"),
    "uuid": ("uuid1", "uuid4"),
    "secrets": ("token_hex", "choice", "randbelow"),
}


class ProcessState:
    """The state beside the values, as it was at the last message."""

    def __init__(self) -> None:
        self.earlier: dict[str, Any] = {}
        """Answer to loading; what it printed is delivered at the first import."""
        self.own_stdout: Any = None
        """The judge's own record of what the script prints; the candidate writes none of it."""
        self._left = _MAX_CHARS
        self._stdin = sys.stdin
        self._environ = dict(os.environ)
        self._encoded = dict(vars(os.environ)["_data"])
        self._originals = [
            (
                space := vars(sys.modules[module]),
                read := operator.itemgetter(*names),
                read(space),
                module,
            )
            for module, names in _WATCHED.items()
            if module in sys.modules and len(names) > 1
        ]

    def patched(self) -> str:
        """A function that the script has replaced and the solution does not see; empty for none."""
        for space, read, originals, module in self._originals:
            try:
                now = read(space)
            except KeyError:  # deleted
                now = ()
            if now != originals:
                return (
                    f"the verifier replaces a function of {module}, which the solution does not see"
                )
        stdin = sys.stdin
        known = stdin is self._stdin or type(stdin) is io.StringIO
        if not known and not type(stdin).__module__.startswith("_pytest"):
            return "the verifier replaces sys.stdin by something else than an io.StringIO"
        return ""

    def tell(self, request: dict[str, Any]) -> None:
        """Add what changed here to a request."""
        stdin = sys.stdin
        if type(stdin) is io.StringIO:
            request["stdin"] = stdin.getvalue()[stdin.tell() :]
        now: dict[bytes, bytes] = vars(os.environ)["_data"]  # as a mapping it is slow to compare
        if now == self._encoded:
            return
        self._encoded = dict(now)
        then, self._environ = self._environ, dict(os.environ)
        changed: dict[str, str | None] = {
            name: value for name, value in self._environ.items() if then.get(name) != value
        }
        changed.update(dict.fromkeys(then.keys() - self._environ.keys()))
        changed = {name: value for name, value in changed.items() if name[:6] != "PYTEST"}
        if changed:
            request["env"] = changed

    def deliver(self, answer: dict[str, Any]) -> None:
        """Print and warn here as the candidate did there."""
        if type(sys.stdin) is io.StringIO and type(answer.get("read")) is int:
            sys.stdin.seek(sys.stdin.tell() + max(0, min(answer["read"], 1 << 30)))
        for place, text in _pairs(answer.get("out")):
            printed = str(text)[: self._left]
            self._left -= len(printed)
            stream = sys.stderr if place else sys.stdout
            if stream is not None and stream is not self.own_stdout:
                stream.write(printed)
        for names, text in _pairs(answer.get("warned")):
            warnings.warn_explicit(str(text)[:4000], _category(names), "<solution>", 1)


def _pairs(value: Any) -> list[Any]:
    items = cast("list[Any]", value) if type(value) is list else []
    return [item for item in items if type(item) is list and len(item) == 2]


def _category(names: Any) -> type[Warning]:
    for name in cast("list[Any]", names) if type(names) is list else []:
        found = TYPES.get(str(name).removeprefix("builtins."))
        if found is not None and issubclass(found, Warning):
            return found
    return UserWarning
