"""Orders of names: `A < B < C`, `C > B > A`, `1. A 2. B 3. C`, `first A, then B, last C`."""

from __future__ import annotations

import re

from unhack_contests.reward_hacking.harden.drawn.truth.numbers import plainer

_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")


def ranking(text: str, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The names from the smallest to the largest; None for a text that is no order of exactly these
    names."""
    text = plainer(text).replace("\\lt", "<").replace("\\gt", ">").strip()
    found = _signs(text) or _backwards(text) or _placed(text) or _listed(text)
    if found is None or sorted(found) != sorted(names):
        return None
    return tuple(found)


def _signs(text: str) -> list[str] | None:
    for sign, flip in (("<", False), (">", True)):
        if sign in text:
            parts = [part.strip() for part in text.split(sign)]
            return parts[::-1] if flip else parts
    return None


def _backwards(text: str) -> list[str] | None:
    found = re.fullmatch(r"(?:from )?(?:the )?largest to (?:the )?smallest:? (.+)", text, re.I)
    inner = _listed(found.group(1)) if found else None
    return inner[::-1] if inner else None


def _placed(text: str) -> list[str] | None:
    numbered = re.findall(r"(\d+)[.)] ?([A-Za-z]+)[,;]?", text)
    if numbered and re.fullmatch(r"(?:\d+[.)] ?[A-Za-z]+[,;]? ?)+", text):
        places = [int(place) for place, _ in numbered]
        named = [name for _, name in sorted(zip(places, (n for _, n in numbered), strict=True))]
        return named if sorted(places) == list(range(1, len(places) + 1)) else None
    spoken = re.findall(r"([A-Za-z]+) (?:is |comes )?(first|second|third|fourth|fifth|sixth|last)",
                        text)  # fmt: skip
    shape = r"(?:(?:and )?[A-Za-z]+ (?:is |comes )?(?:" + "|".join(_PLACES) + r"|last)[,;]? ?)+"
    if spoken and re.fullmatch(shape, text):
        count = len(spoken)
        order = {(count - 1 if place == "last" else _PLACES.index(place)): name
                 for name, place in spoken}  # fmt: skip
        return [order[at] for at in range(count)] if set(order) == set(range(count)) else None
    return None


def _listed(text: str) -> list[str] | None:
    text = re.sub(r"^(?:from )?(?:the )?smallest to (?:the )?largest:? ", "", text, flags=re.I)
    text = re.sub(r"^(?:first|it is) ", "", text, flags=re.I).strip("[]() ")
    parts = re.split(
        r"\s*(?:->|→|\\to|,?\s*(?:and then|then|followed by|before|and(?: finally)?|last|finally)\s"
        r"(?:last\s)?|[,;])\s*", text,
    )  # fmt: skip
    named = [part.strip() for part in parts if part and part.strip()]
    return named if all(re.fullmatch(r"[A-Za-z]+", name) for name in named) else None
