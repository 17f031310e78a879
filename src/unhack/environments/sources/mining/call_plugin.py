"""A program that evaluates calls into a repository's code; its text is laid into the workspace.

It writes one JSON list a line: the number of the call and `"value", TEXT, WRAP` or `"raises", NAME,
""`, or -1, `"import"` and why a module cannot be imported. TEXT is the literal of the result; WRAP
is `list` or `str` where the result itself is no plain data. Each call has a second of its own. What
changes from call to call differs between runs, since every second one turns the order around.

Covered: values that are plain data, iterators, objects with words of their own, and Python's own
errors.
Not covered: code that forges the report. What is made of it is judged again by the verifier.
"""

# It runs in a repository's own process: standard library only, and values of any type.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import importlib
import itertools
import json
import os
import signal
import sys
import time
from collections import Counter
from types import FrameType
from typing import Any

_MOST_ITEMS = 50
_CALL_S = 1.0
_MOST_SLOW = 3
"""Calls of one name that may use up their second before the others are left out."""


class _NoPlainDataError(Exception):
    pass


class _TooSlowError(BaseException):
    pass


def _literal(value: Any) -> str:
    """The literal of plain data, the same in every process."""
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes):
        return repr(value)
    if kind is float and value - value == 0.0:
        return repr(value)
    if kind is list:
        return "[" + ", ".join(map(_literal, value)) + "]"
    if kind is tuple:
        return "(" + "".join(f"{_literal(one)}, " for one in value).rstrip(" ") + ")"
    if kind is dict:
        return "{" + ", ".join(f"{_literal(a)}: {_literal(b)}" for a, b in value.items()) + "}"
    if kind is set and value:
        return "{" + ", ".join(sorted(map(_literal, value))) + "}"
    raise _NoPlainDataError


def _told(value: Any) -> list[str]:
    try:
        return ["value", _literal(value), ""]
    except _NoPlainDataError:
        pass
    if hasattr(value, "__next__"):
        return ["value", _literal(list(itertools.islice(value, _MOST_ITEMS))), "list"]
    if type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__:
        raise _NoPlainDataError
    return ["value", _literal(str(value)), "str"]


def _called(space: dict[str, Any], text: str) -> list[str]:
    signal.setitimer(signal.ITIMER_REAL, _CALL_S)
    try:
        return _told(eval(text, space))
    except (_NoPlainDataError, _TooSlowError, SystemExit, KeyboardInterrupt):
        return []
    except BaseException as error:
        own = type(error).__module__ != "builtins"
        return [] if own else ["raises", type(error).__name__, ""]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _ring(number: int, frame: FrameType | None) -> None:
    raise _TooSlowError


def _main() -> None:
    plan = json.load(sys.stdin)
    sys.path[:0] = [os.path.join(os.getcwd(), root) for root in plan["roots"]]
    signal.signal(signal.SIGALRM, _ring)
    calls: list[tuple[int, list[str]]] = list(enumerate(plan["calls"]))
    spaces: dict[str, dict[str, Any]] = {}
    slow: Counter[str] = Counter()
    with open(plan["report"], "a") as report:
        for module in dict.fromkeys(module for module, _ in plan["calls"]):
            try:
                spaces[module] = vars(importlib.import_module(module))
            except BaseException as error:
                words = f"{module}: {type(error).__name__}: {error}"[:200]
                report.write(json.dumps([-1, "import", words, ""]) + "\n")
        for number, (module, text) in reversed(calls) if plan["back"] else calls:
            name = text.partition("(")[0]
            if module not in spaces or slow[name] >= _MOST_SLOW:
                continue
            started = time.monotonic()
            found = _called(dict(spaces[module]), text)
            slow[name] += time.monotonic() - started >= _CALL_S
            if found:
                report.write(json.dumps([number, *found]) + "\n")
                report.flush()


if __name__ == "__main__":
    _main()
