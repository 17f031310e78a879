"""Other values of a test file's own making: what changed expectations are drawn from.

    assert area(3) == 12        assert area(3) == 40        the changed tests of a file exchange
    assert area(8) == 40        assert area(8) == 12        their values, errors too
    assert name() == "red"      assert name() == "rde"      one that has no partner is near by

So a file with changed expectations has the values that its author wrote, each as often, in the
forms that its author wrote: nothing but what a test asks for says which of them are changed.

Covered: numbers, texts, bytes, truth values, errors by name.
Not covered: likeness of an input and its result, where a solution repeats the one in the other.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

_COMMON_ERRORS = ("ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "OSError")


Place = tuple[Any, Callable[[Any], None]]
"""A value that is to be another one, and what puts it in place."""


@dataclass(slots=True)
class Vocabulary:
    """The values of one file that are to be others, and all that it has."""

    known: set[Any] = field(default_factory=set[Any])
    """Numbers, texts and names of errors of the file."""
    values: list[Place] = field(default_factory=list[Place])
    errors: list[Place] = field(default_factory=list[Place])

    @classmethod
    def of(cls, tree: ast.AST) -> Vocabulary:
        """The vocabulary of a parsed file."""
        found = cls()
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                found.known.add(node.value)
            elif isinstance(node, ast.Name | ast.Attribute):
                found.known.add(node.id if isinstance(node, ast.Name) else node.attr)
        return found

    def settle(self, random: Random) -> None:
        """Give every place another value: that of a place like it, or one near by."""
        groups: dict[Any, list[Place]] = {}
        for place in self.values:
            groups.setdefault(type(place[0]), []).append(place)
        for group in groups.values():
            group.sort(key=lambda place: _measure(place[0]))
            self._exchange(group, lambda value: self._near(value, random), lambda one, other: True)
        random.shuffle(self.errors)
        self._exchange(self.errors, lambda name: self._other_error(name, random), _are_apart)
        self.values.clear()
        self.errors.clear()

    def _exchange(
        self, places: list[Place], near: Callable[[Any], Any], fits: Callable[[Any, Any], bool]
    ) -> None:
        left = list(places)
        while left:
            value, put = left.pop(0)
            partner = next(
                (at for at, (other, _) in enumerate(left)
                 if other != value and not isinstance(value, bool | None) and fits(value, other)),
                None,
            )  # fmt: skip
            if partner is None:
                put(near(value))
            else:
                other, put_other = left.pop(partner)
                put(other)
                put_other(value)

    def _other_error(self, name: str, random: Random) -> str:
        fits = [other for other in _COMMON_ERRORS if _are_apart(name, other)]
        return random.choice([other for other in fits if other not in self.known] or fits)

    def _near(self, value: Any, random: Random) -> Any:
        """Another value of the same kind, one that the file does not have where that is easy."""
        if value is None or isinstance(value, bool):
            return not value
        found = value
        for _ in range(8):
            if isinstance(value, (int, float, complex)):
                found = _near_number(value, random)
            elif isinstance(value, bytes):
                text = value.decode("latin-1")
                found = _exchanged(text, random).encode("latin-1", "replace")
            else:
                found = _exchanged(str(value), random)
            if found not in self.known and found != value:
                break
        return found


def _are_apart(name: str, other: str) -> bool:
    """True for two errors of which neither is derived from the other, as far as that is known."""
    one, two = getattr(builtins, name, None), getattr(builtins, other, None)
    if name == other or other in ("Exception", "BaseException"):
        return False
    if name in ("Exception", "BaseException"):
        return True
    if not (isinstance(one, type) and isinstance(two, type)):
        return True
    return not (issubclass(one, two) or issubclass(two, one))


def _measure(value: Any) -> Any:
    """The key to sort values by, so that those beside one another are alike."""
    if isinstance(value, str | bytes):
        return len(value)
    return abs(value) if isinstance(value, int | float | complex) else 0


def _near_number(value: Any, random: Random) -> Any:
    if isinstance(value, int):
        steps = [step for step in (-3, -2, -1, 1, 2, 3) if (value + step < 0) == (value < 0)]
        return value + random.choice(steps)
    if isinstance(value, complex) or value - value != 0.0:
        return -value if value else value + 1
    digits = len(repr(value).partition(".")[2]) if "e" not in repr(value) else 0
    moved = round(value + random.choice((-3, -2, -1, 1, 2, 3)) * 10.0**-digits, digits)
    return moved if moved != value else value * 2 + 1


def _exchanged(text: str, random: Random) -> str:
    """The text with two of its characters exchanged, or with one of them once more."""
    places = [at for at in range(len(text) - 1) if text[at] != text[at + 1]]
    if places:
        at = random.choice(places)
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text + (text[-1:] or "0")
