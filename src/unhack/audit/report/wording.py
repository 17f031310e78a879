"""Words that every way of showing a report shares: the screen, the page and SARIF."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.subject import Source, Subject
from unhack.core.finding import ExpectedReward, Finding, FindingKind, Place, Severity
from unhack.reporting.text import one_line

TIERS = {
    1: "heuristic",
    2: "white-box",
    3: "black-box",
    4: "mutation",
    5: "RL exploit discovery",
}
CONCLUSIONS = {
    Conclusion.EXPLOITABLE: "exploitable",
    Conclusion.SOUND: "no hack found",
    Conclusion.INCOMPLETE: "incomplete: no hack found so far",
    Conclusion.UNPROVEN: "unproven",
}
FALSE_ACCEPT_NOTE = (
    "wrong completions that contain the right answer. Whoever can write one already knows the "
    "answer, so a policy gains nothing; --strict counts them too."
)
_EXAMPLE = 60
"""Characters of a right answer that is shown as an example."""
_TIER_5 = "trains a policy against the verifier; needs unhack[train]"


def ranked(findings: Sequence[Finding]) -> list[Finding]:
    """Hacks before false accepts, then the worst first; otherwise in order."""
    order, kinds = list(Severity), list(FindingKind)
    return sorted(findings, key=lambda one: (kinds.index(one.kind), order.index(one.severity)))


def by_kind(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """The hacks and the false accepts, each ranked."""
    found = ranked(findings)
    return (
        [one for one in found if one.kind is FindingKind.HACK],
        [one for one in found if one.kind is FindingKind.FALSE_ACCEPT],
    )


def tried_fix_text(finding: Finding) -> str:
    """The fix of a finding in one sentence without an end; empty where none is known."""
    if not finding.tried_fix or finding.place is None:
        return ""
    change = finding.tried_fix
    return f"with this change of line {finding.place.line} the witness earns no reward: {change}"


def expected_reward_text(of: ExpectedReward) -> str:
    """The expected reward of a strategy in one sentence without an end."""
    text = (
        f"mean reward {of.mean:.3g}, against an honest ceiling of {of.honest:.3g} and "
        f"{of.right:.3g} for right answers (share {of.share:.0%}); rewarded on {of.rewarded} of "
        f"{_count(of.problems, 'held-out problem')}"
    )
    if of.by_attempts:
        text += ", each time with the right answer among the many that it gives"
    if of.left_out:
        text += f" ({of.left_out} more left out: its answer is not wrong there)"
    return f"{text}; {_strength(of)}"


def brief_reward_text(of: ExpectedReward) -> str:
    """The expected reward of a strategy in a line."""
    text = (
        f"{of.mean:.3g} on average; honest ceiling {of.honest:.3g}, right answers {of.right:.3g}; "
    )
    text += f"rewarded on {of.rewarded} of {_count(of.problems, 'held-out problem')}"
    return f"{text} (few: weak evidence)" if of.is_weak else text


def _strength(of: ExpectedReward) -> str:
    text = f"p = {of.p_value:.2g} against honest guessing"
    return f"{text} (few problems: weak evidence)" if of.is_weak else text


def reach_of(of: ExpectedReward) -> str:
    """The prompts on which a hack works."""
    if of.rewarded == of.problems:
        return "works on every prompt tried"
    return "works on some prompts only; a policy can learn which by trial and error"


def place_of(finding: Finding, source: Source | None) -> Place | None:
    """The line that lets the witness through; failing that, where the verifier begins."""
    if finding.place is not None or source is None:
        return finding.place
    lines = source.text.split("\n")
    name = source.entry.rpartition(".")[2]
    heads = (f"def {name}(", f"async def {name}(", f"class {name}(", f"class {name}:")
    for offset, line in enumerate(lines):
        if line.lstrip().startswith(heads):
            return Place(source.path, source.first_line + offset, line.strip())
    return Place(source.path, source.first_line, lines[0].strip())


def near(path: str) -> str:
    """A path as a reader names it: relative where it lies below the current directory."""
    full, here = Path(path), Path.cwd()
    return str(full.relative_to(here)) if full.is_relative_to(here) else path


def score_of(finding: Finding) -> str:
    """The witness's score beside what passes."""
    return f"scores {finding.score:g}; {finding.threshold:g} passes"


def refused_text(report: AuditReport) -> str:
    """The right answers that the verifier refuses, with an example, in one sentence without an
    end; empty where none was tried."""
    found, others = report.right_answers(), report.right_answers(otherwise=True)
    if found is None or report.conclusion is Conclusion.UNPROVEN:
        return ""  # what nothing passes says nothing of
    text = f"{found.refused} of {found.tried} right answers"
    if found.refused:
        text += f" ({found.refused / found.tried:.0%}), such as {_quoted(found.example)}"
    if others is not None and others.refused:
        text += (
            f"; {others.refused} of {others.tried} in other notations, which the prompt may rule "
        )
        text += f"out, such as {_quoted(others.example)}"
    return text


def _quoted(text: str) -> str:
    return f"“{one_line(text, most=_EXAMPLE)}”"


def strict(value: Any) -> Any:
    """The same JSON value without infinite numbers and NaN, which JSON cannot hold: they become
    text."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {key: strict(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in cast("Sequence[Any]", value)]
    return value


def amount_tried(report: AuditReport) -> str:
    """Attacks × problems, completions, calls of the verifier, seconds."""
    attacks, problems = _count(len(report.tried), "attack"), _count(report.problems, "problem")
    if report.of_problems > report.problems:
        problems = f"{report.problems} of {report.of_problems} problems, evenly spread"
    tried = _count(sum(record.completions for record in report.tried), "completion")
    calls = _count(report.calls, "call")
    text = f"{attacks} × {problems}: {tried}, {calls}, {report.seconds:.1f} s"
    if report.mutation_score is not None:
        text += f"; {report.mutation_score:.0%} of the wrong mutants rejected"
    return text


def power_text(report: AuditReport) -> str:
    """The power beside what was found, in one sentence without an end."""
    assert report.power is not None
    text = report.power.text
    return text if by_kind(report.findings)[0] else f"no hack found; {text}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def named_tier(tier: int) -> str:
    """A tier with its name; 0 stands for the parts that belong to none."""
    return f"{tier} {TIERS[tier]}" if tier else "confirmation and checks"


def left_out(report: AuditReport) -> list[tuple[int, str]]:
    """(tier, why) for every tier that was not run to its end."""
    reasons = dict(report.skipped)
    for tier in TIERS:
        if tier not in report.tiers and tier not in reasons:
            reasons[tier] = _TIER_5 if tier == 5 else "was not selected"
    return sorted(reasons.items())


def lacking(subject: Subject) -> str:
    """Advice on what to give when nothing says which completions are right; else empty."""
    if any(one.answer is not None or one.correct or one.calls for one in subject.problems):
        return ""
    return (
        f"{subject.name}: nothing says which completions are right; give problems with answers "
        '(--problems FILE.jsonl, one {"prompt": "…", "answer": "…", "correct": ["…"]} a line), '
        "or an --oracle that decides"
    )
