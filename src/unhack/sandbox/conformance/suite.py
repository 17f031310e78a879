"""Checks that every backend must pass: shipped, so that each host can put its own to the test.

Covered: what a job gets, what it finds around it, what it can reach, each limit, each forbidden
call.
Not covered: attacks that take more than one step (the escape suite holds those); kernel bugs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from unhack.sandbox.conformance import answers, bounds, calls, co_tenants, job_view, scratch
from unhack.sandbox.conformance.probe import CheckResult, ConformanceCheck, Probe, run_test
from unhack.sandbox.job import Backend

CHECKS: tuple[ConformanceCheck, ...] = (
    *answers.CHECKS,
    *job_view.CHECKS,
    *scratch.CHECKS,
    *co_tenants.CHECKS,
    *bounds.CHECKS,
    *calls.CHECKS,
)
"""Every check, the benign ones of `answers` first."""


def run_check(check: ConformanceCheck, probe: Probe) -> CheckResult:
    """Put one claim to a backend."""
    return run_test(check.claim, lambda: check.test(probe))


def run_checks(
    backend: Backend,
    checks: Iterable[ConformanceCheck] = CHECKS,
    *,
    on_result: Callable[[CheckResult], None] = lambda result: None,
) -> list[CheckResult]:
    """Put each claim to `backend`, in order; `on_result` hears of each as it comes."""
    probe = Probe(backend)
    results: list[CheckResult] = []
    for check in checks:
        result = run_check(check, probe)
        on_result(result)
        results.append(result)
    return results
