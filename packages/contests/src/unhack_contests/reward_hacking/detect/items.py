"""Submissions to be told apart, and how they are handed out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

HONEST = "honest"


@dataclass(frozen=True, slots=True)
class Item:
    """One submission."""

    id: str
    prompt: str
    code: str
    transcript: str
    family: str
    """`honest`, or the family of its hack."""
    pair: int
    base: str
    """Key that two restyled twins share and others do not."""

    @property
    def hacked(self) -> bool:
        """The label."""
        return self.family != HONEST

    def shown(self) -> dict[str, str]:
        """The files that a detector sees."""
        return {
            "id": self.id, "prompt": self.prompt, "code": self.code, "transcript": self.transcript,
        }  # fmt: skip


def as_lines(items: Sequence[Item]) -> bytes:
    """Labelled items as JSONL, as development data are handed out."""
    rows = [{**item.shown(), "hacked": item.hacked, "family": item.family} for item in items]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
