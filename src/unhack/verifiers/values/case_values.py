"""The values of a function task's cases: what cannot cross to a completion is refused beforehand.

Covered: arguments that a completion would not get as they are (a class of the author's, an array,
the same list in two places), and expected values that no answer could equal. A task that would fail
every completion is refused when it is made, with the case, the place and what to do.
Not covered: expected values that the task's own `accepts` or `raises` replaces.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Callable, Iterator
from typing import Any, cast

from unhack.core import plain
from unhack.core.errors import TaskError

_MUTABLE = (list, dict, set, bytearray)


class CaseValueError(TaskError, ValueError):
    """A value of a case cannot be used; the message names the case and says what to do."""


def encode_argument(value: Any, where: str) -> Any:
    """An argument as tagged JSON. Raises CaseValueError where a completion would not get it."""
    try:
        encoded = plain.encode_tags(value)
    except plain.PlainDataError as error:
        raise CaseValueError(f"{where}: {error}") from None
    if _is_foreign(encoded):
        place, item = next(_foreign_parts(value, where), (where, value))
        raise CaseValueError(
            f"{place} is {_describe(item)}, which no completion gets; {_way(item)}"
        )
    return encoded


def check_aliases(arguments: list[tuple[str, Any]]) -> None:
    """Refuse a mutable object in two places: a completion would get two. Raises CaseValueError."""
    seen: dict[int, str] = {}
    for where, value in arguments:
        for place, item in _containers(value, where):
            first = seen.setdefault(id(item), place)
            if first != place:
                kind = type(item).__name__
                raise CaseValueError(
                    f"{place} is the same {kind} as {first}, and a completion would get two; "
                    f"make a new {kind} for each place"
                )


def check_expected(value: Any, where: str, *, matches: Callable[[Any, Any], bool]) -> int:
    """The bytes that an answer with this value takes.

    `matches(answer, expected)` is the comparison of the task. Raises CaseValueError for a value
    that does not equal itself once it has crossed, so that no answer could.
    """
    try:
        text = plain.dumps(value)
        arrived = plain.loads(text)
    except plain.PlainDataError as error:
        raise CaseValueError(f"{where}: {error}") from None
    if '"$as"' not in text and '"$opaque"' not in text and '"$std"' not in text:
        return len(text)  # data of builtin types; NaN has rules of its own
    if not matches(arrived, value) and not _compares_itself(value) and "nan" not in text.lower():
        place, item = next(_foreign_parts(value, where), (where, value))
        raise CaseValueError(f"{place} is {_describe(item)}, which no answer equals; {_way(item)}")
    return len(text)


def _is_foreign(encoded: Any) -> bool:
    if type(encoded) is list:
        return any(map(_is_foreign, cast("list[Any]", encoded)))
    if type(encoded) is not dict:
        return False
    mapping = cast("dict[str, Any]", encoded)
    if mapping.keys() & {"$as", "$opaque"}:
        return True
    standard = mapping.get("$std")
    if standard is not None and standard[0] == "collections.defaultdict" and not standard[1][0]:
        return True
    return any(map(_is_foreign, mapping.values()))


def _foreign_parts(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """(place, part) of each part that does not cross, outermost first."""
    encoded = plain.encode_tags(value)
    if type(encoded) is dict and cast("dict[str, Any]", encoded).keys() & {"$as", "$opaque"}:
        yield where, value
        return
    inner = list(_children(value, where))
    if not inner and _is_foreign(encoded):
        yield where, value
    for place, item in inner:
        if _is_foreign(plain.encode_tags(item)):
            yield from _foreign_parts(item, place)
            return
    if _is_foreign(encoded):
        yield where, value


def _children(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in cast("dict[Any, Any]", value).items():
            yield f"a key of {where}", key
            yield f"{where}[{key!r:.40}]", item
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(cast("list[Any]", value)):
            yield f"{where}[{index}]", item
    elif isinstance(value, (set, frozenset)) or type(value).__name__ == "deque":
        for item in cast("Any", value):
            yield f"an item of {where}", item


def _containers(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """(place, part) of each mutable part."""
    if isinstance(value, _MUTABLE) or type(value).__name__ == "deque":
        yield where, value
    if isinstance(value, (list, tuple)) and _is_flat(cast("list[Any]", value)):
        return
    for place, item in _children(value, where):
        yield from _containers(item, place)


_ATOMS = (int, float, str, bool, type(None), bytes, complex)


def _is_flat(items: list[Any]) -> bool:
    return all(type(item) in _ATOMS for item in items)


def _compares_itself(value: Any) -> bool:
    """True for an object of the author's whose class says what it equals, such as a tolerance."""
    kind = cast("type[Any]", type(value))
    top = kind.__module__.partition(".")[0]
    known = top in sys.stdlib_module_names or top in {"numpy", "pandas", "torch"}
    own = kind.__eq__ is not object.__eq__
    plainly = isinstance(
        value, (enum.Enum, int, float, str, list, tuple, dict, set, frozenset, bytes)
    )
    return own and not (known or plainly or dataclasses.is_dataclass(kind))


def _describe(value: Any) -> str:
    kind = cast("type[Any]", type(value))
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name}"


def _way(value: Any) -> str:
    """A way out of a refusal."""
    kind = cast("type[Any]", type(value))
    if kind.__module__.partition(".")[0] in {"numpy", "torch", "pandas"}:
        return "give plain numbers and lists, as its tolist() does, and let the code make the array"
    if isinstance(value, enum.Enum):
        return "give its value"
    if dataclasses.is_dataclass(kind):
        return "give a tuple or dict of its fields, or use a script that takes it apart"
    if kind.__name__ == "defaultdict":
        return "give one whose factory is a builtin type, such as int or list"
    if kind.__name__ in {"datetime", "time"}:
        return "give one without a time zone, or with a fixed offset (datetime.timezone)"
    for base in (dict, list, tuple, set, frozenset, str, int, float, bytes):
        if isinstance(value, base):
            return f"give a plain {base.__name__}"
    if kind.__name__ == "dict_values" or hasattr(value, "__next__"):
        return "give a list"
    return f"give plain data ({', '.join(_PLAIN)}), or use a checker or a script"


_PLAIN = ("numbers", "text", "lists", "tuples", "dicts", "sets", "dates", "Decimal")
