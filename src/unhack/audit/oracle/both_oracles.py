"""The audit's own oracles as one: texts are read, programs are run.

    BothOracles(TextOracle(backend), ProgramOracle(backend, seed), deadline)

Covered: a deadline that ends a run on the way; it proves nothing then.
Not covered: a user's oracle; `own_oracle` has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.subject import AuditProblem
from unhack.core.errors import PoolClosedError
from unhack.core.finding import Evidence
from unhack.sandbox.deadline import DeadlineBackend


@dataclass(frozen=True)
class BothOracles:
    """Text answers and programs, each with its own."""

    texts: TextOracle
    programs: ProgramOracle
    deadline: DeadlineBackend | None = None
    """Their backend; what it ended proves nothing."""

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        """See `unhack.audit.oracle.oracle.Oracle`."""
        oracle = self.programs if payload.claim is Claim.PROGRAM else self.texts
        try:
            evidence = oracle.why_wrong(problem, payload)
        except PoolClosedError:
            if self.deadline is None or not self.deadline.passed:
                raise
            return None
        return None if self.deadline is not None and self.deadline.passed else evidence
