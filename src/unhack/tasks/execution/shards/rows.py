"""Verdicts as rows of plain values: the least that crosses, and the quickest to read.

Cases that passed without a word, the most frequent ones, are one shared value.
"""

from __future__ import annotations

from typing import Any

from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict

Row = tuple[Any, ...]
_PASSED = CaseResult(True)
_STATUSES = {status.value: status for status in Status}
_SEALS = {seal.value: seal for seal in Seal}


def to_row(verdict: Verdict) -> Row:
    """The row of a verdict."""
    cases = [
        None
        if case == _PASSED
        else (case.passed, case.reason, case.score, case.output, case.skipped)
        for case in verdict.cases
    ]
    usage = verdict.usage
    return (
        verdict.status.value,
        verdict.score,
        verdict.reason,
        cases if any(cases) else len(cases),
        usage.wall_s,
        usage.cpu_s,
        usage.max_rss_bytes,
        verdict.seal.value,
        verdict.isolation,
        verdict.details or None,
    )


def of_row(row: Row) -> Verdict:
    """The verdict of a row, equal to the one that it was made from."""
    status, score, reason, cases, wall, cpu, peak, seal, isolation, details = row
    if isinstance(cases, int):
        results = (_PASSED,) * cases
    else:
        results = tuple(_PASSED if case is None else CaseResult(*case) for case in cases)
    return Verdict(
        _STATUSES[status],
        score,
        reason,
        results,
        Usage(wall, cpu, peak),
        _SEALS[seal],
        isolation,
        {} if details is None else details,
    )
