"""Rows of a published data set, one JSON object each, with errors that name file and line.

Covered: `.jsonl`, `.json` (a list of objects) and both as `.gz`.
Not covered: Parquet and Arrow; convert those to JSON lines first.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import TaskError
from unhack.tasks.reading import describe_unknown, fault, json_name


@dataclass(frozen=True, slots=True)
class DataSetRow:
    """One row of a data set."""

    path: Path
    line: int
    """Counted from 1; in a `.json` list, the position of the object."""
    fields: dict[str, Any]

    def error(self, message: str) -> TaskError:
        """The error `path:line: message`."""
        return fault(self.path, message, line=self.line)

    def first(self, *names: str) -> Any:
        """The value of the first of `names` that the row has, None when it has none."""
        return next((self.fields[name] for name in names if name in self.fields), None)

    def text(self, *names: str) -> str:
        """The string under the first of `names` that the row has. Raises TaskError."""
        value = self._require(names)
        if not isinstance(value, str):
            raise self.error(f"`{names[0]}` must be a string, not {json_name(value)}")
        return value

    def text_or(self, default: str, *names: str) -> str:
        """Like `text`; `default` when the row has none of `names`, or null there."""
        return default if self.first(*names) is None else self.text(*names)

    def items(self, *names: str) -> list[Any]:
        """The list under the first of `names` that the row has. Raises TaskError."""
        value = self._require(names)
        if not isinstance(value, list):
            raise self.error(f"`{names[0]}` must be a list, not {json_name(value)}")
        return cast("list[Any]", value)

    def texts(self, *names: str) -> list[str]:
        """Like `items`, of strings only."""
        values = self.items(*names)
        for value in values:
            if not isinstance(value, str):
                raise self.error(f"`{names[0]}` must hold strings, not {json_name(value)}")
        return cast("list[str]", values)

    def _require(self, names: tuple[str, ...]) -> Any:
        for name in names:
            if name in self.fields:
                return self.fields[name]
        hint = describe_unknown("field", names[0], valid=self.fields).partition(";")[2]
        raise self.error(f"the row has no `{names[0]}`" + (f";{hint}" if hint else ""))


def read_records(path: str | Path) -> Iterator[DataSetRow]:
    """The rows of a data file. Raises TaskError for what cannot be read."""
    path = Path(path)
    text = _read(path)
    if path.name.removesuffix(".gz").endswith(".json"):
        yield from _from_list(path, text)
        return
    count = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield DataSetRow(path, number, _object(path, number, _parse(path, number, line)))
            count += 1
    if not count:
        raise fault(path, "holds no row")


def _from_list(path: Path, text: str) -> Iterator[DataSetRow]:
    values = _parse(path, None, text)
    if not isinstance(values, list):
        raise fault(path, "a .json data set is one list of objects; name JSON lines .jsonl")
    items = cast("list[Any]", values)
    if not items:
        raise fault(path, "holds no row")
    for number, value in enumerate(items, start=1):
        yield DataSetRow(path, number, _object(path, number, value))


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        return data.decode("utf-8")
    except FileNotFoundError:
        raise fault(path, "this file is missing") from None
    except UnicodeDecodeError:
        raise fault(path, "this is not UTF-8 text") from None
    except (OSError, EOFError, zlib.error) as error:
        raise fault(path, f"cannot be read: {error}") from None


def _parse(path: Path, line: int | None, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = error.lineno if line is None else line
        message = f"not JSON: {error.msg} (column {error.colno})"
        raise fault(path, message, line=where) from None


def _object(path: Path, line: int, value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise fault(path, f"a row is an object, not {json_name(value)}", line=line)
    return cast("dict[str, Any]", value)
