"""A user's own ground truth: `is_wrong(prompt, completion, answer) -> bool | None` in a file.

It runs in a judge's worker: the completion that it reads is hostile, and the auditor trusts nothing
that has touched it beyond this answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unhack.audit.attack import Payload
from unhack.audit.subject import AuditProblem
from unhack.core import plain
from unhack.core.errors import UsageError
from unhack.core.finding import Evidence
from unhack.sandbox.job import Backend, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.shared import shared_pool
from unhack.verifiers import jobs

_LIMITS = Limits(wall_s=20.0, cpu_s=20.0)
_CALL = """

def check(prompt, completion, answer):
    return {True: 1.0, False: 0.0, None: 0.5}[is_wrong(prompt, completion, answer)]
"""


@dataclass(frozen=True)
class OwnOracle:
    """An oracle that asks the user's file."""

    path: Path
    backend: Backend | None = None

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        """See `unhack.audit.oracle.oracle.Oracle`. Raises UsageError when the file cannot judge."""
        try:
            source = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{self.path}: cannot be read: {error}") from None
        values = [plain.encode_tags(v) for v in (problem.prompt, payload.text, problem.answer)]
        fields = {"source": source + _CALL, "items": [[0, values]]}
        job = jobs.judge("check", fields, limits=_LIMITS)
        outcome = run_one(self.backend or shared_pool(), job)
        lines = jobs.result_lines(outcome.result)
        if not lines or lines[0][0] is None:
            said = ", ".join(map(str, lines[0][1:])) if lines else outcome.ending.value
            raise UsageError(f"{self.path}: is_wrong gave no valid reply: {said}")
        if lines[0][2] != 1.0:
            return None
        return Evidence("oracle", f"{self.path.name} says that it is wrong", expected="")
