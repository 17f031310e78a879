"""The material that a submission's files are held against, and the findings in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from unhack.tournament.contest import Files, Flag

ALLOWED = "scan_allows"
"""Key of a contest's settings: kinds, separated by spaces, that its submissions may show in their
source because that is what they are about (an exploit handed in as an exploit)."""
_SHOWN = 110


@dataclass(frozen=True, slots=True)
class Against:
    """The knowledge of a scan."""

    sealed: bytes = b""
    """The judge's data for this submission."""
    public: bytes = b""
    """Bytes that anybody may have."""
    clean: tuple[Files, ...] = ()
    """The files of the agent's start, and unflagged submissions: no part of them is a sign."""
    honeypots: Files = field(default_factory=dict[str, bytes])
    tainted: tuple[Files, ...] = ()
    """Flagged submissions."""
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that has no honest reading."""

    kind: str
    path: str
    line: int
    """From 1; 0 where the file has no lines."""
    fragment: str
    why: str
    source: str = "scan"

    def flag(self, *, more: int = 0) -> Flag:
        """As a flag; `more` is how often the same was seen elsewhere."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        also = f" (and {more} more)" if more else ""
        return Flag(self.kind, f"{place}: {self.why}: {shown(self.fragment)}{also}", self.source)


def shown(text: str) -> str:
    """On one line, in printable ASCII, at most a hundred characters."""
    line = " ".join(text.split())
    line = line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."
    return "".join(c if " " <= c <= "~" else c.encode("unicode_escape").decode() for c in line)
