"""Files of a task directory, read so that every complaint names its file and line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from unhack.core.errors import TaskError, UnknownNameError


def fault(path: Path, message: str, *, line: int | None = None) -> TaskError:
    """The error `path:line: message`; the line is counted from 1."""
    place = f"{path}:{line}" if line else str(path)
    return TaskError(f"{place}: {message}")


def describe_unknown(kind: str, name: str, *, valid: Iterable[str]) -> str:
    """The complaint about a name that is not known, with the nearest valid ones."""
    return str(UnknownNameError(kind, name, valid=valid))


_JSON_NAMES: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def json_name(value: object) -> str:
    """The kind of a value in the words of JSON: `null`, `a list`, `an object`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return _JSON_NAMES.get(type(value), type(value).__name__)


def read_text(path: Path) -> str:
    """The text of a file that must be there. Raises TaskError when it is missing or not UTF-8."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise fault(path, "this file is missing") from None
    except OSError as error:
        raise fault(path, f"cannot be read: {error.strerror}") from None
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fault(path, "this is not UTF-8 text", line=line) from None


def read_text_if_there(path: Path) -> str | None:
    """The text of an optional file; None when there is none."""
    return read_text(path) if path.exists() else None
