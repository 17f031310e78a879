"""The candidate's half of a seal: it answers calls that come from a judge it cannot see.

One request and one answer a line, tagged JSON both ways. Objects that are not data stay here and are
named by a number; the judge holds a handle.

    {"get": name}                                   {"kind": "function" | "class" | "data" | "object", …}
    {"call": target, "args": [...], "kwargs": {}}   {"ok": value, "args": [changed arguments]}
    target: name, or [handle, method name]          {"raise": [[class names], message]}
"""

from __future__ import annotations

import json
import os
import types
from collections.abc import Callable
from typing import Any

from unhack.core import plain

PEER = 4
_write, _read = os.write, os.read


def run(job: dict[str, Any], channel: Any, load: Callable[[str, Any], Any]) -> int:
    """Load `source`, tell the judge how that went, then answer until the judge hangs up."""
    lines = _Lines(PEER)
    module = load(job["source"], channel)
    channel.flush()
    if module is None:
        _reply({"load": False})
        lines.next()  # the judge hangs up once it has read this
        return 0
    _reply({"load": True, "names": sorted(name for name in module.__dict__ if name[:2] != "__")})
    objects: dict[int, Any] = {}
    while (line := lines.next()) is not None:
        try:
            answer = _answer(json.loads(line), module, objects)
        except BaseException as error:
            answer = {"raise": _describe(error)}
        _reply(answer)
    return 0


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
    data = json.dumps(answer, separators=(",", ":")).encode() + b"\n"
    while data:
        data = data[_write(PEER, data) :]


def _describe(error: BaseException) -> list[Any]:
    names = [kind.__name__ for kind in type.mro(type(error))[:-1]]
    try:
        text = str(error)[:500]
    except BaseException:
        text = "<its text raises>"
    return [names, text if type(text) is str else ""]


def _answer(request: dict[str, Any], module: types.ModuleType, objects: dict[int, Any]) -> Any:
    if "get" in request:
        return _look_up(module.__dict__[request["get"]], objects)
    target = request["call"]
    if isinstance(target, str):
        function = module.__dict__[target]
    else:
        function = getattr(objects[target[0]], target[1])
    arguments = plain.raise_tags(request["args"])
    keywords = plain.raise_tags(request["kwargs"])
    before = [json.dumps(plain.lower(item)) for item in arguments]
    value = _value(function(*arguments, **keywords), objects)
    changed = [
        [index, plain.lower(item)]
        for index, item in enumerate(arguments)
        if json.dumps(plain.lower(item)) != before[index]
    ]
    return {"ok": value, "args": changed} if changed else {"ok": value}


def _look_up(item: Any, objects: dict[int, Any]) -> dict[str, Any]:
    if isinstance(item, type):
        return {"kind": "class"}
    if callable(item):
        return {"kind": "function"}
    return {"kind": "data", "ok": _value(item, objects)}


def _value(value: Any, objects: dict[int, Any]) -> Any:
    lowered = plain.lower(value)
    if type(lowered) is dict and "$opaque" in lowered:
        number = len(objects) + 1
        objects[number] = value
        return {"$handle": [number, lowered["$opaque"]]}
    return lowered
