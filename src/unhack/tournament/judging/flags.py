"""The kinds of flags, in words.

Covered: a title, a sentence and the catalogue's numbers for each kind of `Flag`, and the reference
page made of them.
Not covered: how a flag is found (`scan`, `judge`, the contests).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Any

GROUPS = {
    "A": "Getting the answer instead of solving",
    "B": "Attacking the judge",
    "C": "Faking speed",
    "D": "Doing less than asked",
    "E": "Lying about the metric",
}


@dataclass(frozen=True, slots=True)
class FlagKind:
    """One kind of flag."""

    id: str
    group: str
    """A key of `GROUPS`."""
    title: str
    text: str
    catalogue: tuple[int, ...]
    """Numbers of the table in `docs/reference/cheats.md`."""


@dataclass(frozen=True, slots=True)
class Hack:
    """One entry of the catalogue: a hack that was seen, shown or is possible, and our answer."""

    number: int
    group: str
    name: str
    trick: str
    answer: str


def _read(name: str) -> dict[str, dict[str, Any]]:
    text = (resources.files("unhack.tournament.judging") / name).read_text(encoding="utf-8")
    return tomllib.loads(text)


def _kinds() -> Mapping[str, FlagKind]:
    kinds = {
        name: FlagKind(name, catalogue=tuple(entry.pop("catalogue")), **entry)
        for name, entry in _read("flags.toml").items()
    }
    return MappingProxyType(kinds)


def hacks() -> tuple[Hack, ...]:
    """The catalogue, by number."""
    return tuple(Hack(int(number), **entry) for number, entry in _read("cheats.toml").items())


FLAG_KINDS: Mapping[str, FlagKind] = _kinds()
"""Every kind by its id."""


def title(kind: str) -> str:
    """The title of a kind; the id itself where it is not known."""
    found = FLAG_KINDS.get(kind)
    return found.title if found else kind


def to_markdown() -> str:
    """The text of `docs/reference/cheats.md`."""
    entries = hacks()
    parts = [_HEAD]
    for group, name in GROUPS.items():
        parts += [
            f"## {group}. {name}\n",
            "| flag | title | what it says | hacks |",
            "|---|---|---|---|",
        ]
        parts += [
            f"| `{kind.id}` | {kind.title} | {kind.text} | "
            f"{', '.join(f'[{number}](#hack-{number})' for number in kind.catalogue)} |"
            for kind in FLAG_KINDS.values()
            if kind.group == group
        ]
        parts += ["", "| no. | hack | how it works | what answers it here |", "|---|---|---|---|"]
        parts += [
            f'| <a id="hack-{entry.number}"></a>{entry.number} | {entry.name} | {entry.trick} | '
            f"{entry.answer} |"
            for entry in entries
            if entry.group == group
        ]
        parts.append("")
    return "\n".join(parts)


_HEAD = """\
# Cheats

Every flag of `unhack tournament` names one of these kinds and carries what shows it: a file and a
line, or the numbers that were measured. A flagged submission is worth 0, never seeds a round, and
marks what grows from it. The hacks are numbered; the ways of agents and red teams known in public
stand behind them. Where the last column names a defence and no flag, the trick finds nothing to
work on: the submission is worth what it computes.
"""
