"""`cases.jsonl`: the secret reference data, one case a line.

Covered: every kind of row, tagged values, errors that name the line and the nearest valid key; the
same rules for rows that a generator draws.
Not covered: whether an expected value is right; `unhack.tasks.validate` finds that out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from unhack.core import plain
from unhack.tasks.reading import describe_unknown, fault, json_name, read_text
from unhack.verifiers.function import Case
from unhack.verifiers.stdio import StdioCase

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class TextRow:
    """One problem of a text task."""

    prompt: str
    answer: str


class RowError(ValueError):
    """A row does not have the shape that its kind asks for; the message says what to change."""


def read_rows(path: Path, parse: Callable[[Any], Row]) -> tuple[Row, ...]:
    """The rows of a `cases.jsonl`; blank lines are left out.

    Raises TaskError with file and line when a line is not tagged JSON or `parse` raises RowError.
    """
    rows: list[Row] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(parse(plain.loads(line)))
        except plain.PlainDataError as error:
            raise fault(path, _json_message(line, str(error)), line=number) from None
        except RowError as error:
            raise fault(path, str(error), line=number) from None
    if not rows:
        raise fault(path, "holds no case; a task without cases would pass everything")
    return tuple(rows)


def _json_message(line: str, otherwise: str) -> str:
    """The fault of a line: the JSON parser's complaint with its column, or the tag's."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg} (column {error.colno})"
    except ValueError:
        pass
    return otherwise


def function_case(row: Any) -> Case:
    """A row `{"args", "kwargs", "expected"}` or `{"args", "kwargs", "raises"}`."""
    fields = _fields(row, ("args", "kwargs", "expected", "raises"))
    if "expected" in fields and "raises" in fields:
        raise RowError("`expected` and `raises` exclude each other")
    if "expected" not in fields and "raises" not in fields:
        raise RowError("needs `expected`, or `raises` with the name of an exception class")
    raises = fields.get("raises")
    if "raises" in fields and not (isinstance(raises, str) and raises.isidentifier()):
        raise RowError(f"`raises` must be the name of an exception class, not {raises!r:.60}")
    args, kwargs = call_of(fields)
    return Case(args=args, kwargs=kwargs, expected=fields.get("expected"), raises=raises)


def call_of(row: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a row that has `args` and may have `kwargs`."""
    fields = _fields(row, ("args", "kwargs", "expected", "raises"))
    args: Any = fields.get("args", [])
    kwargs: Any = fields.get("kwargs", {})
    if "args" not in fields and "kwargs" not in fields:
        raise RowError("needs `args`, a list of the arguments")
    if not isinstance(args, (list, tuple)):
        raise RowError(f"`args` must be a list, not {json_name(args)}")
    if type(kwargs) is not dict:
        raise RowError(f"`kwargs` must be an object, not {json_name(kwargs)}")
    named = cast("dict[Any, Any]", kwargs)
    if not all(isinstance(key, str) for key in named):
        raise RowError("the keys of `kwargs` must be strings")
    return tuple(cast("list[Any]", args)), named


def stdio_case(row: Any) -> StdioCase:
    """A row `{"stdin", "stdout"}`."""
    fields = _fields(row, ("stdin", "stdout"))
    return StdioCase(stdin=_text(fields, "stdin"), stdout=_text(fields, "stdout"))


def stdin_of(row: Any) -> str:
    """The input of a drawn stdio row, which has no `stdout` yet."""
    return _text(_fields(row, ("stdin",)), "stdin")


def text_row(row: Any) -> TextRow:
    """A row `{"prompt", "answer"}`."""
    fields = _fields(row, ("prompt", "answer"))
    prompt = _text(fields, "prompt")
    if not prompt.strip():
        raise RowError("`prompt` is empty")
    return TextRow(prompt=prompt, answer=_text(fields, "answer"))


def _fields(row: Any, valid: tuple[str, ...]) -> dict[str, Any]:
    if type(row) is not dict:
        raise RowError(f"a case is a JSON object, not {json_name(row)}")
    fields = cast("dict[str, Any]", row)
    for key in fields:
        if key not in valid:
            raise RowError(describe_unknown("key", str(key), valid=valid))
    return fields


def _text(fields: dict[str, Any], key: str) -> str:
    if key not in fields:
        raise RowError(f"needs `{key}`")
    value = fields[key]
    if not isinstance(value, str):
        raise RowError(f"`{key}` must be a string, not {json_name(value)}")
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise RowError(f"`{key}` holds half of a surrogate pair, which is no text") from None
    return value
