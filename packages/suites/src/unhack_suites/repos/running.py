"""Runs of test files against a tree of files: test id -> how it ended.

`Runner` is all that generation and validation ask for, so that plain pytest or a sealed judge can
stand in. `LocalRunner` runs generated code in this process.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from unhack_suites.repos.loader import Loaded, OutOfStepsError


@dataclass(frozen=True, slots=True)
class Spot:
    """A line on the way to an error."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Ran:
    """How one test ended."""

    passed: bool
    in_body: bool = True
    """False: the test never began, because its file could not be imported."""
    endless: bool = False
    """The test took too many steps, or too deep a recursion."""
    error: str = ""
    """Class and text of the exception."""
    spots: tuple[Spot, ...] = ()
    """The lines of the tree's files, outermost first."""


class Runner(Protocol):
    """Something that runs tests."""

    def __call__(
        self, files: Mapping[str, str], tests: Mapping[str, str], order: Sequence[str] = ()
    ) -> Mapping[str, Ran]:
        """Run test files (path -> source) against `files`; with `order`, those ids, in that order.

        A listed test that is absent has no entry.
        """
        ...


def ids_of(tests: Mapping[str, str]) -> list[str]:
    """The ids of the test functions of files, in order."""
    return [
        f"{path}::{node.name}"
        for path, source in tests.items()
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


class LocalRunner:
    """Generated tests against a generated package, in this process; no sandbox (see `loader`)."""

    def __init__(self, watched: str = "") -> None:
        self._watched = watched
        self.depths: dict[str, int] = {}
        """By test id: the fewest calls between the test and the watched function."""

    def __call__(
        self, files: Mapping[str, str], tests: Mapping[str, str], order: Sequence[str] = ()
    ) -> dict[str, Ran]:
        """As `Runner` says; an endless test ends the run."""
        loaded = Loaded({**files, **tests}, watched=self._watched)
        modules: dict[str, types.ModuleType | Ran] = {}
        for path in tests:
            try:
                modules[path] = loaded.run_file(path, path.removesuffix(".py").replace("/", "."))
            except (Exception, OutOfStepsError) as error:
                modules[path] = _failed(error, {**files, **tests}, in_body=False)
        found: dict[str, Ran] = {}
        for name in order or ids_of(tests):
            path, _, function = name.partition("::")
            module = modules.get(path)
            if isinstance(module, Ran):
                found[name] = module
            elif module is not None and hasattr(module, function):
                found[name] = self._run(loaded, name, getattr(module, function))
                if found[name].endless:
                    break
        return found

    def _run(self, loaded: Loaded, name: str, function: types.FunctionType) -> Ran:
        loaded.rewind()
        loaded.depths.clear()
        try:
            function()
        except (Exception, OutOfStepsError) as error:
            return _failed(error, loaded.files, in_body=True)
        finally:
            if loaded.depths:
                self.depths[name] = min(loaded.depths)
        return Ran(passed=True)


def _failed(error: BaseException, files: Mapping[str, str], *, in_body: bool) -> Ran:
    spots: list[Spot] = []
    last: types.TracebackType | None = None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename in files:
            spots.append(Spot(code.co_filename, trace.tb_lineno, code.co_name))
            last = trace
        trace = trace.tb_next
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if last is not None and text == "AssertionError":
        line = files[spots[-1].path].splitlines()[spots[-1].line - 1]
        text = f"{text}: {_compared(line.strip(), last.tb_frame)}".removesuffix(": ")
    endless = isinstance(error, (OutOfStepsError, RecursionError))
    return Ran(False, in_body, endless, text, tuple(spots))


def _compared(line: str, frame: types.FrameType) -> str:
    """The two sides of an `assert` that failed, asked again; empty for another line."""
    try:
        statement = ast.parse(line).body[0]
    except SyntaxError:
        return ""
    match statement:
        case ast.Assert(test=ast.Compare(left=left, ops=[op], comparators=[right])):
            scope = {**frame.f_globals, **frame.f_locals}
            try:
                values = [repr(eval(ast.unparse(side), scope)) for side in (left, right)]
            except (Exception, OutOfStepsError):
                return ""
            return f"{values[0]} {'is' if isinstance(op, ast.Is) else '=='} {values[1]}"
        case _:
            return ""
