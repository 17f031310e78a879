"""Checks that every backend must pass: shipped, so that each host can put its own to the test."""

from __future__ import annotations

from unhack.sandbox.conformance.probe import CheckResult, CheckState, ConformanceCheck, Probe
from unhack.sandbox.conformance.suite import CHECKS, run_check, run_checks

__all__ = [
    "CHECKS",
    "CheckResult",
    "CheckState",
    "ConformanceCheck",
    "Probe",
    "run_check",
    "run_checks",
]
