"""The actions of an agent, typed, and how a model's tool calls become actions.

    parse_action("write", {"path": "pkg/core.py", "text": "x = 1\n"})
    TOOLS                       # JSON schemas, as chat endpoints take them

Covered: every action as a frozen value; a tool call that is no action raises `RefusedActionError`
with words for the policy.
Not covered: what an action does (`file_tools`, `episode`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, cast

MAX_TEXT = 1 << 20
"""Characters of a file or a patch in one action."""
MAX_PATH = 512


class RefusedActionError(Exception):
    """An action that cannot be carried out; its text is the observation."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Show a text file, whole or some of its lines."""

    path: str
    """Path of the file, relative to the workspace."""
    start: int = 1
    """First line to show, counted from 1."""
    lines: int = 400
    """Most lines to show."""


@dataclass(frozen=True, slots=True)
class ListFiles:
    """List the files below a folder."""

    path: str = ""
    """Folder, relative to the workspace; empty for all of it."""
    depth: int = 3
    """Levels of folders to show."""


@dataclass(frozen=True, slots=True)
class SearchText:
    """Find the lines of text files that hold a string or match a regular expression."""

    text: str
    """String to find, or regular expression."""
    path: str = ""
    """File or folder to search; empty for all of it."""
    regex: bool = False
    """True where `text` is an extended regular expression (as `grep -E` takes it)."""


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Create or replace a file; its folders are made."""

    path: str
    """Path of the file, relative to the workspace."""
    text: str
    """The whole content."""


@dataclass(frozen=True, slots=True)
class EditFile:
    """Replace a passage of a text file that occurs once, or insert text behind a line."""

    path: str
    """Path of the file, relative to the workspace."""
    old: str = ""
    """The passage, exactly as it stands in the file; empty to insert."""
    new: str = ""
    """The text in its place."""
    insert_line: int = -1
    """Line behind which `new` is inserted as lines of its own; 0 for the top."""


@dataclass(frozen=True, slots=True)
class ApplyPatch:
    """Apply a unified diff to the workspace: change, create and delete files."""

    patch: str
    """Unified diff, paths relative to the workspace, with or without a/ and b/."""


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Run a shell command in the workspace. Only files survive it: no process, no variable."""

    command: str
    """Script for bash."""


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """Run a command in a shell that lasts: working directory, variables, functions, aliases and
    options stay for the next `shell`, files for all. No process stays."""

    command: str
    """Script for bash."""


@dataclass(frozen=True, slots=True)
class RunTests:
    """Run the workspace's own tests with pytest."""

    paths: tuple[str, ...] = ()
    """Test files, folders or ids; empty for all."""


@dataclass(frozen=True, slots=True)
class Submit:
    """Hand in the workspace as it stands. This ends the episode."""


Action = (
    ReadFile | ListFiles | SearchText | WriteFile | EditFile | ApplyPatch
    | RunCommand | ShellCommand | RunTests | Submit
)  # fmt: skip
KINDS: dict[str, type[Action]] = {
    "read": ReadFile,
    "list": ListFiles,
    "search": SearchText,
    "write": WriteFile,
    "edit": EditFile,
    "patch": ApplyPatch,
    "run": RunCommand,
    "shell": ShellCommand,
    "test": RunTests,
    "submit": Submit,
}
"""The name of each action."""
_NAMES = {kind: name for name, kind in KINDS.items()}
_TYPES: dict[str, tuple[type, str]] = {
    "str": (str, "string"),
    "int": (int, "integer"),
    "bool": (bool, "boolean"),
}


def name_of(action: Action) -> str:
    """The name of an action."""
    return _NAMES[type(action)]


def arguments_of(action: Action) -> dict[str, Any]:
    """The arguments of an action as plain JSON values, those at their defaults left out."""
    found: dict[str, Any] = {}
    for field in fields(action):
        value: Any = getattr(action, field.name)
        if value != field.default:
            found[field.name] = [*value] if isinstance(value, tuple) else value
    return found


def parse_action(name: str, arguments: object) -> Action:
    """The action of a tool call. Raises RefusedActionError."""
    kind = KINDS.get(name)
    if kind is None:
        raise RefusedActionError(f"there is no action {name[:40]!r}; there are {', '.join(KINDS)}")
    if not isinstance(arguments, Mapping):
        raise RefusedActionError(f"the arguments of {name} must be an object")
    given = dict(cast("Mapping[Any, Any]", arguments))
    values: dict[str, Any] = {}
    for field in fields(kind):
        if field.name not in given:
            if field.default is MISSING:
                raise RefusedActionError(f"{name} needs {field.name!r}")
            continue
        values[field.name] = _value(name, field.name, str(field.type), given.pop(field.name))
    if given:
        raise RefusedActionError(f"{name} takes no {str(next(iter(given)))[:40]!r}")
    return kind(**values)


def _value(name: str, field: str, kind: str, value: object) -> Any:
    if kind == "tuple[str, ...]":
        items = cast("list[Any]", value) if isinstance(value, list) else [None]
        if not all(isinstance(one, str) for one in items):
            raise RefusedActionError(f"{name}: {field} must be a list of strings")
        return tuple(_text(name, field, str(one)) for one in items)
    wanted, said = _TYPES[kind]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise RefusedActionError(f"{name}: {field} must be of type {said}")
    return _text(name, field, value) if isinstance(value, str) else value


def _text(name: str, field: str, value: str) -> str:
    if "\0" in value:
        raise RefusedActionError(f"{name}: {field} holds a NUL character")
    most = MAX_PATH if field in ("path", "paths") else MAX_TEXT
    if len(value) > most:
        raise RefusedActionError(f"{name}: {field} is longer than {most:,} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RefusedActionError(f"{name}: {field} is no Unicode text") from None
    return value


_DESCRIPTIONS = {
    "path": "relative to the workspace",
    "start": "first line to show, counted from 1",
    "lines": "most lines to show",
    "depth": "levels of folders to show",
    "text": "the text",
    "old": "passage to replace, exactly as it stands in the file, where it occurs once",
    "new": "text in its place; empty to delete it",
    "insert_line": "in place of old: line behind which new is inserted, 0 for the top",
    "regex": "true where text is an extended regular expression (grep -E)",
    "patch": "unified diff with paths relative to the workspace",
    "command": "script for bash",
    "paths": "test files, folders or ids; empty for all",
}


def _schema(name: str, kind: type[Action]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for field in fields(kind):
        if str(field.type) == "tuple[str, ...]":
            shape: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
        else:
            shape = {"type": _TYPES[str(field.type)][1]}
        properties[field.name] = {**shape, "description": _DESCRIPTIONS[field.name]}
    return {
        "name": name,
        "description": " ".join(str(kind.__doc__).split()),
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": [field.name for field in fields(kind) if field.default is MISSING],
            "additionalProperties": False,
        },
    }


TOOLS: tuple[dict[str, Any], ...] = tuple(_schema(name, kind) for name, kind in KINDS.items())
"""The actions as JSON schemas: name, description, parameters."""
