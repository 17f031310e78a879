"""Several numbers in any order: `x = 2 or x = -3`, `{-3, 2}`, `±3`."""

from __future__ import annotations

import re
from fractions import Fraction

from unhack_contests.reward_hacking.harden.drawn.truth.numbers import number, plainer


def numbers(text: str) -> frozenset[Fraction] | None:
    """The numbers of a text that lists them and nothing else, each once; None for any other."""
    text = plainer(text).replace("\\{", "{").replace("\\}", "}").replace("\\pm", "±")
    text = re.sub(r"\\(?:lor|vee|text or)", " or ", text).replace("\\quad", " ")
    text = re.sub(r"^\s*[a-z](?:_\d)? ?(?:∈|\\in|in) ?(?=\{)", "", text)
    braced = re.fullmatch(r"\{(.*)\}", text.strip())
    inner = braced.group(1) if braced else text
    parts = re.split(r"\s*(?:[;,]| or | and |\n)\s*", inner)
    found: list[Fraction] = []
    for part in parts:
        plain = re.sub(r"^(?:or|and|either|both)\s+", "", part.strip())
        plain = re.sub(r"^[a-z](?:_\{?\d\}?|\d)? ?= ?", "", plain)
        either = re.fullmatch(r"(?:±|\+/-|plus or minus|plus-minus) ?(.+)", plain)
        value = number(either.group(1) if either else plain)
        if value is None:
            return None
        found += [value, -value] if either and value else [value]
    return frozenset(found) if len(set(found)) == len(found) else None
