"""SWE-bench: the log of a patched repository's tests, parsed and held to the wanted tests."""

from __future__ import annotations

from packages_alone import without_init

without_init("swebench", "swebench.harness")

from swebench.harness.grading import get_eval_tests_report, get_resolution_status  # noqa: E402
from swebench.harness.log_parsers.python import parse_log_pytest  # noqa: E402


def resolved(completion: str, ground_truth: dict[str, list[str]]) -> float:
    """1.0 for a log that resolves the issue."""
    statuses = parse_log_pytest(completion, None)
    report = get_eval_tests_report(statuses, ground_truth)
    return float(get_resolution_status(report) == "RESOLVED_FULL")
