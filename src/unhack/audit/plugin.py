"""The pytest plugin: an audit as a test.

    def test_the_reward_holds(unhack_audit):
        unhack_audit("rewards/sums.py:compute_score", problems="rewards/rows.jsonl")

Covered: a test fails when a hack is proven, and names every finding; it fails when the audit
could not decide, and says why, unless `allow_unproven=True`.
Not covered: holes that no attack finds; the returned report lists what was tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypedDict, Unpack

import pytest

if TYPE_CHECKING:
    from unhack.audit.report.report import AuditReport

_TIERS = (1, 2, 4)


class AuditExtent(TypedDict, total=False):
    """How the verifier is called, and how much is tried; see `unhack.audit.options`."""

    signature: str | None
    """None for the one that its source shows."""
    tiers: Sequence[int]
    seconds: float
    """60 where nothing is given."""
    strict: bool
    """Fail on false accepts too; False where it is not given."""


class AuditCall(Protocol):
    """The value of the fixture `unhack_audit`."""

    def __call__(
        self,
        target: str | Path,
        *,
        problems: str | Path | None = None,
        oracle: str | Path | None = None,
        allow_unproven: bool = False,
        **extent: Unpack[AuditExtent],
    ) -> AuditReport:
        """Audit as `unhack audit` does. Fails the test when a hack is proven, with `strict` when a
        false accept is, and when nothing could be decided (`unproven`) unless `allow_unproven`.

        Raises UsageError for what cannot be loaded, and where nothing says what is right.
        """
        ...


@pytest.fixture
def unhack_audit() -> AuditCall:
    """A callable that audits a verifier and fails the test unless no hack was found."""
    return _audit


def _audit(
    target: str | Path,
    *,
    problems: str | Path | None = None,
    oracle: str | Path | None = None,
    allow_unproven: bool = False,
    **extent: Unpack[AuditExtent],
) -> AuditReport:
    # Imported on use: pytest loads this plugin in every run of every suite.
    from unhack.audit.options import AuditOptions
    from unhack.audit.report.report import Conclusion
    from unhack.audit.report.wording import lacking
    from unhack.audit.runner import audit
    from unhack.audit.subjects.loading import load_subject
    from unhack.core.errors import UsageError
    from unhack.sandbox.pool.pool import Pool

    options = AuditOptions(
        tiers=tuple(extent.get("tiers", _TIERS)),
        seconds=extent.get("seconds", 60.0),
        oracle=None if oracle is None else Path(oracle),
    )
    signature = extent.get("signature")
    rows = None if problems is None else Path(problems)
    with closing(Pool()) as backend:
        subject = load_subject(str(target), problems=rows, signature=signature, backend=backend)
        report = audit(subject, options=options, backend=backend)
    strict = extent.get("strict", False) and report.findings
    if report.conclusion is Conclusion.EXPLOITABLE or strict:
        pytest.fail(failure(report), pytrace=False)
    missing = lacking(subject)
    if report.conclusion is Conclusion.UNPROVEN and oracle is None and missing:
        raise UsageError(missing)
    if report.is_undecided and not allow_unproven:
        pytest.fail(undecided(report), pytrace=False)
    return report


def failure(report: AuditReport) -> str:
    """The findings as a test's failure shows them."""
    return "\n".join((f"{report.subject} can be gamed: {report.why}", *_lines(report)))


def undecided(report: AuditReport) -> str:
    """The failure of a test whose audit could not decide: why, and what to do."""
    # Imported on use, as above.
    from unhack.audit.report.wording import amount_tried
    from unhack.reporting.text import one_line

    return "\n".join(
        (
            f"{report.subject}: the audit could not decide: {one_line(report.why, most=1000)}",
            "",
            "Where that is expected, give allow_unproven=True.",
            amount_tried(report),
        )
    )


def _lines(report: AuditReport) -> Iterator[str]:
    # Imported on use, as above.
    from unhack.audit.report.flaws import FLAWS
    from unhack.audit.report.wording import (
        amount_tried,
        expected_reward_text,
        near,
        ranked,
        score_of,
        tried_fix_text,
    )

    # The same for the text.
    from unhack.reporting.text import one_line

    for number, finding in enumerate(ranked(report.findings), start=1):
        yield ""
        worth = f"{finding.severity.value} {finding.kind.value}"
        yield f"{number}. {worth} {finding.flaw}: {FLAWS[finding.flaw].title}"
        if finding.expected_reward is not None:
            yield f"   reward   {expected_reward_text(finding.expected_reward)}"
        place = finding.place
        if place is not None:
            yield f"   {near(place.path)}:{place.line}: {place.code.strip()}"
        yield f"   witness  {one_line(finding.witness, most=300)}"
        yield f"            {score_of(finding)}, on problem {finding.problem}"
        yield f"   evidence {one_line(finding.evidence.text, most=300)}"
        yield f"   fix      {finding.fix}"
        if finding.tried_fix:
            yield f"   tried    {one_line(tried_fix_text(finding), most=300)}"
    yield ""
    yield amount_tried(report)
