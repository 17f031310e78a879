"""Tidying of a fix: the parts that make no difference go, so that what stays reads like the source.

text = tidied(text, original, is_as_good=lambda shorter: trial_passes(shorter))
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from unhack.audit.subject import tree_of

_WRAPPERS = re.compile(r"\b(?:list|bool)\((\w+)\)|\bstr\((\w+)\)(?=\.strip)|(\w+)\.strip\(\)")
"""Calls around one name that a fix writes to be safe; matched in lines that it wrote itself."""
_MOST = 12


def tidied(text: str, before: str, *, is_as_good: Callable[[str], bool]) -> str:
    """The text with what is not needed taken out of the lines that `before` has not.

    `is_as_good` is asked of every text that is not the same program.
    """
    asked: set[str] = set()
    number = 0
    while number < len(lines := text.split("\n")):
        if lines[number] not in before.split("\n"):
            for shorter in _shorter(lines[number]):
                new = "\n".join([*lines[:number], shorter, *lines[number + 1 :]])
                if new in asked or tree_of(new) is None or len(asked) >= _MOST:
                    continue
                asked.add(new)
                if _same(new, text) or is_as_good(new):
                    text, number = new, number - 1  # the same line again
                    break
        number += 1
    return text


def _shorter(line: str) -> Iterator[str]:
    """The line with one thing less, in every way."""
    for match in _WRAPPERS.finditer(line):
        name = match[1] or match[2] or match[3]
        yield line[: match.start()] + name + line[match.end() :]
    for head in ("return ", "if ", "elif ", "= "):
        start, found, rest = line.partition(f"{head}(")
        colon = ":" if rest.endswith("):") else ""
        if found and rest.endswith(f"){colon}"):
            yield f"{start}{head}{rest[: -1 - len(colon)]}{colon}"


def _same(one: str, other: str) -> bool:
    left, right = tree_of(one), tree_of(other)
    return left is not None and right is not None and ast.dump(left) == ast.dump(right)
