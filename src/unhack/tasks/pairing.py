"""The input of a batch: each completion with its task, in groups; anything else is refused.

Covered: every mistake of the caller is a UsageError that says what to give instead, before anything
is run where that can be known. Tasks may be made anew at every access, as the rows of a data set
are: two are the same problem when they are equal, not only when they are one object.
Not covered: tasks that cannot be compared (an expected value whose `==` raises) are the same only
when they are one object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack.tasks.task import Task

_STRINGS = "give a list of strings"


def with_article(value: object) -> str:
    """`an int`, `a dict`, `None`, `bytes`: the type of a value in a sentence."""
    name = type(value).__name__
    if value is None or name in {"bytes", "bytearray"}:
        return "None" if value is None else name
    return f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {name}"


def check_input(tasks: object, completions: object) -> None:
    """Raise UsageError for what can be seen to be wrong before anything is taken from it."""
    if not isinstance(tasks, Task):
        _check_tasks(tasks)
    if isinstance(completions, str | bytes | bytearray):
        kind = "one string" if isinstance(completions, str) else with_article(completions)
        raise UsageError(
            f"completions is {kind}, not a list of strings; for a single completion give a list "
            "that holds it: [completion]"
        )
    if isinstance(completions, Mapping):
        raise UsageError(
            f"completions is {with_article(cast('object', completions))}, which has no order of "
            "its own; give a list of strings, such as list(completions.values())"
        )
    if not isinstance(completions, Iterable):
        raise UsageError(f"completions is {with_article(completions)}; {_STRINGS}")
    if isinstance(completions, Sequence) and not isinstance(tasks, Task):
        check_lengths(cast("Sequence[Task]", tasks), len(cast("Sequence[str]", completions)))


def _check_tasks(tasks: object) -> None:
    if isinstance(tasks, str):
        raise UsageError(
            f"{tasks[:80]!r} is a name, not a task; load it first: "
            f"[task] = find_tasks({tasks[:80]!r})"
        )
    listed = hasattr(tasks, "__getitem__") and hasattr(tasks, "__len__")
    if isinstance(tasks, Mapping | bytes | bytearray) or not listed:
        raise UsageError(
            f"{with_article(cast('object', tasks))} stands where a Task belongs; give one Task, or "
            "a list with one for each completion"
        )


def check_lengths(tasks: Task | Sequence[Task], count: int) -> None:
    """Raise UsageError unless there is one task for all, or one for each completion."""
    if not isinstance(tasks, Task) and len(tasks) != count:
        raise UsageError(
            f"{len(tasks)} task{'s' * (len(tasks) != 1)} for {count} completion{'s' * (count != 1)}"
            ": give one task, or one for each completion"
        )


def pairs(
    tasks: Task | Sequence[Task], completions: Iterable[str]
) -> Iterator[tuple[int, Task, str]]:
    """(index, task, completion), taken as they are needed. Raises UsageError at the first that does
    not fit."""
    if isinstance(tasks, Task):
        items = ((tasks, completion) for completion in completions)
    else:
        items = _in_step(tasks, completions)
    for index, (task, completion) in enumerate(items):
        if not isinstance(task, Task):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"task {index} is {with_article(task)}, not a Task")
        if not isinstance(completion, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(
                f"completion {index} is {with_article(completion)}; {_hint(completion)}"
            )
        yield index, task, completion


def _hint(completion: Any) -> str:
    """The way from what was given to a string."""
    if isinstance(completion, bytes | bytearray):
        return "decode it to a string first"
    if isinstance(completion, Mapping | list):
        return "give the text alone, such as message['content']"
    return _STRINGS


def _in_step(tasks: Sequence[Task], completions: Iterable[str]) -> Iterator[tuple[Task, str]]:
    """Pairs of two lengths that are not known to agree."""
    nothing = object()
    for count, (task, completion) in enumerate(zip_longest(tasks, completions, fillvalue=nothing)):
        if completion is nothing:
            check_lengths(tasks, count)
        if task is nothing:
            raise UsageError(f"{count} tasks for more completions: give one for each completion")
        yield cast("Task", task), cast("str", completion)


def group_indices(
    tasks: Task | Sequence[Task], count: int, group_size: int | None
) -> tuple[tuple[int, ...], ...]:
    """Index lists of the rollouts of one problem.

    Raises UsageError when `group_size` does not cut the completions into groups of one problem.
    """
    if group_size is not None:
        if group_size < 1 or count % group_size:
            raise UsageError(f"{count} completions cannot be cut into groups of {group_size}")
        starts = range(0, count, group_size)
        if not isinstance(tasks, Task):
            for start in starts:
                _check_group(tasks, start, group_size)
        return tuple(tuple(range(start, start + group_size)) for start in starts)
    if isinstance(tasks, Task):
        return (tuple(range(count)),) if count else ()
    result: list[list[int]] = []
    for index in range(count):
        if index and _same(tasks[index], tasks[index - 1]):
            result[-1].append(index)
        else:
            result.append([index])
    return tuple(map(tuple, result))


def _check_group(tasks: Sequence[Task], start: int, size: int) -> None:
    first = tasks[start]
    if not all(_same(first, tasks[index]) for index in range(start + 1, start + size)):
        raise UsageError(f"the group of completions {start} to {start + size - 1} mixes problems")


def _same(left: Task, right: Task) -> bool:
    """True for two tasks that judge the same problem in the same way."""
    if left is right:
        return True
    try:
        return bool(left == right)
    except Exception:  # an expected value of a type whose `==` gives no truth value
        return False
