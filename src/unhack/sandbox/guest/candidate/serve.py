"""The candidate's half of a seal: it answers calls that come from a judge it cannot see.

One request and one answer a line, tagged JSON both ways. Objects that are not data stay here and
are named by a number; the judge holds a handle.

    {"get": [module, name]}                         {"kind": "function" | "class" | "data", …}
    {"call": target, "args": [...], "kwargs": {}}   {"ok": value, "args": [changed arguments]}
    target: [module, name], or [handle, method]     {"raise": [[class names], message]}
"""

from __future__ import annotations

import json
import os
import sys
import types
from typing import Any, cast

from unhack.core import plain

PEER = 4
_write, _read = os.write, os.read


def run(job: dict[str, Any], channel: Any) -> int:
    """Load the modules, tell the judge how that went, then answer until the judge hangs up."""
    lines = _Lines(PEER)
    _reply({"started": True})
    names = _load_all(job["modules"], channel)
    channel.flush()
    if names is None:
        _reply({"load": False})
        lines.next()  # the judge hangs up once it has read this
        return 0
    _reply({"load": True, "names": names})
    objects: dict[int, Any] = {}
    while (line := lines.next()) is not None:
        try:
            answer = _answer(json.loads(line), objects)
        except BaseException as error:
            answer = {"raise": describe(error)}
        _reply(answer)
    return 0


def _load_all(sources: dict[str, str], channel: Any) -> dict[str, list[str]] | None:
    """Load every module, so that they can import one another; their public names, or None."""
    pending = dict(sources)
    sys.meta_path.insert(0, _Finder(pending))
    found: dict[str, list[str]] = {}
    for name, source in sources.items():
        module = load(name, source, channel) if name in pending else sys.modules[name]
        pending.pop(name, None)
        if module is None:
            return None
        found[name] = sorted(key for key in module.__dict__ if key[:2] != "__")
    return found


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
    try:
        code = compile(source, "<completion>", "exec", dont_inherit=True)
    except MemoryError as error:
        channel.send([None, "load", *describe(error)])
        return None
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        channel.send([None, "syntax", *describe(error)])
        return None
    module = types.ModuleType(name)
    sys.modules[name] = module
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

    def next(self) -> bytes | None:
        while b"\n" not in self.buffer:
            data = _read(self.fd, 1 << 16)
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


def _answer(request: dict[str, Any], objects: dict[int, Any]) -> Any:
    if "get" in request:
        module, name = request["get"]
        return _look_up(getattr(sys.modules[module], name), objects)
    owner, name = request["call"]
    if isinstance(owner, str):
        function = getattr(sys.modules[owner], name)
    else:
        function = getattr(objects[owner], name)
    arguments = plain.decode_tags(request["args"])
    keywords = plain.decode_tags(request["kwargs"])
    before = [plain.dumps(item) for item in arguments]
    value = _value(function(*arguments, **keywords), objects)
    changed = [
        [index, plain.encode_tags(item)]
        for index, item in enumerate(arguments)
        if plain.dumps(item) != before[index]
    ]
    return {"ok": value, "args": changed} if changed else {"ok": value}


def _look_up(item: Any, objects: dict[int, Any]) -> dict[str, Any]:
    if isinstance(item, type):
        return {"kind": "class"}
    if callable(item):
        return {"kind": "function"}
    return {"kind": "data", "ok": _value(item, objects)}


def _value(value: Any, objects: dict[int, Any]) -> Any:
    encoded: Any = plain.encode_tags(value)
    if isinstance(encoded, dict) and "$opaque" in encoded:
        number = len(objects) + 1
        objects[number] = value
        return {"$handle": [number, cast("dict[str, str]", encoded)["$opaque"]]}
    return cast("Any", encoded)
