"""Answers that have parts: lists, whose order counts where a prompt says so, and JSON records.

Covered: lists, tuples, sets, intervals, matrices, rows of numbers or letters, lines; dates, which
are no lists; objects in JSON and lists that hold them, whatever the order of keys, the case, and
whether a number is a string.
Not covered: lists told in a sentence ("two and three"); records with values that are the same by
calculation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from unhack.audit.subject import json_of

MONTHS = re.findall(
    r"\w+",
    "January February March April May June July August September October November December",
)
CORE = r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+−]?\.\d+"
_BRACKETED = re.compile(r"((?:\\left|\\)?[\[({])(.*?)((?:\\right|\\)?[\])}])", re.DOTALL)
_MATRIX = re.compile(r"(\\begin\{\w*matrix\})(.*)(\\end\{\w*matrix\})", re.DOTALL)
_ORDER = re.compile(
    r"\border\b(?! to\b)|\bsort|sequence|ascending|descending|\bmoves?\b|(?<!in )\bterms of"
    r"|oldest|permut|arrang|revers|rotat|alphabet|A to Z",
    re.IGNORECASE,
)
_ANY_ORDER = re.compile(
    r"any order|whatever order|particular order|regardless of|unordered"
    r"|order (?:does not|doesn't|is not|isn't|is irrelevant)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Listing:
    """An answer that has parts."""

    before: str
    items: tuple[str, ...]
    after: str
    gap: str
    ordered: bool
    """True when its form alone says that another order is another answer."""

    def write(self, items: Sequence[str]) -> str:
        """An answer of the same form with other parts."""
        return f"{self.before}{self.gap.join(items)}{self.after}"


def listing_of(answer: str) -> Listing | None:
    """The parts of a list, tuple, set, interval, matrix or row of numbers; None for others."""
    text = answer.strip()
    matrix = _MATRIX.fullmatch(text)
    if matrix:
        rows = tuple(row.strip() for row in re.split(r"\\\\", matrix[2]) if row.strip())
        return Listing(matrix[1] + " ", rows, " " + matrix[3], r" \\ ", True)
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed and is_balanced(bracketed[2]):
        opened, inner, closed = bracketed.groups()
        items = _split_items(inner)
        listed = len(items) > 1 or (bool(items) and opened == "[")
        ordered = "(" in opened or "[" in inner
        return Listing(opened, items, closed, _gap(inner), ordered) if listed else None
    rows = tuple(line.strip() for line in text.splitlines() if line.strip())
    if len(rows) > 1:
        return Listing("", rows, "", "\n", True)
    if re.fullmatch(r"\S{1,3}(?: \S{1,3}){2,}", text) and not re.search(r"[^\w .-]", text):
        single = all(re.fullmatch(r"[A-Z]|-?\d+", word) for word in text.split())
        return Listing("", tuple(text.split()), "", " ", False) if single else None
    chain = _chain_of(text)
    if chain is not None:
        return chain
    if "," not in text or re.fullmatch(CORE, text) or not is_balanced(text):
        return None
    items = _split_items(text)
    numeric = all(re.search(r"\d", item) for item in items)
    letters = all(re.fullmatch(r"[A-Za-z]", item) for item in items)
    if len(items) > 1 and (numeric or letters or len(items) > 2) and not is_date(text):
        return Listing("", items, "", _gap(text), False)
    return None


def _chain_of(text: str) -> Listing | None:
    """Three words or more with one sign between them: `Rome > Oslo > Bern`."""
    for sign in ("->", "→", ">", "|", ";"):
        items = tuple(part.strip() for part in text.split(sign))
        if len(items) > 2 and all(map(_is_words, items)):
            return Listing("", items, "", f" {sign} ", sign in {"->", "→", ">"})
    return None


def _is_words(text: str) -> bool:
    return len(text) > 1 and all(one.isalpha() or one in " .'-" for one in text)


def order_matters(listing: Listing, prompt: str) -> bool:
    """Tell whether the same parts in another order are another answer to this prompt."""
    if _ANY_ORDER.search(prompt) or is_labelled(listing):
        return False
    return listing.ordered or ("{" not in listing.before and bool(_ORDER.search(prompt)))


_SORTING = (
    r"\bsort(?:s|ed|ing)?\b(?! of\b)|\b(?:re)?arrange[sd]?\b|\brevers(?:e|ed|ing)\b|\brotat\w*"
    r"|\b(?:in|into|by|give the|the same) (?:\w+[ -]){0,3}order\b(?! to\b)"
    r"|\b(?:ascending|descending|increasing|decreasing|alphabetical|chronological)\b"
    r"|\bfrom (?:the )?(?:small|larg|low|high|old|young|great|least|most|short|long|new|earl|late)"
    r"\w* to\b|\b(?:sequence of|list (?:all )?the|the) (?:moves|steps)\b|\b(?:path|route)\b"
    r"|\bnext (?:\w+ ){1,3}(?:terms|numbers|elements)\b"
)
_ASKED = re.compile(_SORTING, re.IGNORECASE)


def order_counts(listing: Listing, prompt: str) -> bool:
    """Tell whether another order is certainly another answer: stricter than `order_matters`."""
    if _ANY_ORDER.search(prompt) or listing.before.rstrip().endswith("{") or is_labelled(listing):
        return False
    words = listing.gap == "\n" and all(re.fullmatch(r"[^\W\d]+", item) for item in listing.items)
    return (listing.ordered and not words) or bool(_ASKED.search(prompt))


def is_labelled(listing: Listing) -> bool:
    """Tell whether each part says by a label of its own what it is, as in `area: 12`."""
    labels = [re.match(r"\s*([^\W\d][\w -]{0,40}?)\s*[:=]", item) for item in listing.items]
    names = {label[1] for label in labels if label is not None}
    return len(names) == len(listing.items) > 1


def is_date(text: str) -> bool:
    month = "|".join(MONTHS)
    return bool(
        re.fullmatch(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d\d(?::\d\d)?", text)
        or re.fullmatch(rf"(?:\d{{1,2}} )?(?:{month})(?: \d{{1,2}})?,? ?(?:\d{{4}})?", text)
    )


def _split_items(text: str) -> tuple[str, ...]:
    """Split at the commas that stand in no bracket."""
    parts: list[str] = [""]
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return tuple(part.strip() for part in parts if part.strip())


def is_balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return False
    return depth == 0


def _gap(text: str) -> str:
    return ", " if ", " in text or "," not in text else ","


_FORMULA = re.compile(r"[/\\^]")
"""Signs of values that may be the same by calculation."""


def same_record(given: str, answer: str) -> bool | None:
    """Tell whether two JSON texts with objects say the same; None where one is no such text."""
    left, right = _read(given), _read(answer)
    if left is None or right is None:
        return None
    return left == right


def _read(text: str) -> object | None:
    if "{" not in text or ":" not in text or _FORMULA.search(text):
        return None
    value = json_of(text)
    return None if isinstance(value, (str, int, float)) else _plain(value)


def _plain(value: object) -> object:
    """The value with scalars as texts or numbers, case folded."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {key.strip().casefold(): _plain(one) for key, one in items}
    if isinstance(value, list):
        return [_plain(one) for one in cast("list[object]", value)]
    text = str(value).strip().casefold()
    try:
        return float(text)
    except ValueError:
        return text
