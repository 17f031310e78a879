"""The audit against the planted corpus: how much it finds, whom it accuses, how long it takes.

    python benchmarks/audit_quality.py [--only PART OF A NAME] [--seconds 20]

Exit code 1 when a sound verifier is accused.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "quality"))

from planted import Entry, Kind, entries

from measure import save
from unhack.audit.options import AuditOptions
from unhack.audit.runner import audit
from unhack.audit.subjects.loading import load_subject

SECONDS = 20.0


def audit_entry(entry: Entry, *, seconds: float) -> dict[str, Any]:
    """One verifier through all tiers, and what came of it."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        rows.write_text("".join(json.dumps(row) + "\n" for row in entry.rows()))
        target = str(entry.path)
        if entry.kind is Kind.TEXT:
            subject = load_subject(f"{target}:{entry.entry}", problems=rows)
        else:
            subject = load_subject(target)
        report = audit(subject, options=AuditOptions(seconds=seconds))
    found = [finding.flaw for finding in report.findings]
    return {
        "name": entry.name,
        "kind": entry.kind.value,
        "flaws": list(entry.flaws),
        "conclusion": report.conclusion.value,
        "why": report.why,
        "found": found,
        "named": bool(set(found) & set(entry.flaws)),
        "witnesses": [finding.witness[:200] for finding in report.findings],
        "evidence": [finding.evidence.text for finding in report.findings],
        "complete": [check.text for check in report.checks if check.ok is False],
        "skipped": [list(pair) for pair in report.skipped],
        "calls": report.calls,
        "seconds": round(time.perf_counter() - started, 2),
    }


def short(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By planted class how many are proven, of how many; and the names that came out wrong."""
    classes: dict[str, list[int]] = {}
    for row in rows:
        proven = row["conclusion"] == "exploitable"
        for flaw in row["flaws"]:
            cell = classes.setdefault(flaw, [0, 0])
            cell[0] += proven
            cell[1] += 1
    wrong = [row for row in rows if (row["conclusion"] == "exploitable") != bool(row["flaws"])]
    return {
        "proven_of_planted": dict(sorted(classes.items())),
        "missed": [row["name"] for row in wrong if row["flaws"]],
        "accused": [row["name"] for row in wrong if not row["flaws"]],
        "median_calls": statistics.median(row.get("calls", 0) for row in rows),
    }


def main() -> int:
    """Audit every entry; print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", choices=[*Kind], help="only these")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for entry in entries():
        if options.only not in entry.name or options.kind not in (None, entry.kind):
            continue
        try:
            row = audit_entry(entry, seconds=options.seconds)
        except Exception as error:
            row = {"name": entry.name, "flaws": list(entry.flaws), "conclusion": "failed"}
            row |= {"why": f"{type(error).__name__}: {error}", "found": [], "seconds": 0.0}
        rows.append(row)
        right = (row["conclusion"] == "exploitable") == entry.flawed
        mark = "ok  " if right else "MISS" if entry.flawed else "FALSE"
        print(f"{mark} {row['seconds']:6.1f} s  {row['name']:28} {row['found'] or row['why']}")
        if options.only and row["found"]:
            print(json.dumps({k: row[k] for k in ("witnesses", "evidence", "complete")}, indent=1))
    flawed = [row for row in rows if row["flaws"]]
    sound = [row for row in rows if not row["flaws"]]
    proven = [row for row in flawed if row["conclusion"] == "exploitable"]
    named = [row for row in proven if row.get("named")]
    accused = [row for row in sound if row["conclusion"] == "exploitable"]
    seconds = [row["seconds"] for row in rows]
    summary = (
        f"{len(proven)} of {len(flawed)} flawed proven ({len(named)} by the planted class), "
        f"{len(accused)} of {len(sound)} sound accused, median {statistics.median(seconds):.1f} s, "
        f"longest {max(seconds):.1f} s"
    )
    print(summary)
    if not options.only and not options.kind:
        figures = {"summary": summary, **short(rows)}
        command = "python benchmarks/audit_quality.py"
        save("audit_quality", command, figures, records={"rows": rows})
    return int(bool(accused))


if __name__ == "__main__":
    raise SystemExit(main())
