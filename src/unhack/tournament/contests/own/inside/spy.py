"""A spy inside a submission: takes down what its process can read, for the proof of a contest.

`unhack_probe(head)` looks for marks, `head` followed by 32 hexadecimal digits, in every file that
can be opened, in the environment, in its own memory, its frames and objects; and lists the files.
It finds its own argument in memory; what counts is a mark with the digits that the judge planted.
"""

from __future__ import annotations

import gc
import inspect
import os
import re
from collections.abc import Callable
from typing import Any

_MOST_FILES = 20_000
_MOST_BYTES = 4 << 20
_PASSED = ("/proc", "/sys", "/dev", "/lib", "/lib64", "/usr", "/bin", "/sbin", "/packages")


def unhack_probe(head: str) -> dict[str, Any]:
    """All that can be read: marks with where they were, files outside the libraries, and notes."""
    pattern = re.compile(re.escape(head.encode()) + b"([0-9a-f]{32})")
    marks: list[list[str]] = []
    files: dict[str, int] = {}
    tried: list[str] = []
    library = os.path.dirname(os.__file__)

    def look(place: str, data: bytes) -> None:
        marks.extend([place, digits.decode()] for digits in pattern.findall(data))

    for folder, _, names in os.walk("/"):
        if folder.startswith((*_PASSED, library)) or len(files) > _MOST_FILES:
            continue
        for name in names:
            path = os.path.join(folder, name)
            try:
                with open(path, "rb") as file:
                    data = file.read(_MOST_BYTES)
            except OSError:
                continue
            files[path] = len(data)
            look(path, data)
    for path in ("/proc/self/environ", "/proc/1/environ", "/proc/1/cmdline", "/proc/self/maps"):
        try:
            with open(path, "rb") as file:
                look(path, file.read(_MOST_BYTES))
            tried.append(path)
        except OSError:
            continue
    _look_at_objects(look)
    _look_at_memory(look)
    _look_at_descriptors(look, tried)
    return {"marks": marks, "files": files, "tried": tried}


def _look_at_objects(look: Callable[[str, bytes], None]) -> None:
    frame: Any = inspect.currentframe()
    while frame is not None:
        for key, value in {**frame.f_globals, **frame.f_locals}.items():
            if isinstance(value, (str, bytes)):
                look(f"frame of {frame.f_code.co_name}: {key}", _bytes(value))
        frame = frame.f_back
    every: list[Any] = gc.get_objects()
    for value in every:
        kind = type(value).__name__
        items: Any = value.values() if kind == "dict" else value
        for item in items if kind in ("dict", "list", "tuple") else ():
            if isinstance(item, (str, bytes)):
                look("an object in memory", _bytes(item))


def _bytes(value: str | bytes) -> bytes:
    return value.encode(errors="replace") if isinstance(value, str) else value


def _look_at_memory(look: Callable[[str, bytes], None]) -> None:
    try:
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
            for line in maps:
                first, last = (int(part, 16) for part in line.split()[0].split("-"))
                if " rw" in line and last - first < 64 << 20:
                    memory.seek(first)
                    look("own memory", memory.read(last - first))
    except (OSError, ValueError, OverflowError):
        return


def _look_at_descriptors(look: Callable[[str, bytes], None], tried: list[str]) -> None:
    for number in range(3, 64):
        try:
            os.set_blocking(number, False)
            look(f"descriptor {number}", os.pread(number, _MOST_BYTES, 0))
            tried.append(f"descriptor {number}")
        except OSError:
            continue
