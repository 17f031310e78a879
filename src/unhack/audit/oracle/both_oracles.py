"""The audit's own oracles as one: texts are read, programs are run.

    BothOracles(TextOracle(backend), ProgramOracle(backend, seed), deadline)

Covered: a deadline that ends a run on the way; it proves nothing then.
Not covered: a user's oracle; `own_oracle` has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.oracle import Oracle, TextOracle
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


def results_of(oracle: Oracle, problem: AuditProblem) -> list[Any]:
    """Results of a right function on known inputs; empty where no input is known."""
    if not isinstance(oracle, BothOracles) or problem.entry_point is None:
        return []
    return [case.expected for case in oracle.programs.reference_cases(problem)]


def is_blind(oracle: Oracle, problem: AuditProblem) -> bool:
    """Tell whether the oracle knows no input on which to compare a program with correct ones."""
    return isinstance(oracle, BothOracles) and problem.is_code and oracle.programs.is_blind(problem)
