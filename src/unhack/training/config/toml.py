"""Settings from TOML and from `--set table.field=value`, and back to TOML.

Covered: unknown tables and fields (UnknownNameError with the nearest names), values of the wrong
kind (UsageError that names the field). Not covered: whether settings make sense together; the part
that uses them says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.config import recipes
from unhack.training.config.retired import without_retired
from unhack.training.config.settings import Settings


def read_settings(path: Path, *, reading: bool = False) -> Settings:
    """The settings of a TOML file; what it leaves out has its default.

    `reading`: settings that are gone may say anything, as nothing is trained by them. Raises
    UsageError for a file that cannot be read or is not TOML, and for settings that are gone,
    UnknownNameError.
    """
    tables = without_retired(read_toml(path), source=str(path), reading=reading)
    return make_settings(tables, source=str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises UsageError."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not TOML ({error})") from error


def make_settings(tables: Mapping[str, Any], *, source: str = "settings") -> Settings:
    """Settings of tables of plain values. Raises UsageError, UnknownNameError."""
    known = Settings().model_dump()
    for table, fields in tables.items():
        if table not in known:
            raise UnknownNameError("table", table, valid=known)
        if not isinstance(fields, Mapping):
            raise UsageError(f"{source}: [{table}] is a table of settings")
        for field in cast(Mapping[str, Any], fields):
            if field not in known[table]:
                names = (f"{table}.{name}" for name in known[table])
                raise UnknownNameError("setting", f"{table}.{field}", valid=names)
    try:
        return Settings.model_validate(dict(tables))
    except ValidationError as error:
        raise UsageError(f"{source}: {first_fault(error)}") from error


def first_fault(error: ValidationError) -> str:
    """The first field that is wrong, if it is one, and what is wrong with it."""
    first = error.errors()[0]
    return ": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"]]))


def override(settings: Settings, overrides: Mapping[str, str]) -> Settings:
    """Settings with some fields set, each as `table.field` to its text.

    A field of text takes the text as it is, a list takes TOML or `a,b,c`, anything else is read as
    TOML. Raises UsageError, UnknownNameError.
    """
    tables: dict[str, dict[str, Any]] = settings.model_dump()
    above: dict[str, dict[str, Any]] = {}
    for name, text in overrides.items():
        table, dot, field = name.partition(".")
        if not dot or field not in tables.get(table, {}):
            names = (f"{one}.{other}" for one, fields in tables.items() for other in fields)
            raise UnknownNameError("setting", name, valid=names)
        above.setdefault(table, {})[field] = _value(text, like=tables[table][field])
    return layer(settings, above, source="--set")


def layer(settings: Settings, tables: Mapping[str, Mapping[str, Any]], *, source: str) -> Settings:
    """Settings with the fields of `tables` on top. Raises UsageError, UnknownNameError."""
    below: dict[str, dict[str, Any]] = settings.model_dump()
    joined = {name: {**below.get(name, {}), **fields} for name, fields in tables.items()}
    if "objective" in tables:
        joined["objective"] = recipes.overlay(below["objective"], tables["objective"])
    return make_settings({**below, **joined}, source=source)


def override_of(text: str) -> tuple[str, str]:
    """`table.field=value` in two. Raises UsageError."""
    name, equals, value = text.partition("=")
    if not equals or "." not in name:
        raise UsageError(f"{text!r}: write table.field=value, as in gate.kind=cosine")
    return name.strip(), value.strip()


def settings_toml(settings: Settings) -> str:
    """All fields as TOML; `read_settings` gives the same settings back."""
    import tomli_w  # of the extra `train`; reading settings does without

    return tomli_w.dumps(settings.model_dump())


def differences(one: Settings, other: Settings) -> dict[str, tuple[Any, Any]]:
    """The fields in which two settings differ, as `table.field` to both values."""
    ours, theirs = one.model_dump(), other.model_dump()
    return {
        f"{table}.{field}": (value, theirs[table][field])
        for table, fields in ours.items()
        for field, value in fields.items()
        if value != theirs[table][field]
    }


def _value(text: str, *, like: Any) -> Any:
    if isinstance(like, str):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if isinstance(like, tuple):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        return text
