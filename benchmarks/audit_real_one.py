"""Audits targets of `audit_real.py` in this interpreter.

    python benchmarks/audit_real_one.py SECONDS POWER_SECONDS    # a name a line on standard input

Each name of a target is answered by its row, a line of JSON.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from audit_real_cases import Case, cases, file_of, problems_of

CALLS = 1500
TEXT_LIMIT = 400
SITE = "site-packages/"


def audit_one(case: Case, *, seconds: float, power_s: float) -> dict[str, Any]:
    """The row of one target; raises whatever loading it raises."""
    from unhack.audit.options import AuditOptions
    from unhack.audit.runner import audit
    from unhack.audit.subjects.loading import load_subject
    from unhack.core import plain

    found = _begun(case)
    target, rows = problems_of(case)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_text("".join(plain.dumps(row) + "\n" for row in rows))
        try:
            subject = load_subject(target, problems=path, signature=case.signature or None)
        except KeyError as error:  # a package without an __init__.py
            found["named_by_file"] = f"by its dotted name: KeyError: {error}"
            subject = load_subject(file_of(target), problems=path, signature=case.signature or None)
    options = AuditOptions(seconds=seconds, calls=CALLS, stop_at_first=True, power_s=power_s)
    report = audit(subject, options=options)
    found |= {
        "conclusion": _conclusion(report),
        "why": report.why[:TEXT_LIMIT],
        "signature": subject.signature.name,
        "problems": report.problems,
        "calls": report.calls,
        "payloads": sum(record.completions for record in report.tried),
        "skipped": [list(item) for item in report.skipped],
        "checks": [one.to_json() for one in report.checks if one.ok is False],
        "audit_s": round(report.seconds, 1),
        "findings": [_told(finding, subject) for finding in report.findings],
    }
    if report.power is not None:
        found["power"] = report.power.to_json()
    return found


def _begun(case: Case) -> dict[str, Any]:
    row = {"package": case.package, "target": case.target, "kind": case.kind}
    with contextlib.suppress(metadata.PackageNotFoundError):
        row["version"] = metadata.version(case.package)
    return row


def _conclusion(report: Any) -> str:
    said = report.conclusion.value
    if said == "sound" and report.findings:
        return "false accept only"
    return {"exploitable": "hack proven", "sound": "none found", "unproven": "undecided"}[said]


def _told(finding: Any, subject: Any) -> dict[str, Any]:
    problem = next(item for item in subject.problems if item.id == finding.problem)
    row = finding.to_json()
    row["evidence"] = finding.evidence.text[:TEXT_LIMIT]
    row["witness"] = finding.witness[:TEXT_LIMIT]
    row["prompt"] = problem.prompt[:TEXT_LIMIT]
    row["answer"] = (problem.answer or "")[:TEXT_LIMIT]
    row["holds_gold"] = not problem.is_code and holds(finding.witness, problem.answer or "")
    row["by_attempts"] = finding.expected_reward is not None and finding.expected_reward.by_attempts
    if row["place"] is not None:
        row["place"]["path"] = row["place"]["path"].rpartition(SITE)[2]
    return row


def holds(witness: str, answer: str) -> bool:
    """Tell whether the right answer stands in a witness, on its own and however it is spaced."""
    wanted, text = (re.sub(r"\s+", "", one).casefold() for one in (answer, witness))
    if not wanted:
        return False
    if len(wanted) <= 3 or wanted.lstrip("-").replace(".", "").isdigit():
        whole = rf"(?<![\w.]){re.escape(answer.strip())}(?![\w]|\.\d)"
        return re.search(whole, witness, re.IGNORECASE) is not None
    return wanted in text


def row_of(name: str, *, seconds: float, power_s: float) -> dict[str, Any]:
    """The row of a target by its full name, which may be a complaint."""
    case = next(item for item in cases() if item.name == name)
    try:
        return audit_one(case, seconds=seconds, power_s=power_s)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:TEXT_LIMIT]
        return _begun(case) | {"conclusion": "could not load", "why": why}


def main() -> int:
    """Answer names until there are no more."""
    seconds, power_s = map(float, sys.argv[1:])
    for line in sys.stdin:
        print("\n" + json.dumps(row_of(line.strip(), seconds=seconds, power_s=power_s)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
