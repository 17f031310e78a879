"""Templates of source files: drawn names, switched parts, two forms of the same part.

A template is the text of a file with

    $name  ${name}          a drawn name or constant
    <<one|another>>         one of several wordings
    %if part / %else / %end lines that stand there only where `part` is switched on
    %form / %or / %end      two ways to write the same thing; which one is a drawn bit

Wordings and bits are drawn by their place in the template, so a switched-off part changes nothing
elsewhere.

Covered: text files. Not covered: loops, expressions in conditions.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass

from unhack.core.errors import UsageError

_WORDING = re.compile(r"<<([^<>\n]*\|[^<>\n]*)>>")
_BLANKS = re.compile(r"\n{4,}")
_TRAILING = re.compile(r"\n{2,}\Z")


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices that one rendering follows."""

    seed: str
    words: Mapping[str, str]
    parts: frozenset[str]
    flipped: bool = False
    """The other form of every `%form` block."""


def render(template: str, draw: Choices, *, path: str) -> str:
    """The file that a template gives. Raises UsageError for a template that is not well formed."""
    rng = random.Random(f"{draw.seed}/{path}/wordings")
    text = _WORDING.sub(lambda found: rng.choice(found[1].split("|")), template)
    bits = random.Random(f"{draw.seed}/{path}/forms")
    kept: list[str] = []
    stack: list[bool] = []
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = line.strip().partition(" ")
        match word:
            case "%if":
                name = rest.removeprefix("not ")
                stack.append((name in draw.parts) is (name == rest))
            case "%form":
                stack.append((bits.random() < 0.5) is not draw.flipped)
            case "%else" | "%or" if stack:
                stack[-1] = not stack[-1]
            case "%end" if stack:
                stack.pop()
            case _ if word.startswith("%"):
                raise UsageError(f"{path}:{number}: no such directive here: {line.strip()}")
            case _ if all(stack):
                kept.append(line)
            case _:
                pass
    if stack:
        raise UsageError(f"{path}: a block is not closed by %end")
    try:
        filled = string.Template("\n".join(kept) + "\n").substitute(draw.words)
    except KeyError as error:
        raise UsageError(f"{path}: the family draws no word {error}") from None
    return _TRAILING.sub("\n", _BLANKS.sub("\n\n\n", filled)).lstrip("\n")
