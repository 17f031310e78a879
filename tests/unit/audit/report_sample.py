"""A report as an audit would give it, made by hand, and the verifier that it is about."""

from __future__ import annotations

from unhack.audit.report.plan import PartEnd, PlanPart
from unhack.audit.report.report import Area, AuditCheck, AuditReport, Conclusion, HackPair, Tried
from unhack.audit.subject import Source
from unhack.core.finding import Evidence, ExpectedReward, Finding, FindingKind, Place, Severity

SOURCE = Source(
    "rewards/sums.py",
    "\n".join(
        (
            '"""Rewards for sums."""',
            "",
            "",
            "def compute_score(data_source, solution_str, ground_truth, extra_info=None):",
            '    """1 for the right sum."""',
            "    answer = solution_str.strip()",
            "    if answer.endswith(ground_truth):",
            "        return 1.0",
            "    return 0.1 if answer else 0.0",
            "",
        )
    ),
    entry="compute_score",
)

SUFFIX = Finding(
    flaw="suffix_match",
    severity=Severity.HIGH,
    attack="numbers/longer_number",
    tier=1,
    problem="row 0",
    witness="142",
    score=1.0,
    threshold=1.0,
    evidence=Evidence(
        "other_answer", "it answers '142', which is not '42'", expected="42", obtained="142"
    ),
    fix="Extract the answer with anchors and compare the whole of it",
    place=Place("rewards/sums.py", 7, "if answer.endswith(ground_truth):"),
    catalogue="a sums reward that matched endings",
    also=("numbers/glued_digits", "hedging/list_of_numbers"),
    kind=FindingKind.HACK,
    expected_reward=ExpectedReward(
        mean=0.75, honest=0.05, right=1.0, rewarded=9, problems=12, left_out=1, p_value=2.5e-07
    ),
)

FALSE_ACCEPT = Finding(
    flaw="over_normalisation",
    severity=Severity.LOW,
    attack="numbers/other_unit",
    tier=1,
    problem="row 3",
    witness="42 km",
    score=1.0,
    threshold=1.0,
    evidence=Evidence("other_answer", "it answers '42 km', which is not '42 m'"),
    fix="Compare the unit too",
)

HOSTILE = Finding(
    flaw="always_equal_object",
    severity=Severity.CRITICAL,
    attack="objects/equal_to_all",
    tier=1,
    problem="two-sum",
    witness="class A:\n\tdef __eq__(s, o): return True  "
    "# </pre><script>alert(1)</script>\u202e\x1b[2J",
    score=1.0,
    threshold=1.0,
    evidence=Evidence(
        "differs", "it returns an object, not a number", "f(2, 3)", "5", "<A object & co>"
    ),
    fix="Compare plain data of exact types",
    kind=FindingKind.HACK,
)

CHECKS = (
    AuditCheck(Area.COMPLETENESS, "correct_pass", True, "12 of 12 correct completions pass"),
    AuditCheck(
        Area.DETERMINISM, "same_score", False, "3 of 40 scores differ in another order", "b <i>"
    ),
    AuditCheck(Area.ISOLATION, "neighbours", None, "no completion runs code here"),
)

TRIED = (
    Tried("numbers/longer_number", 1, 36, 12, 12),
    Tried("format/empty_box", 1, 24, 0, 0),
    Tried("mined/constants", 2, 8, 0, 0),
)


def report(
    *findings: Finding,
    conclusion: Conclusion | None = None,
    why: str = "",
    mutation_score: float | None = None,
) -> AuditReport:
    """A report with these findings; sound without any, unless said otherwise."""
    usual = Conclusion.EXPLOITABLE if findings else Conclusion.SOUND
    return AuditReport(
        subject="rewards/sums.py:compute_score",
        conclusion=conclusion or usual,
        why=why or ("wrong completions get the full reward" if findings else "nothing passed"),
        findings=findings,
        checks=CHECKS,
        tried=TRIED,
        pairs=tuple(
            HackPair(one.problem, "What is 6 × 7?", one.witness, "42", one.flaw) for one in findings
        ),
        tiers=(1, 2),
        plan=(PlanPart(3, "search", PartEnd.STOPPED, "no endpoint was given"),),
        problems=12,
        calls=812,
        seconds=14.25,
        mutation_score=mutation_score,
    )
