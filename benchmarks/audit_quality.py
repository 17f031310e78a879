"""The audit against the planted corpus: how much it finds, whom it accuses, how long it takes.

    python benchmarks/audit_quality.py [--only PART OF A NAME] [--seconds 20]

Exit code 1 when a sound verifier is accused.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

from measure import save
from unhack.audit.options import AuditOptions
from unhack.audit.runner import audit
from unhack_verifier_bench import (
    PlantedEntry,
    PlantedKind,
    planted_entries,
    subject_of,
)

SECONDS = 20.0
LABELS = ("hack", "false_accept", "sound")


def audit_entry(entry: PlantedEntry, *, seconds: float) -> dict[str, Any]:
    """One verifier through all tiers, and what came of it."""
    started = time.perf_counter()
    report = audit(subject_of(entry), options=AuditOptions(seconds=seconds))
    found = [finding.flaw for finding in report.findings]
    return {
        "name": entry.name,
        "kind": entry.kind.value,
        "flaws": list(entry.flaws),
        "label": entry.label.value if entry.label else "sound",
        "conclusion": report.conclusion.value,
        "why": report.why,
        "found": found,
        "kinds": [finding.kind.value for finding in report.findings],
        "named": bool(set(found) & set(entry.flaws)),
        "witnesses": [finding.witness for finding in report.findings],
        "evidence": [finding.evidence.text for finding in report.findings],
        "complete": [check.text for check in report.checks if check.ok is False],
        "skipped": [list(pair) for pair in report.skipped],
        "calls": report.calls,
        "seconds": round(time.perf_counter() - started, 2),
    }


def is_right(row: dict[str, Any]) -> bool:
    """True when the audit says of an entry what its label says: a hack is exploitable, a false
    accept is found and not called a hack, and nothing is found on a sound one."""
    kinds = set(row.get("kinds", ()))
    if row["label"] == "sound":
        return not kinds and row["conclusion"] == "sound"
    if row["label"] == "hack":
        return row["conclusion"] == "exploitable"
    return kinds == {"false_accept"}


def short(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By planted class how many are proven as their label says, of how many; and the others."""
    classes: dict[str, list[int]] = {}
    for row in rows:
        for flaw in row["flaws"]:
            cell = classes.setdefault(flaw, [0, 0])
            cell[0] += is_right(row)
            cell[1] += 1
    wrong = [row for row in rows if not is_right(row)]
    return {
        "proven_of_planted": dict(sorted(classes.items())),
        "not_as_labelled": {
            label: [row["name"] for row in wrong if row["label"] == label] for label in LABELS
        },
        "median_calls": statistics.median(row.get("calls", 0) for row in rows),
    }


def told(rows: list[dict[str, Any]]) -> str:
    """The summary in one sentence."""
    parts = {label: [row for row in rows if row["label"] == label] for label in LABELS}
    right = {label: sum(map(is_right, part)) for label, part in parts.items()}
    named = sum(bool(row.get("named")) and is_right(row) for row in rows if row["flaws"])
    seconds = [row["seconds"] for row in rows]
    return (
        f"{right['hack']} of {len(parts['hack'])} hacks proven, {right['false_accept']} of "
        f"{len(parts['false_accept'])} false accepts found as such ({named} of both by the planted "
        f"class), {len(parts['sound']) - right['sound']} of {len(parts['sound'])} sound accused "
        f"or undecided, median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s"
    )


def main() -> int:
    """Audit every entry; print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", choices=[*PlantedKind], help="only these")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for entry in planted_entries():
        if options.only not in entry.name or options.kind not in (None, entry.kind):
            continue
        try:
            row = audit_entry(entry, seconds=options.seconds)
        except Exception as error:
            row = {"name": entry.name, "flaws": list(entry.flaws), "conclusion": "failed"}
            row |= {"label": entry.label.value if entry.label else "sound", "found": []}
            row |= {"why": f"{type(error).__name__}: {error}", "seconds": 0.0}
        rows.append(row)
        mark = "ok  " if is_right(row) else "MISS" if entry.flawed else "FALSE"
        print(f"{mark} {row['seconds']:6.1f} s  {row['name']:28} {row['found'] or row['why']}")
        if options.only and row["found"]:
            print(json.dumps({k: row[k] for k in ("witnesses", "evidence", "complete")}, indent=1))
    summary = told(rows)
    print(summary)
    if not options.only and not options.kind:
        figures = {"summary": summary, **short(rows)}
        command = "python benchmarks/audit_quality.py"
        save("audit_quality", command, figures, records={"rows": rows})
    return int(any(row.get("kinds") for row in rows if row["label"] == "sound"))


if __name__ == "__main__":
    raise SystemExit(main())
