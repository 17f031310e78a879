"""Rows of a published data set, with errors that name file and line.

Covered: `.jsonl`, `.json` (a list of objects), both as `.gz`; with the optional package pyarrow
`.parquet`, `.arrow` and a folder that `datasets` saved; columns under other names; integers of any
length.
Not covered: images and other columns that are not data.
"""

from __future__ import annotations

import gzip
import importlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import TaskError, UsageError
from unhack.tasks.reading import describe_unknown, fault, json_name

_TABLES = (".parquet", ".arrow")
SUFFIXES = (".jsonl", ".json", ".jsonl.gz", ".json.gz", *_TABLES)
"""Of files that hold rows."""


@dataclass(frozen=True, slots=True)
class DataSetRow:
    """One row of a data set."""

    path: Path
    line: int
    """Counted from 1; in a `.json` list or a table, the position of the row."""
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

    def message_text(self, *names: str) -> str:
        """Like `text`; of a list of messages, their contents."""
        value = self.first(*names)
        if not isinstance(value, list):
            return self.text(*names)
        try:
            return "\n\n".join(str(message["content"]) for message in cast("list[Any]", value))
        except (KeyError, TypeError):
            raise self.error(f"`{names[0]}` must hold messages with `content`") from None

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

    def decoded(self, *names: str) -> Any:
        """The value under the first of `names`, which may be JSON in a string; None when it is
        absent or empty. Raises TaskError."""
        return self.decode(names[0], self.first(*names))

    def decode(self, name: str, value: Any) -> Any:
        """A value that may be JSON in a string; None when it is empty. Raises TaskError."""
        if not isinstance(value, str):
            return value
        try:
            return read_json(value) if value.strip() else None
        except ValueError as error:
            raise self.error(f"`{name}` is not JSON: {error}") from None

    def _require(self, names: tuple[str, ...]) -> Any:
        for name in names:
            if name in self.fields:
                return self.fields[name]
        hint = describe_unknown("field", names[0], valid=self.fields).partition(";")[2]
        raise self.error(f"the row has no `{names[0]}`" + (f";{hint}" if hint else ""))


def is_data_set(name: str | Path) -> bool:
    """True for a file of rows, and for a folder that `datasets` saved or that holds such files."""
    path = Path(name)
    if path.is_file():
        return path.name.endswith(SUFFIXES)
    return path.is_dir() and (
        (path / "state.json").is_file() or any(item.suffix in _TABLES for item in path.iterdir())
    )


def read_json(text: str) -> Any:
    """The value of a JSON text; integers may be longer than Python reads by itself.

    Raises ValueError.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=lambda digits: int(Decimal(digits)))


def read_records(
    path: str | Path, *, columns: Mapping[str, str] | None = None
) -> Iterator[DataSetRow]:
    """The rows of a data file or folder; `columns` maps our names to those of the file.

    Raises TaskError for what cannot be read, UsageError where pyarrow is missing.
    """
    path = Path(path)
    count = 0
    for file in _files(path):
        for number, value in _rows(file):
            row = DataSetRow(file, number, _object(file, number, value))
            for ours, theirs in (columns or {}).items():
                if theirs not in row.fields:
                    raise row.error(
                        f"the row has no column {theirs!r}; it has {', '.join(row.fields)}"
                    )
                row.fields[ours] = row.fields[theirs]
            yield row
            count += 1
    if not count:
        raise fault(path, "holds no row")


def _files(path: Path) -> list[Path]:
    """The files of a data set, in order."""
    if not path.is_dir():
        return [path]
    if (path / "state.json").is_file():  # written by `save_to_disk`
        state = _parse(path / "state.json", None, _read(path / "state.json"))
        return [path / item["filename"] for item in state["_data_files"]]
    files = sorted(item for item in path.iterdir() if item.name.endswith(SUFFIXES))
    data = [item for item in files if item.name not in {"dataset_info.json", "dataset_dict.json"}]
    if not data:
        inner = ", ".join(sorted(item.name for item in path.iterdir() if item.is_dir())) or "none"
        raise fault(path, f"holds no file of rows; name one of its folders: {inner}")
    return data


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """(position, row) of a file."""
    if path.suffix in _TABLES:
        yield from enumerate(_table_rows(path), start=1)
        return
    text = _read(path)
    if path.name.removesuffix(".gz").endswith(".json"):
        values = _parse(path, None, text)
        if not isinstance(values, list):
            raise fault(path, "a .json data set is one list of objects; name JSON lines .jsonl")
        yield from enumerate(cast("list[Any]", values), start=1)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _parse(path, number, line)


def _table_rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        arrow: Any = importlib.import_module("pyarrow")
        importlib.import_module("pyarrow.ipc")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            f"{path}: Parquet and Arrow files need an optional package ({error}): "
            "pip install '.[parquet]' in a checkout of unhack"
        ) from None
    try:
        if path.suffix == ".parquet":
            batches = parquet.ParquetFile(path).iter_batches(batch_size=256)
        else:
            batches = arrow.ipc.open_stream(arrow.memory_map(str(path)))
        for batch in batches:
            yield from batch.to_pylist()
    except (arrow.ArrowException, OSError) as error:
        raise fault(path, f"cannot be read: {error}") from None


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
        return read_json(text)
    except json.JSONDecodeError as error:
        where = error.lineno if line is None else line
        message = f"not JSON: {error.msg} (column {error.colno})"
        raise fault(path, message, line=where) from None


def _object(path: Path, line: int, value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise fault(path, f"a row is an object, not {json_name(value)}", line=line)
    return cast("dict[str, Any]", value)
