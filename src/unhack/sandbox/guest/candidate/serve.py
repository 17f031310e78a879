"""The candidate's half of a seal: it answers requests that come from a judge it cannot see.

One request and one answer a line, tagged JSON both ways (`candidate.serialisation`). Objects that
are not data stay here and are named by a number; the judge has proxies for them.

    {"do": [what, number, name], "args": [...], "kwargs": {}}     what: see `candidate.operations`
    {"ok": value}  {"raise": exception}  {"stop": value}  {"refuse": text}

Besides, a request tells which shared containers the script changed (`changed`), which containers
and objects it let go of (`drop`, `forget`) and the changed environment (`env`); an answer has
`changed`, the arguments that were changed in place (`args`), the containers that stay here
(`kept`, `held`), new classes (`classes`), names of modules that were bound anew (`stale`), what
was printed (`out`) and warned of (`warned`).
"""

from __future__ import annotations

import json
import os
import sys
import types
from collections.abc import Iterable
from typing import Any

from unhack.core import plain
from unhack.sandbox.guest.candidate import interpreter_setup, trees
from unhack.sandbox.guest.candidate.operations import CandidateSession
from unhack.sandbox.guest.candidate.script.exchange import Exchange

PEER = 4
_write, _read = os.write, os.read
_read_json = json.JSONDecoder().decode


def run(job: dict[str, Any], channel: Any) -> int:
    """Load the modules, tell the judge how that went, then answer until the judge hangs up.

    A tree of files (`files`, `roots`, `packages`) is written first; of its modules only those in
    `first` are loaded at once.
    """
    lines = _Lines(PEER)
    _reply({"started": True})
    packages = frozenset(job.get("packages", ()))
    session = CandidateSession(job["modules"], packages)
    if packages:
        trees.write(job["files"], job["roots"])
    session.outputs.install()
    loaded = _load_all(job["modules"], channel)
    if loaded is not None and not _import_all(job.get("first", ()), channel):
        loaded = None
    channel.flush()
    if loaded is None:
        _reply({"load": False})
        lines.next()  # the judge hangs up once it has read this
        return 0
    _reply({"load": True, "modules": session.number_modules(loaded), **session.outputs.take()})
    exchange = session.exchange = Exchange(session, _reply, lines.request)
    while (request := lines.request()) is not None:
        try:
            exchange.answer(request)
        except OSError:  # the judge did not wait for it
            break
    return 0


def _load_all(sources: dict[str, str], channel: Any) -> dict[str, types.ModuleType] | None:
    """Load every module, so that they can import one another; None when one cannot be loaded."""
    pending = dict(sources)
    sys.meta_path.insert(0, _Finder(pending))
    found: dict[str, types.ModuleType] = {}
    for name, source in sources.items():
        module = load(name, source, channel) if name in pending else sys.modules[name]
        pending.pop(name, None)
        if module is None:
            return None
        found[name] = module
    return found


def _import_all(names: Iterable[str], channel: Any) -> bool:
    """Import modules of a tree; False, and a line that says why, when one cannot be."""
    for name in names:
        try:
            trees.load(name)
        except SyntaxError as error:
            channel.send([None, "syntax", *describe(error)])
            return False
        except BaseException as error:
            channel.send([None, "load", *describe(error)])
            return False
    return True


class _Finder:
    """Imports of one candidate file by another."""

    def __init__(self, pending: dict[str, str]) -> None:
        self.pending = pending

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.pending:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        source = self.pending.pop(module.__name__)
        exec(compile(source, f"<{module.__name__}>", "exec", dont_inherit=True), module.__dict__)


def load(name: str, source: str, channel: Any) -> types.ModuleType | None:
    """Compile and execute a completion as module `name`; None, and a line that says why, on
    failure."""
    path = os.path.join(os.path.dirname(interpreter_setup.place()), f"{name}.py")
    try:
        code = interpreter_setup.compile_file(source, path)
    except MemoryError as error:
        channel.send([None, "load", *describe(error)])
        return None
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        channel.send([None, "syntax", *describe(error)])
        return None
    if "__file__" in source:
        interpreter_setup.write_file(source, path)
    interpreter_setup.adapt(source)
    module = interpreter_setup.make_module(name, path, source)
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        channel.send([None, "load", *describe(error)])
        return None
    return module


class _Lines:
    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.buffer = b""

    def request(self) -> Any:
        """The next line as a value; None when the judge has hung up."""
        line = self.next()
        return None if line is None else _read_json(line.decode())

    def next(self) -> bytes | None:
        while b"\n" not in self.buffer:
            try:
                data = _read(self.fd, 1 << 16)
            except OSError:  # the judge has hung up on an answer
                return None
            if not data:
                return None
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line


def _reply(answer: dict[str, Any]) -> None:
    data = plain.encode_json(answer).encode() + b"\n"
    while data:
        data = data[_write(PEER, data) :]


def describe(error: BaseException) -> list[Any]:
    """An exception as data: the names of its classes from the raised one up, and its message."""
    names = [kind.__name__ for kind in type.mro(type(error))[:-1]]
    try:
        text = str(error)[:500]
    except BaseException:
        text = "<its text raises>"
    return [names, text if type(text) is str else ""]
