"""The task of a row, the text of a completion and the calls in it, as other stacks hand them over.

Covered: every value of a wrong kind is a UsageError that names its field.
Not covered: whether the task is the right one for the prompt; nobody but the data set knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from unhack.core.errors import UnknownNameError, UsageError, with_article
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task

Tasks = Task | Mapping[str, Task] | Callable[[Mapping[str, Any]], Task]
"""One task for all rows; tasks by the id that a column holds; or what makes the task of a row's
columns."""


def task_of(tasks: Tasks, row: Mapping[str, Any], *, column: str) -> Task:
    """The task of a row. Raises UnknownNameError, UsageError."""
    if isinstance(tasks, Task):
        return tasks
    if callable(tasks):
        return _checked(tasks(row))
    name = name_in(row, column)
    if name not in tasks:
        raise UnknownNameError("task", name, valid=tuple(tasks))
    return tasks[name]


def _checked(made: object) -> Task:
    if not isinstance(made, Task):
        raise UsageError(f"what makes the task of a row returned {with_article(made)}")
    return made


def name_in(row: Mapping[str, Any], column: str) -> str:
    """The task's name that a column holds, a number as its digits.

    Raises UnknownNameError, UsageError.
    """
    if column not in row:
        raise UnknownNameError("column", column, valid=tuple(map(str, row)))
    value = row[column]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        shown = "an empty text" if value == "" else with_article(value)
        raise UsageError(f"column {column!r} holds {shown}; it names a task, such as {_EXAMPLE!r}")
    return value


_EXAMPLE = "strings/knit-rows"


@lru_cache(maxsize=4096)
def named_task(name: str) -> Task:
    """The task of a name: a built-in one, a directory, `NAME#3` for a row of a text task.

    Raises UnknownNameError, UsageError.
    """
    return find_task(name)


def text_of(completion: Any, *, name: str = "completion") -> str:
    """The text of a completion: itself, or the last *assistant* message of a chat.

    A chat that the assistant has no message in is the empty text: what a tool or a user says is
    never judged as the answer. `name` is the field that an error names. Raises UsageError.
    """
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, Sequence) or isinstance(completion, bytes | bytearray):
        raise UsageError(f"{name} is {with_article(completion)}, not a text or a list of messages")
    for message in reversed(cast("Sequence[object]", completion)):
        if not isinstance(message, Mapping):
            raise UsageError(f"{name} holds {with_article(message)}, not a message with a role")
        message = cast("Mapping[str, Any]", message)
        if message.get("role") == "assistant":
            return _content(message.get("content"), name=name)
    return ""


def _content(content: object, *, name: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        raise UsageError(f"{name}: a message's content is {with_article(content)}, not a text")
    texts: list[str] = []
    for part in cast("Sequence[object]", content):
        if isinstance(part, Mapping):
            text = cast("Mapping[str, Any]", part).get("text")
            texts.append(text if isinstance(text, str) else "")
    return "".join(texts)


def tool_call(text: str) -> tuple[str, object]:
    """The name and arguments of a tool call as JSON; ("", None), which every episode refuses with
    words, for another text."""
    try:
        call: Any = json.loads(text)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(call, dict):
        return "", None
    found = cast("dict[str, Any]", call)
    return str(found.get("name", "")), found.get("arguments", {})
