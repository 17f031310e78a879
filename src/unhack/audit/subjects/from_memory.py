"""A reward function that exists in memory alone, such as one defined in a notebook.

    subject = subject_from_memory(score, [{"prompt": "What is 6 times 7?", "answer": "42"}])
    audit(subject).findings

The function's source is written to a module, with what it uses: functions and classes that were
defined beside it, imports, and plain constants.

Covered: functions of notebooks, of the interactive prompt from Python 3.13 on, and of modules;
functions that they call; closures over plain data.
Not covered: functions that hold a model, a connection or another object that cannot be written
down; these are refused by name.
"""

from __future__ import annotations

import ast
import atexit
import inspect
import json
import re
import shutil
import sys
import tempfile
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from unhack.audit.subject import Subject
from unhack.audit.subjects.loading import load_subject
from unhack.core import plain
from unhack.core.errors import UsageError
from unhack.sandbox.job import Backend

_FILE, _ROWS = "rewards.py", "rows.jsonl"


def subject_from_memory(
    function: Callable[..., Any],
    problems: Sequence[Mapping[str, Any]],
    *,
    signature: str | None = None,
    seconds: float = 120.0,
    backend: Backend | None = None,
) -> Subject:
    """The subject for a function and rows that exist in memory; see `load_subject`.

    The module that is written for it is removed when the process ends. Raises UsageError for a
    function whose source or globals cannot be written down, and for rows that are not plain data.
    """
    if not isinstance(function, types.FunctionType) or function.__name__ == "<lambda>":
        raise UsageError(
            f"{function!r} is not a named function; define the reward with `def` and pass it"
        )
    text = _Writer().module(function)
    if not problems:
        raise UsageError("no rows to audit it on")
    lines = [_line(number, row) for number, row in enumerate(problems, start=1)]
    folder = Path(tempfile.mkdtemp(prefix="unhack-audit-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / _FILE).write_text(text, encoding="utf-8")
    (folder / _ROWS).write_text("".join(lines), encoding="utf-8")
    return load_subject(
        f"{folder / _FILE}:{function.__name__}",
        problems=folder / _ROWS,
        signature=signature,
        seconds=seconds,
        backend=backend,
    )


def _line(number: int, row: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(plain.encode_tags(dict(row)))
    except (TypeError, ValueError) as error:
        raise UsageError(f"row {number} is not plain data: {error}") from None
    for name, value in row.items():
        if _holds_object(plain.decode_tags(plain.encode_tags(value))):
            raise UsageError(f"row {number} is not plain data: {name} holds {value!r:.80}")
    return text + "\n"


def _holds_object(value: Any) -> bool:
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value)
        return any(map(_holds_object, [*items.keys(), *items.values()]))
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(_holds_object, cast("Iterable[Any]", value)))
    return isinstance(value, plain.Opaque)


@dataclass
class _Writer:
    """Collects the source of a function and of what it uses."""

    imports: dict[str, str] = field(default_factory=dict[str, str])
    constants: dict[str, str] = field(default_factory=dict[str, str])
    sources: dict[str, str] = field(default_factory=dict[str, str])
    _busy: set[str] = field(default_factory=set[str])

    def module(self, function: types.FunctionType) -> str:
        """The text of a module that defines `function`."""
        self._write(function.__name__, function)
        parts = [*self.imports.values(), *self.constants.values(), *self.sources.values()]
        return "from __future__ import annotations\n\n" + "\n\n".join(parts) + "\n"

    def _write(self, name: str, value: types.FunctionType | type) -> None:
        self._busy.add(name)
        source = _source(value)
        for used, other in _globals_of(value, source):
            self._use(used, other, by=name)
        self.sources[name] = source

    def _use(self, name: str, value: Any, *, by: str) -> None:
        if name in self._busy or name in self.imports or name in self.constants:
            return
        if isinstance(value, types.ModuleType) and _is_installed(value):
            self.imports[name] = f"import {value.__name__} as {name}"
        elif isinstance(value, (types.FunctionType, type, types.BuiltinFunctionType)):
            if _is_importable(value):
                self.imports[name] = f"from {value.__module__} import {value.__name__} as {name}"
            elif isinstance(value, types.BuiltinFunctionType) or value.__name__ != name:
                raise _cannot_carry(name, value, by)
            else:
                self._write(name, value)
        elif isinstance(value, re.Pattern):
            compiled = cast("re.Pattern[Any]", value)
            self.imports["_re_of_constants"] = "import re as _re_of_constants"
            call = f"_re_of_constants.compile({compiled.pattern!r}, {compiled.flags})"
            self.constants[name] = f"{name} = {call}"
        else:
            self.constants[name] = f"{name} = {_literal(name, value, by)}"


def _source(value: types.FunctionType | type) -> str:
    try:
        return textwrap.dedent(inspect.getsource(value)).rstrip()
    except (OSError, TypeError):
        raise UsageError(
            f"the source of {value.__name__} is not known; define it in a file or a notebook cell"
        ) from None


def _globals_of(value: types.FunctionType | type, source: str) -> Iterable[tuple[str, Any]]:
    """(name, value) of what a definition takes from outside of itself."""
    if isinstance(value, types.FunctionType):
        space = dict(value.__globals__)
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        space.update({name: cell.cell_contents for name, cell in cells})
    else:
        space = dict(vars(sys.modules[value.__module__])) if value.__module__ in sys.modules else {}
    names = {
        node.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return [(name, space[name]) for name in sorted(names) if name in space]


def _is_importable(value: Any) -> bool:
    """True for what an installed module defines under its own name."""
    module = sys.modules.get(value.__module__ or "")
    return _is_installed(module) and getattr(module, value.__name__, None) is value


def _is_installed(module: types.ModuleType | None) -> bool:
    """True for modules that the sandbox has too: of the standard library and of packages."""
    if module is None or module.__name__ == "__main__":
        return False
    if module.__name__.partition(".")[0] in sys.stdlib_module_names:
        return True
    parts = Path(getattr(module, "__file__", None) or "").parts
    return "site-packages" in parts or "dist-packages" in parts


def _literal(name: str, value: Any, by: str) -> str:
    text = repr(value)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        same = False
    if not same:
        raise _cannot_carry(name, value, by)
    return text


def _cannot_carry(name: str, value: Any, by: str) -> UsageError:
    return UsageError(
        f"{by} uses {name}, a {type(value).__name__}, which cannot be written to a module; make it "
        f"inside {by}, or put both into a file and audit that"
    )
