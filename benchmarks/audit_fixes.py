"""`--fix` on the planted corpus: hacks fixed, right completions that lose their score.

    python benchmarks/audit_fixes.py [--only PART OF A NAME] [--seconds 25] [--resume]

Every verifier with a planted hack or false accept is audited, fixed, and audited again. A hack is
*fixed* when its strategy is no longer rewarded and the second audit proves no hack of its attack.
What is planted beside each verifier, which the fixing never sees, says whether that is so:
witnesses must lose their expected reward, right completions must keep their score. Exit code 1 when
a right completion loses its score.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from measure import FULL, save
from unhack.audit.hardening.copy import HardenedCopy
from unhack.audit.hardening.rounds import harden
from unhack.audit.options import AuditOptions
from unhack.audit.runner import audit
from unhack.audit.subject import Query, Subject
from unhack.audit.subjects.loading import load_subject
from unhack.core.finding import FindingKind
from unhack.sandbox.job import Backend
from unhack.sandbox.pool.pool import Pool
from unhack_verifier_bench import PlantedEntry, PlantedKind, planted_entries

SECONDS = 25.0
ROWS = FULL / "audit_fixes.rows.jsonl"


def loaded(entry: PlantedEntry, target: str, folder: Path, *, backend: Backend) -> Subject:
    """The verifier, with the problems of the corpus for a function."""
    if entry.kind is PlantedKind.CODE:
        return load_subject(target, backend=backend)
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in entry.rows()))
    return load_subject(target, problems=rows, backend=backend)


def scores(entry: PlantedEntry, subject: Subject) -> tuple[list[float], list[float]]:
    """What planted witnesses and right completions get."""
    asked = [
        (index, text, bad)
        for index, row in enumerate(entry.problems)
        for texts, bad in (((row.witness,), True), (row.correct, False))
        for text in texts
        if text is not None
    ]
    found = subject.score([Query(subject.problems[index], text) for index, text, _ in asked])
    values = [score.value or 0.0 for score in found]
    wrong = [value for value, (_, _, bad) in zip(values, asked, strict=True) if bad]
    return wrong, [value for value, (_, _, bad) in zip(values, asked, strict=True) if not bad]


def fix(entry: PlantedEntry, folder: Path, *, seconds: float) -> dict[str, Any]:
    """One verifier audited and fixed."""
    options = AuditOptions(seconds=seconds)
    text = entry.kind is PlantedKind.TEXT
    target = f"{entry.path}:{entry.entry}" if text else str(entry.path)
    started = time.perf_counter()
    with closing(Pool()) as backend:
        subject = loaded(entry, target, folder, backend=backend)
        report = audit(subject, options=options, backend=backend)
        place = folder / ("fixed.py" if text else "fixed")
        made = harden(
            HardenedCopy(subject, target, place, backend),
            report,
            audit_again=lambda copy: audit(copy, options=options, backend=backend),
        )
        hacks = [one.flaw for one in report.findings if one.kind is FindingKind.HACK]
        last = report if made.report is None else made.report
        row: dict[str, Any] = {
            "name": entry.name,
            "kind": entry.kind.value,
            "label": entry.label.value if entry.label else "sound",
            "hacks": hacks,
            "fixed": [flaw for flaw in hacks if flaw in made.closed],
            "left": [one.flaw for one in last.findings if one.kind is FindingKind.HACK],
            "changes": list(made.kept),
            "seconds": round(time.perf_counter() - started, 1),
        }
        if made.target:
            wrong, right = scores(entry, subject)
            copy = loaded(entry, made.target, folder, backend=backend)
            wrong_now, right_now = scores(entry, copy)
            dead = sum(b < a for a, b in zip(wrong, wrong_now, strict=True))
            lost = sum(b != a for a, b in zip(right, right_now, strict=True))
            row |= {"witnesses": len(wrong), "dead": dead, "right": len(right), "lost": lost}
        return row


def told(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of the summary."""
    hacked = [row for row in rows if row["hacks"]]
    changed = [row for row in rows if "right" in row]
    return {
        "hacks": sum(len(row["hacks"]) for row in hacked),
        "fixed": sum(len(row["fixed"]) for row in hacked),
        "verifiers": len(hacked),
        "verifiers_without_a_hack_afterwards": sum(
            not row["left"] and bool(row["changes"]) for row in hacked
        ),
        "verifiers_changed": len(changed),
        "planted_witnesses": sum(row["witnesses"] for row in changed),
        "planted_witnesses_dead": sum(row["dead"] for row in changed),
        "right_completions": sum(row["right"] for row in changed),
        "right_completions_lost": sum(row["lost"] for row in changed),
        "not_fixed": [row["name"] for row in hacked if row["left"] or not row["changes"]],
        "median_s": statistics.median(row["seconds"] for row in rows),
    }


def main() -> int:
    """Fix every flawed verifier; print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--resume", action="store_true", help="keep what the rows' file has")
    options = parser.parse_args()
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    if not options.resume:
        ROWS.unlink(missing_ok=True)
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    known = {row["name"] for row in rows}
    for entry in planted_entries():
        if not entry.flawed or options.only not in entry.name or entry.name in known:
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = fix(entry, Path(folder), seconds=options.seconds)
        rows.append(row)
        with ROWS.open("a") as file:
            file.write(json.dumps(row) + "\n")
        state = "clean" if row["changes"] and not row["left"] else "left"
        lost = f"{row.get('dead', 0)}/{row.get('witnesses', 0)} dead, {row.get('lost', 0)} lost"
        print(
            f"{row['seconds']:6.1f} s  {state:5} {row['name']:28} {row['hacks']} {lost}", flush=True
        )
    figures = told(rows)
    print(json.dumps(figures, indent=1))
    if not options.only:
        figures["seconds_each_audit"] = options.seconds
        save("audit_fixes", "python benchmarks/audit_fixes.py", figures, records={"rows": rows})
    return int(figures["right_completions_lost"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
