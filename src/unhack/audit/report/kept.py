"""A report as it is kept: JSON in the audit's folder or in a database, and the report again.

Covered: all that a page shows.
Not covered: pairs for training, and excerpts of the verifier, which is not kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from unhack.audit.report.report import AuditReport
from unhack.audit.report.wording import strict
from unhack.store.errors import StoreError, storing
from unhack.store.files import write_whole

REPORT = "report.json"
_READ = TypeAdapter(AuditReport)


def keep_report(report: AuditReport, folder: Path) -> None:
    """Write the report into the audit's folder, as a whole. Raises StoreError."""
    text = json.dumps(strict(report.to_json()), indent=1, allow_nan=False) + "\n"
    with storing(folder):
        write_whole(folder / REPORT, text.encode("utf-8", "backslashreplace"), mode=0o644)


def kept_report(folder: Path) -> AuditReport | None:
    """The report in an audit's folder; None while there is none. Raises StoreError."""
    path = folder / REPORT
    with storing(folder):
        if not path.exists():
            return None
        text = path.read_bytes()
    try:
        return report_from(json.loads(text))
    except ValueError:
        raise StoreError(f"{path}: damaged; run the audit again in this folder") from None


def report_from(values: dict[str, Any]) -> AuditReport:
    """The report of its `to_json`. Raises ValueError for anything else."""
    try:
        plan = [{**part, "name": part["part"]} for part in values["plan"]]
        return _READ.validate_python({**values, "plan": plan, "pairs": ()})
    except (ValidationError, KeyError, TypeError) as error:
        raise ValueError(f"no report of an audit: {error}") from None
