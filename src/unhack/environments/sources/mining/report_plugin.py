"""A plugin of pytest that says what each test did; its text is laid into the workspace.

It writes one JSON object a line: `{"test": id, "outcome": …}`, `{"file": path, "error": …}`, and
where calls are traced `{"calls": id, "seen": […]}`. A test has passed when its set-up, its call and
its tear-down did; a skip and an expected failure are no pass.

Covered: the code's folders on the path; another order by a seed; calls from a test file into the
code with arguments, results and errors as text.
Not covered: code that forges the report. What is mined is judged again by the verifier.
"""

# It runs in a repository's own process: standard library only, and pytest's objects untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import dis
import json
import os
import random
import re
import reprlib
import sys
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any

_MOST_CALLS = 40
_CHARS = 240
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_SILENT = frozenset(("__init__", "__hash__", "__enter__", "__exit__", "__del__"))
"""Calls that say nothing of what is wanted."""
_PLAN: dict[str, Any] = json.loads(os.environ.get("UNHACK_REPORT", "{}"))
_TOP = os.getcwd()
_RETURNS = frozenset(
    dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap
)

for _root in reversed(_PLAN.get("roots", [])):
    sys.path.insert(0, os.path.join(_TOP, _root) if _root else _TOP)


def _write(record: dict[str, Any]) -> None:
    with open(os.path.join(_TOP, _PLAN["report"]), "a") as file:
        file.write(json.dumps(record) + "\n")


class Seen:
    """Calls from one test file into the code."""

    def __init__(self, test_file: str, tests: frozenset[str]) -> None:
        self.calls: list[dict[str, Any]] = []
        self._test_file = test_file
        self._tests = tests
        self._text = reprlib.Repr()
        self._text.maxstring = self._text.maxother = _CHARS
        self._text.maxlist = self._text.maxtuple = self._text.maxdict = self._text.maxset = 12
        self._text.maxlevel = 4

    def trace(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        """Follow a call that comes from the test file; others run untraced."""
        del arg
        caller = frame.f_back
        if event != "call" or caller is None or len(self.calls) >= _MOST_CALLS:
            return None
        code = frame.f_code
        inside = code.co_filename.startswith(_TOP + os.sep)
        if not inside or caller.f_code.co_filename != self._test_file:
            return None
        path = os.path.relpath(code.co_filename, _TOP)
        if path in self._tests or code.co_name.startswith("<") or code.co_name in _SILENT:
            return None
        record = {"path": path, "name": _name(frame), "arguments": self._arguments(frame)}
        self.calls.append(record)
        frame.f_trace_lines = False
        return self._follow(record)

    def _follow(self, record: dict[str, Any]) -> Callable[..., Any]:
        def local(frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
            if event == "exception":
                record["error"] = arg[0].__name__
                record["message"] = _text_of(arg[1])
            elif event == "return" and frame.f_code.co_code[frame.f_lasti] in _RETURNS:
                record.pop("error", None)
                record.pop("message", None)
                record["result"] = self._shown(arg)
            return local

        return local

    def _arguments(self, frame: FrameType) -> list[str]:
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames[:count])
        found = [
            self._shown(frame.f_locals[name])
            if place < code.co_argcount
            else f"{name}={self._shown(frame.f_locals[name])}"
            for place, name in enumerate(names)
            if name not in ("self", "cls") or place
        ]
        if code.co_flags & 0x04:
            found += [self._shown(one) for one in frame.f_locals[code.co_varnames[count]]]
        if code.co_flags & 0x08:
            place = count + bool(code.co_flags & 0x04)
            more = frame.f_locals[code.co_varnames[place]]
            found += [f"{name}={self._shown(one)}" for name, one in more.items()]
        return found

    def _shown(self, value: Any) -> str:
        tracer = sys.gettrace()
        sys.settrace(None)
        try:
            return _ADDRESS.sub("", self._text.repr(value))
        except Exception:
            return "…"
        finally:
            sys.settrace(tracer)


def _name(frame: FrameType) -> str:
    return getattr(frame.f_code, "co_qualname", frame.f_code.co_name)


def _text_of(error: Any) -> str:
    try:
        return str(error)[:_CHARS]
    except Exception:
        return ""


class Reporter:
    """The plugin."""

    def __init__(self) -> None:
        self._bad: dict[str, dict[str, Any]] = {}
        self._called: set[str] = set()
        self._seen: Seen | None = None

    def pytest_collectreport(self, report: Any) -> None:
        """Say why a file could not be collected."""
        if report.failed:
            text = str(report.longrepr)
            _write({"file": report.nodeid.partition("::")[0], "error": text[-1500:]})

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Put the tests into the asked-for order."""
        if _PLAN.get("shuffle") is not None:
            random.Random(_PLAN["shuffle"]).shuffle(items)

    def pytest_runtest_call(self, item: Any) -> Generator[None]:
        """Trace the calls of the asked-for tests."""
        if item.nodeid not in _PLAN.get("trace", ()):
            yield
            return
        seen = Seen(str(item.path), frozenset(_PLAN.get("tests", ())))
        sys.settrace(seen.trace)
        try:
            yield
        finally:
            sys.settrace(None)
        if seen.calls:
            _write({"calls": item.nodeid, "seen": seen.calls})

    pytest_runtest_call.hookwrapper = True  # type: ignore[attr-defined]

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Keep the error of a test."""
        if call.excinfo is not None:
            place = ""
            for entry in call.excinfo.traceback:
                path = os.path.relpath(str(entry.path), _TOP)
                if not path.startswith("..") and path not in _PLAN.get("tests", ()):
                    place = f"{path}:{entry.lineno + 1} in {entry.name}"
            self._bad.setdefault(item.nodeid, {
                "error": call.excinfo.typename, "message": _text_of(call.excinfo.value),
                "when": call.when, "place": place,
            })  # fmt: skip

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep what speaks against a test, and say how it ended."""
        name = report.nodeid
        if report.when == "call":
            self._called.add(name)
        if not report.passed or hasattr(report, "wasxfail"):
            found = self._bad.setdefault(name, {})
            real = report.failed and not hasattr(report, "wasxfail")
            found.setdefault("outcome", "failed" if real else "skipped")
        if report.when == "teardown":
            found = self._bad.get(name, {})
            passed = "outcome" not in found and name in self._called
            outcome = "passed" if passed else found.get("outcome", "failed")
            more = {} if passed else found
            _write({"test": name, **more, "outcome": outcome})


def pytest_configure(config: Any) -> None:
    """Start the report."""
    if _PLAN:
        config.pluginmanager.register(Reporter(), "unhack-reporter")
