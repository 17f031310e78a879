"""Items as the database has them: the verdict again as a value, and the task that it is of.

Covered: verdicts of this version's JSON; a task that is gone or was changed is None, and the page
says so.
Not covered: outputs of cases beyond what is stored beside the verdict.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from unhack.core.errors import UnhackError
from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict
from unhack.server.http.problems import RequestRefused
from unhack.server.scoring.task_names import TaskNames
from unhack.tasks.task import Task


def verdict_of(text: str, outputs: str | None = None) -> Verdict:
    """The verdict of its `to_json` as text, with stored `outputs` (`outputs_text`) in its cases.

    Raises ValueError for anything else.
    """
    try:
        found: dict[str, Any] = json.loads(text)
        kept = {one["case"]: one for one in json.loads(outputs or "[]")}
        return Verdict(
            Status(found["status"]),
            found["score"],
            found["reason"],
            tuple(_case(case, kept.get(number)) for number, case in enumerate(found["cases"])),
            Usage(**found["usage"]),
            Seal(found["seal"]),
            found["isolation"],
            found["details"],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no verdict: {error}") from None


def _case(case: dict[str, Any], kept: dict[str, Any] | None) -> CaseResult:
    shown = {} if kept is None else {"output": kept["output"], "skipped": kept["skipped"]}
    return CaseResult(case["passed"], case["reason"], case["score"], **shown)


def task_of(names: TaskNames, row: SimpleNamespace) -> Task | None:
    """The task of a row of `items`; None where it is not at hand any more."""
    try:
        return names.find(row.tenant_id, row.task)
    except (UnhackError, RequestRefused):
        return None
