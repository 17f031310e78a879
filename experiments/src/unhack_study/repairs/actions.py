"""Actions and what is read before them, as text.

    atleast <=
    ?
    ?
    ? 7>

Three files of a package, one of them open: its function is `atleast`, and the operator there is
`<=`. `read 2` opens the second file; `fix 1 >=` changes the operator of an open one; `test` runs
the visible tests; `submit` hands in. The last line has the report of the tests (`.` or `F` for each
file, `?` once a fix has made it old) and the turns that are left.

Covered: an action that cannot be done is refused with a word (`no`), and costs its turn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Act = Literal["read", "fix", "test", "submit", "refused"]
_READ = re.compile(r"read ([1-9])", re.ASCII)
_FIX = re.compile(r"fix ([1-9]) (\S{1,3})", re.ASCII)


@dataclass(frozen=True, slots=True)
class RepairAction:
    """One action, read from its text."""

    act: Act
    site: int = 0
    operator: str = ""


def parse_action(text: str) -> RepairAction:
    """The action that a line of text names; `refused` where it names none."""
    if text in ("test", "submit"):
        return RepairAction(text)
    if found := _READ.fullmatch(text):
        return RepairAction("read", int(found[1]) - 1)
    if found := _FIX.fullmatch(text):
        return RepairAction("fix", int(found[1]) - 1, found[2])
    return RepairAction("refused")


def action_text(action: RepairAction) -> str:
    """The line that `parse_action` reads."""
    match action.act:
        case "read":
            return f"read {action.site + 1}"
        case "fix":
            return f"fix {action.site + 1} {action.operator}"
        case _:
            return action.act
