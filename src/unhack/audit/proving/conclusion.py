"""The conclusion of an audit, and its one sentence: what hangs or breaks is said before all else.

Covered: hacks, false accepts, nothing found, nothing decided; verifiers that hang on right
completions or on those of attacks.
Not covered: verifiers of programs that hang with a program that never ends; that is the program's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from unhack.audit.oracle.own_oracle import OwnOracle
from unhack.audit.oracle.programs import what_to_add
from unhack.audit.oracle.results import SEVERAL_RIGHT, has_several
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Prover
from unhack.audit.report.plan import PartEnd, PlanPart, incomplete_text
from unhack.audit.report.report import Conclusion
from unhack.audit.subject import AuditProblem, Subject
from unhack.audit.subjects.remarks import (
    takes_row,
    typed_answers,
    ungiven_columns,
    unread_fields,
)
from unhack.core.finding import Finding, FindingKind

_OFTEN = 0.1
"""Share of the completions that hang, from which the rest decides nothing."""
_CERTAIN = 3
"""Completions that hung, from which none has to hang again."""
_SHOWN = 40


def conclude_audit(
    prover: Prover,
    baselines: Sequence[Baseline],
    findings: Sequence[Finding],
    is_blind: Callable[[AuditProblem], bool],
) -> tuple[Conclusion, str]:
    """The conclusion and why; `baselines` holds the problems whose right completions had time,
    `is_blind` tells of a program's problem if no input is known for it."""
    hang = _hang_text(prover.journal)
    conclusion, why = _decided(prover, baselines, findings, is_blind)
    if not hang:
        return conclusion, why
    if conclusion is Conclusion.EXPLOITABLE:
        return conclusion, f"{why}; {hang}"
    many = len(prover.journal.hung) >= _OFTEN * max(1, prover.journal.calls)
    if conclusion is Conclusion.SOUND and many and not findings:
        return Conclusion.UNPROVEN, f"{hang}, so too little was tried; {why}"
    return conclusion, f"{hang}; {why}"


def _hang_text(journal: ScoreJournal) -> str:
    """The hang in one sentence without an end; empty where nothing hangs, or not again."""
    hung = [query for query in journal.hung if not query.problem.is_code]
    if not hung:
        return ""
    first, count = hung[0], len(hung)
    if count < _CERTAIN and journal.score([first])[0].trouble != "timeout":
        return ""
    return (
        f"the verifier hangs: {count} of {journal.calls} completions timed out, "
        f"for example {first.completion[:_SHOWN]!r} for problem {first.problem.id}"
    )


def _decided(
    prover: Prover,
    baselines: Sequence[Baseline],
    findings: Sequence[Finding],
    is_blind: Callable[[AuditProblem], bool],
) -> tuple[Conclusion, str]:
    subject = prover.journal.subject
    hacks = [finding for finding in findings if finding.kind is FindingKind.HACK]
    if hacks:
        worst = hacks[0].severity.value
        count = f"{len(hacks)} hack{'s' * (len(hacks) != 1)} proven"
        worst = f"severity: {worst}" if len(hacks) == 1 else f"highest severity: {worst}"
        return Conclusion.EXPLOITABLE, f"{count} ({worst})"
    if findings:
        count = f"{len(findings)} false accept{'s' * (len(findings) != 1)}"
        text = f"no hack proven; {count}: only completions made from the right answer pass"
        return Conclusion.SOUND, text
    if not baselines:
        text = (
            "the verifier hangs or is too slow: no right completion was scored within half of the "
            "time limit, or with the calls that it may make; raise --seconds or --calls, or find "
            "out what it waits for"
        )
        return Conclusion.UNPROVEN, text
    nothing_passes = all(baseline.threshold is None for baseline in baselines)
    if nothing_passes and (subject.sees_answer or takes_row(subject)):
        return Conclusion.UNPROVEN, _why_nothing_passes(subject, baselines)
    if not subject.sees_answer and not isinstance(prover.oracle, OwnOracle):
        text = "the verifier ignores the expected answer, so no answer can be proven wrong"
        return Conclusion.UNPROVEN, text
    if nothing_passes:
        return Conclusion.UNPROVEN, _why_nothing_passes(subject, baselines)
    if prover.proofs:
        text = f"{len(prover.proofs)} completions passed and are wrong, but "
        if prover.budget.spent:
            return Conclusion.SOUND, f"{text}the budget ended before they could be confirmed"
        text += "none passed three more times: the verifier's scores vary from run to run"
        return Conclusion.UNPROVEN, text
    return _without_proof(prover, is_blind)


def _without_proof(
    prover: Prover, is_blind: Callable[[AuditProblem], bool]
) -> tuple[Conclusion, str]:
    tried = sum(record.completions for record in prover.tried)
    if not tried:
        why = f"nothing was tried: {prover.budget.spent or 'no attack applies'}"
        return Conclusion.UNPROVEN, why
    if prover.unproven and not any(record.proven for record in prover.tried):
        text = f"{len(prover.unproven)} of {tried} completions pass"
        if all(is_blind(problem) for _, _, problem in prover.unproven):
            return Conclusion.UNPROVEN, f"{text}; {what_to_add(prover.unproven[0][2])}"
        unknown = all(one.answer is None and not one.is_code for _, _, one in prover.unproven)
        always = {one.attack for one in prover.tried if 1 < one.completions == one.rewarded}
        odd = [one for one in prover.unproven if one[0].name in always]
        if unknown and odd and not isinstance(prover.oracle, OwnOracle):
            text = f"{odd[0][1].text[:_SHOWN]!r} ({odd[0][0].name}) and its like pass everywhere"
            return Conclusion.UNPROVEN, f"{text}; whether that is right only --oracle can say"
        guesses = [one for one in prover.unproven if one[0].generic or one[0].tier == 3]
        if guesses and all(item.is_code and has_several(item.prompt) for _, _, item in guesses):
            return Conclusion.UNPROVEN, f"{text}; {SEVERAL_RIGHT}"
        return Conclusion.SOUND, f"{text}, none could be shown to be wrong"
    text = f"none of {tried} completions both passes and is wrong"
    if prover.small_faults:
        text += f", except {prover.small_faults} programs that are wrong on a few inputs"
    return Conclusion.SOUND, text


def _why_nothing_passes(subject: Subject, baselines: Sequence[Baseline]) -> str:
    """The reason why no correct completion is rewarded, an exception before all else."""
    rejected = [score for baseline in baselines for _, score in baseline.rejected]
    raised = [score.reason or score.trouble for score in rejected if score.value is None]
    parts: list[str] = []
    if raised and len(raised) == len(rejected):
        parts.append(f"the verifier fails on every correct completion: {raised[0]}")
        parts += typed_answers(subject)
    elif raised:
        parts.append(f"no correct completion is rewarded; the verifier fails on one: {raised[0]}")
    else:
        known = any(baseline.problem.correct for baseline in baselines)
        text = "no correct completion is rewarded, so nothing can pass"
        asked = "no right completion is known: give some as `correct` in the rows"
        parts.append(text if known else asked)
        blank = [score for baseline in baselines for score in baseline.scores.values()]
        if blank and all(score.value is None for score in blank):
            why = blank[0].reason or blank[0].trouble
            parts.insert(0, f"the verifier fails on every completion that was tried: {why}")
    return "; ".join([*ungiven_columns(subject), *parts, *unread_fields(subject)])


def of_whole_plan(
    decided: tuple[Conclusion, str], plan: Sequence[PlanPart], *, calls: float, seconds: float
) -> tuple[Conclusion, str]:
    """The conclusion, incomplete where nothing was found and a part of the plan is open, within a
    budget of `calls` and `seconds`."""
    left = incomplete_text(plan, calls=calls, seconds=seconds)
    if decided[0] is not Conclusion.SOUND or not left:
        return decided
    return Conclusion.INCOMPLETE, f"{left}; {decided[1]}"


def last_parts(
    prover: Prover, baselines: Sequence[Baseline], findings: Sequence[Finding]
) -> Iterator[PlanPart]:
    """The confirmation of findings, and the checks, with their ends: both stop where the budget
    is used up, and say nothing then of what they did not come to."""
    spent = prover.budget.spent or ("the time is used up" if prover.journal.is_late else "")
    lost = spent if prover.proofs and not findings else ""
    yield PlanPart(0, "confirmation", PartEnd.STOPPED if lost else PartEnd.DONE, lost)
    if any(baseline.threshold is not None for baseline in baselines):
        yield PlanPart(0, "checks", PartEnd.STOPPED if spent else PartEnd.DONE, spent)
    else:
        why = "no right completion is rewarded"
        yield PlanPart(0, "checks", PartEnd.NOT_APPLICABLE, why)
