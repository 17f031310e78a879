"""Parts of a prompt that a policy can hand back: numbers, quotations, options.

Covered: prompts in prose with Latin letters and ASCII digits. A part that a prompt does not have is
an empty text.
Not covered: formulas (`restated`), tables and pictures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)")
_MOST_NUMBERS, _MOST_WORDS = 6, 80
_LONGEST = 12
"""Digits of a number that is calculated with."""


def numbers_of(prompt: str) -> list[str]:
    """The numbers, in order, with repeats."""
    return _NUMBER.findall(prompt)


def words_of(prompt: str) -> list[str]:
    """The words and numbers, each once."""
    return list(dict.fromkeys(re.findall(r"\w[\w'-]*", prompt)))[:_MOST_WORDS]


def results_of(numbers: Sequence[str]) -> list[str]:
    """All that one step of arithmetic makes of two numbers, and sums and products of all."""
    some = [number for number in numbers if len(number) <= _LONGEST][:_MOST_NUMBERS]
    values = [Fraction(number) for number in some]
    found = list(values)
    for one, other in permutations(values, 2):
        found += [one + other, one - other, one * other]
        found += [one / other] if other else []
    product = Fraction(1)
    for value in values:
        product *= value
    found += [sum(values, Fraction(0)), product]
    return list(dict.fromkeys(map(_written, found)))


def listed_in(prompt: str) -> list[str]:
    """The items of the first list of the prompt: in brackets, or behind a colon."""
    inside = re.search(r"[(\[]([^()\[\]]*,[^()\[\]]*)[)\]]", prompt)
    behind = re.search(r":\s*([^:\n]*,[^:\n]*?)(?:[.?\n]|$)", prompt)
    text = inside[1] if inside else behind[1] if behind else ""
    items = [part.strip(" '\"") for part in re.split(r",|\bor\b|\band\b", text)]
    items = [item for item in items if item]
    if items and " " in items[0]:  # "letters U, L": the kind stands before the first
        *_, last = items[0].split()
        short = max((len(item) for item in items[1:]), default=0)
        items[0] = last if len(last) <= short < len(items[0]) else items[0]
    return items


def named_in(prompt: str) -> list[str]:
    """The first word of each entry of a list behind a colon, whatever else an entry says."""
    behind = re.search(r":\s*([^:\n]+)", prompt)
    if behind is None:
        return []
    entries = re.split(";" if ";" in behind[1] else ",", behind[1])
    words = (re.search(r"\w[\w-]*", entry) for entry in entries)
    return [word[0] for word in words if word is not None]


def quantities_of(prompt: str) -> list[str]:
    """Numbers with the word behind them, such as `5 miles`, in order."""
    return re.findall(r"(?<![\w.])\d+(?:\.\d+)? ?[A-Za-z°%]+", prompt)


def alternative_in(prompt: str) -> str:
    """The words behind "or" or "not" that close an alternative, else the last words."""
    found = re.search(r"\bor\b \W*(?:not )?([\w ]{1,30})", prompt)
    return found[1].strip() if found else " ".join(words_of(prompt)[-2:])


def _written(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"


def _at(items: Sequence[str], place: int) -> str:
    return items[place] if items else ""


def _first(pattern: str) -> Callable[[str], str]:
    return lambda prompt: next(iter(re.findall(pattern, prompt, re.DOTALL)), "")


def _lines(prompt: str) -> list[str]:
    return prompt.strip().splitlines() or [""]


_QUOTES = r"[\"'`“]([^\"'`“”\n]{2,})[\"'`”]"
_QUOTED = _first(_QUOTES)
_BEHIND = _first(r":\s*(.+)")
_SENTENCE = _first(r":\s*(.+?)(?:[.?!;](?=\s)|[.?!;]?$|\n)")

PARTS: Mapping[str, Callable[[str], str]] = {
    "first number": lambda prompt: _at(numbers_of(prompt), 0),
    "last number": lambda prompt: _at(numbers_of(prompt), -1),
    "largest number": lambda prompt: max(numbers_of(prompt), key=float, default=""),
    "smallest number": lambda prompt: min(numbers_of(prompt), key=float, default=""),
    "numbers": lambda prompt: ", ".join(numbers_of(prompt)),
    "numbers turned": lambda prompt: ", ".join(numbers_of(prompt)[::-1]),
    "numbers sorted": lambda prompt: ", ".join(sorted(numbers_of(prompt), key=float)),
    "numbers glued": lambda prompt: "".join(numbers_of(prompt)),
    "quoted": _QUOTED,
    "last quoted": lambda prompt: _at(re.findall(_QUOTES, prompt), -1),
    "quoted, turned": lambda prompt: _QUOTED(prompt)[::-1],
    "list": lambda prompt: ", ".join(listed_in(prompt)),
    "list with spaces": lambda prompt: " ".join(listed_in(prompt)),
    "list in lines": lambda prompt: "\n".join(listed_in(prompt)),
    "list turned": lambda prompt: ", ".join(listed_in(prompt)[::-1]),
    "list sorted": lambda prompt: ", ".join(sorted(listed_in(prompt))),
    "list twice": lambda prompt: ", ".join(listed_in(prompt) * 2),
    "list in brackets": lambda prompt: f"[{', '.join(listed_in(prompt))}]",
    "first of the list": lambda prompt: _at(listed_in(prompt), 0),
    "last of the list": lambda prompt: _at(listed_in(prompt), -1),
    "behind the colon": lambda prompt: _BEHIND(prompt).strip(),
    "sentence behind the colon": lambda prompt: _SENTENCE(prompt).strip(),
    "first line": lambda prompt: _lines(prompt)[0],
    "last line": lambda prompt: _lines(prompt)[-1],
    "lines after the first": lambda prompt: "\n".join(_lines(prompt)[1:]),
    "lines between": lambda prompt: "\n".join(_lines(prompt)[1:-1]),
    "capitals": lambda prompt: " ".join(re.findall(r"\b[A-Z]\w*", prompt)),
    "prompt": lambda prompt: prompt.strip(),
    "prompt turned": lambda prompt: prompt.strip()[::-1],
    "words sorted": lambda prompt: " ".join(sorted(words_of(prompt))),
}
"""Parts by their names; each gives an empty text where the prompt has none."""
