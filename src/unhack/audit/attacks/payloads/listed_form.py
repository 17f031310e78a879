"""The form of a right completion that lists several things, with other things in it.

Covered: lists whose items stand in the completion as in the answer, with the same signs between
any two: commas, lines, tags, brackets, JSON arrays.
Not covered: records, and lists told in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from unhack.audit.subject import AuditProblem

_ITEM = re.compile(r"[^\W_][\w.-]*")


@dataclass(frozen=True, slots=True)
class ListedForm:
    """The text before, between and behind the items of a list."""

    before: str
    gap: str
    after: str
    items: tuple[str, ...]
    """The items that were listed."""

    def write(self, items: Sequence[str]) -> str:
        """A completion that lists other items."""
        return f"{self.before}{self.gap.join(items)}{self.after}"

    def said(self, items: Sequence[str]) -> str:
        """The items alone, with the signs between."""
        return self.gap.join(items)


def listed_form(problem: AuditProblem) -> ListedForm | None:
    """The form of the first right completion that lists the parts of the answer; None for none."""
    items = tuple(_ITEM.findall(problem.answer or ""))
    for text in problem.correct:
        found = _form(text, items) if len(items) > 1 else None
        if found is not None:
            return found
    return None


def _form(text: str, items: tuple[str, ...]) -> ListedForm | None:
    at, ends, starts = 0, list[int](), list[int]()
    for item in items:
        place = re.compile(rf"(?<!\w){re.escape(item)}(?!\w)").search(text, at)
        if place is None:
            return None
        starts.append(place.start())
        ends.append(at := place.end())
    gaps = {text[end:start] for end, start in zip(ends, starts[1:], strict=False)}
    if len(gaps) != 1:
        return None
    return ListedForm(text[: starts[0]], gaps.pop(), text[ends[-1] :], items)
