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
import logging
import operator
import os
import sys
import tempfile
import warnings
from typing import Any, cast

from unhack.sandbox.guest.candidate.script.shared_files import PLACE, SharedFiles
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
        self.files = SharedFiles(is_judge=True)
        self._cwd = os.getcwd()
        self.logs = False
        """True while a test looks at what is logged."""
        self._levels: dict[str, int] = {}
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
        known = isinstance(stdin, io.IOBase) or type(stdin).__module__.startswith("_pytest")
        if not known and stdin is not self._stdin:
            return "the verifier replaces sys.stdin by something that is no stream"
        return ""

    def share_files(self) -> None:
        """Let the solution have the script's temporary files, and the script the solution's."""
        self.files.install()
        os.environ["TMPDIR"] = tempfile.tempdir = PLACE

    def named_files(self, message: str) -> list[Any]:
        """The temporary files that a message names, or that lie in the working directory, as far as
        they changed. Raises UnsharableError."""
        if not self.files.is_used:
            return []
        self.files.grant(message)
        return self.files.changes()

    def tell(self, request: dict[str, Any], encode: Any) -> None:
        """Add what changed here to a request."""
        if self.files.is_used:
            place = os.getcwd()
            if place != self._cwd:
                self._cwd = request["cwd"] = place
        stdin = sys.stdin
        if type(stdin) is io.StringIO:
            request["stdin"] = stdin.getvalue()[stdin.tell() :]
        elif stdin is not self._stdin and not type(stdin).__module__.startswith("_pytest"):
            request["stdin_of"] = encode(stdin)
        if self.logs:
            levels = self.levels()
            if levels != self._levels:
                self._levels = request["levels"] = levels
        now: dict[bytes, bytes] = vars(os.environ)["_data"]  # as a mapping it is slow to compare
        if now == self._encoded:
            return
        self._encoded = dict(now)
        then, self._environ = self._environ, dict(os.environ)
        changed: dict[str, str | None] = {
            name: value for name, value in self._environ.items() if then.get(name) != value
        }
        changed.update(dict.fromkeys(then.keys() - self._environ.keys()))
        changed = {
            name: value
            for name, value in changed.items()
            if name[:6] != "PYTEST" and name != "TMPDIR"
        }
        if changed:
            request["env"] = changed

    def deliver(self, answer: dict[str, Any]) -> None:
        """Print and warn here as the candidate did there."""
        if type(sys.stdin) is io.StringIO and type(answer.get("read")) is int:
            sys.stdin.seek(sys.stdin.tell() + max(0, min(answer["read"], 1 << 30)))
        if "env" in answer:
            self._take_environ(answer["env"])
        for name, level, text, place in _records(answer.get("logged")):
            logger = logging.getLogger(name)
            path, line, function = place
            logger.handle(
                logging.LogRecord(name, level, path, line, text, None, None, func=function)
            )
        for place, text in _pairs(answer.get("out")):
            printed = str(text)[: self._left]
            self._left -= len(printed)
            stream = sys.stderr if place else sys.stdout
            if stream is not None and stream is not self.own_stdout:
                stream.write(printed)
        for names, text in _pairs(answer.get("warned")):
            warnings.warn_explicit(str(text)[:4000], _category(names), "<solution>", 1)

    def _take_environ(self, changed: Any) -> None:
        """Take over what the solution set, but for names that Python, the loader or pytest read."""
        for name, value in changed.items() if type(changed) is dict else ():
            if type(name) is not str or not name or name.startswith(_READ_BY_PROGRAMS):
                continue
            if value is None:
                os.environ.pop(name, None)
            elif type(value) is str and "\0" not in name + value and "=" not in name:
                os.environ[name] = value[:_MAX_CHARS]
        self._environ = dict(os.environ)
        self._encoded = dict(vars(os.environ)["_data"])

    def levels(self) -> dict[str, int]:
        """Levels of the script's loggers that have one."""
        found = {"": logging.root.level}
        for name, logger in logging.root.manager.loggerDict.items():
            if isinstance(logger, logging.Logger) and logger.level:
                found[name] = logger.level
        return found


_READ_BY_PROGRAMS = ("PYTHON", "PYTEST", "LD_", "TMPDIR", "HOME", "PATH", "MALLOC")


def _records(value: Any) -> list[Any]:
    found: list[Any] = []
    for item in cast("list[Any]", value) if type(value) is list else []:
        if type(item) is list and len(item) == 4 and type(item[3]) is list and len(item[3]) == 3:
            path, line, function = item[3]
            plain = type(path) is str and type(line) is int and type(function) is str
            if plain and type(item[0]) is str and type(item[1]) is int and type(item[2]) is str:
                found.append(item)
    return found


def _pairs(value: Any) -> list[Any]:
    items = cast("list[Any]", value) if type(value) is list else []
    return [item for item in items if type(item) is list and len(item) == 2]


def _category(names: Any) -> type[Warning]:
    for name in cast("list[Any]", names) if type(names) is list else []:
        found = TYPES.get(str(name).removeprefix("builtins."))
        if found is not None and issubclass(found, Warning):
            return found
    return UserWarning
