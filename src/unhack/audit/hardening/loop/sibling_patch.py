"""A patch carried to a sibling: the same change where the same lines stand.

    text = carried(before, after, sibling)      # None where the lines are not there

Covered: the same text; another text in which each changed block, with the lines that go, stands
exactly once. Whether the result is any good is for a trial on the sibling to say.
Not covered: the same idea in other words.
"""

from __future__ import annotations

import difflib

_CONTEXT = 1
"""Lines around what is only put in, by which its place is found."""


def carried(before: str, after: str, text: str) -> str | None:
    """The sibling's text with the change from `before` to `after`; None where it does not fit."""
    if text == before:
        return after
    old, new, lines = before.split("\n"), after.split("\n"), text.split("\n")
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, to, until in matcher.get_opcodes():
        if tag == "equal":
            continue
        around = 0 if end > start else _CONTEXT
        first, last = max(0, start - around), min(len(old), end + around)
        gone = old[first:last]
        places = [at for at in range(len(lines)) if lines[at : at + len(gone)] == gone]
        if not any(line.strip() for line in gone) or len(places) != 1:
            return None
        [at] = places
        lines[at : at + len(gone)] = [*old[first:start], *new[to:until], *old[end:last]]
    return "\n".join(lines)
