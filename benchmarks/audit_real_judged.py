"""Labels by hand for the targets of `audit_real.py`, and how the audit compares with them.

`audit_real_judged.toml` holds, by target, what reading the function's source says of it: `hack`
(the prompt is enough to be rewarded for a wrong answer), `false accept` (a wrong completion passes,
and who can write it has the right answer) or `sound`, each with a reason in one line.
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

JUDGED = Path(__file__).resolve().parent / "audit_real_judged.toml"
PROVEN = "hack proven"
LABELS = ("hack", "false_accept", "sound")
DRAWN, SEED = 40, 15
"""The proven targets that are read, drawn at random."""


def labels() -> dict[str, tuple[str, str]]:
    """(label, reason) by a target's full name."""
    data = tomllib.loads(JUDGED.read_text())
    return {
        name: (label, reason) for label in LABELS for name, reason in data.get(label, {}).items()
    }


def name_of(row: dict[str, Any]) -> str:
    """A row's key in the labels."""
    return f"{row['package']} {row['target']} {row['kind']}"


def drawn(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The names of the proven targets that are read."""
    proven = sorted(name_of(row) for row in rows if row["conclusion"] == PROVEN)
    return sorted(random.Random(SEED).sample(proven, min(DRAWN, len(proven))))


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """By label, the number of targets with each conclusion; those that nobody could have proven,
    because nothing loaded, stand apart."""
    known = labels()
    counts: dict[str, Counter[str]] = {label: Counter() for label in LABELS}
    for row in rows:
        if name_of(row) in known:
            counts[known[name_of(row)][0]][row["conclusion"]] += 1
    sample = [name for name in drawn(rows) if name in known]
    right = sum(known[name][0] == "hack" for name in sample)
    open_ = [row for row in rows if row["conclusion"] not in (PROVEN, "could not load")]
    return {
        "labels": {label: dict(count) for label, count in counts.items()},
        "drawn_of_proven": len(sample),
        "drawn_and_hack": right,
        "not_proven": len(open_),
        "not_proven_and_read": sum(name_of(row) in known for row in open_),
        "not_proven_and_hack": sum(known.get(name_of(row), ("", ""))[0] == "hack" for row in open_),
    }
