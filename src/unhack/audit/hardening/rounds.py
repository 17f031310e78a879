"""`harden`: fixes tried one by one, each kept only while every right answer keeps its score.

    fixed = harden(copy, report, audit_again=lambda subject: audit(subject, options=options))

The smallest fix of the line that a finding names is tried first, then fixes of other lines;
failing that, for a verifier script the sealed judge, then what a fixer proposes. Every hack is
varied and played on what a fix makes; the copy is audited after each round, and what that audit
proves is worked on in the next.

Covered: a fix is given where every hack is closed: no witness, varied form or strategy of it is
rewarded, an audit of the copy that ran to its end proves none, and no right answer's score changes.
Not covered: what only the author can decide; then there is no diff, but what to change by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from unhack.audit.hardening.allowance import Allowance
from unhack.audit.hardening.copy import HardenedCopy
from unhack.audit.hardening.edits import Change, apply
from unhack.audit.hardening.fixes.containment import FEW_WORDS
from unhack.audit.hardening.fixes.credit import NO_CREDIT
from unhack.audit.hardening.fixes.fixes import fixes
from unhack.audit.hardening.harden import advice, changes
from unhack.audit.hardening.result import (
    GOLD_TEXT,
    HardeningResult,
    HardeningRound,
    Refused,
    rules_of,
)
from unhack.audit.hardening.trial import Trial
from unhack.audit.hardening.work import HardeningWork
from unhack.audit.report.power import Power
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.subject import Source, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.core.finding import Finding, FindingKind

Fixer = Callable[[HardeningWork, Sequence[Finding]], tuple[str, str] | None]
"""Takes the work and what was proven last; gives a text of the verifier and who wrote it."""
_ROUNDS = 4
_MOST_TRIALS, _MOST_TOGETHER = 260, 16
"""Of single fixes in a round; of fixes that are tried together."""
_WEIGHED = 6
"""Of the fixes that close most, on which hacks are varied."""
_WIDEST = 100
"""Characters of a line that a fix may make, unless it was longer before."""
_REFUSED = 3
"""Most fixes that are told with the reason why they were taken back."""


@dataclass(frozen=True, slots=True)
class CopyAudits:
    """The audits that a fixed copy is put through."""

    again: Callable[[Subject], AuditReport]
    """The audit of the original, of the copy."""
    power: Callable[[Subject, AuditReport], Power] | None = None
    """Its power on the copy, whose report it is given; None where it is not to be compared."""
    allowance: Allowance = field(default_factory=Allowance)
    """The calls and seconds of the fix, audits of the copy included."""


@dataclass(frozen=True, slots=True)
class HardeningSteps:
    """The number of rounds, and who writes fixes where no rule closes everything."""

    rounds: int = _ROUNDS
    fixer: Fixer | None = None


@dataclass(frozen=True, slots=True)
class _Round:
    """The state of the copy after a round, and its audit."""

    text: str
    kept: tuple[str, ...]
    open: frozenset[int]
    settings: str
    report: AuditReport | None


def harden(
    copy: HardenedCopy,
    report: AuditReport,
    *,
    audit_again: Callable[[Subject], AuditReport],
    power_of: Callable[[Subject, AuditReport], Power] | None = None,
    allowance: Allowance | None = None,
    steps: HardeningSteps | None = None,
) -> HardeningResult:
    """Make the copy as strict as closes every hack without changing a right answer's score.

    With `power_of`, and where `report` has a power, a round after which the audit would break fewer
    weakened copies is undone. Where nothing could be changed, the copy's place is left as it was
    found.
    Raises SandboxUnavailableError; UsageError where the original cannot be loaded.
    """
    allowance = allowance or Allowance()
    trial = Trial.of(copy.original, allowance=allowance, backend=copy.backend)
    work = HardeningWork(copy, trial, copy.source.text)
    _add(work, report.findings)
    rounds = [_Round(work.text, (), work.open, copy.settings, None)]
    if allowance.spent:
        work.refused["every fix"] = f"{allowance.spent} before one could be checked"
    elif not work.trial.right:
        work.refused["every fix"] = (
            "the verifier rewards no correct completion, so no fix can be checked"
        )
    steps, found, history = steps or HardeningSteps(), report.findings, list[HardeningRound]()
    for _ in range(steps.rounds if work.holes and work.trial.right else 0):
        before, earlier = len(work.kept), set(work.refused)
        _fix(work)
        if work.open:
            _seal(work)
        if steps.fixer and _closes_hack(work, frozenset()) and not allowance.spent:
            _ask(work, found, steps.fixer)
        again = None
        if len(work.kept) > before:
            work.tidy(copy.source.text)
            again = audit_again(copy.write(work.text))
            allowance.calls -= again.calls
        refused = tuple(Refused(*one) for one in work.refused.items() if one[0] not in earlier)
        kept = tuple(work.kept[before:])
        history.append(HardeningRound(found, kept, refused, copy.patch(work.text), again))
        if again is None:
            break
        rounds.append(_Round(work.text, tuple(work.kept), work.open, copy.settings, again))
        found = again.findings
        if not found:
            break
        _add(work, found)
    _take_back(work, rounds)
    if not work.kept and work.open and allowance.spent:
        work.refused = {"more fixes": f"not tried: {allowance.spent}"} | work.refused
    compared = _hold_power(work, report, rounds, power_of)
    outcome = _outcome(work, report, rounds[-1].report, compared)
    text = work.text if work.kept else ""
    return replace(outcome, rounds=tuple(history), text=text, right=len(work.trial.right))


def _ask(work: HardeningWork, found: Sequence[Finding], fixer: Fixer) -> None:
    """Take what the fixer writes, where it is no comparison with a row's text and loses nothing."""
    proposed = fixer(work, found)
    if proposed is None or proposed[0] == work.text:
        return
    text, who = proposed
    said, what = work.named_row(text), f"a change by {who}"
    if said:
        work.refused[what] = f"{GOLD_TEXT}: {said[:60]!r}"
    elif not work.accepts(text, [what]):
        outcome = work.run(text)
        work.refused[what] = "it closes no hole" if outcome.keeps else outcome.complaint


def _hold_power(
    work: HardeningWork,
    report: AuditReport,
    rounds: list[_Round],
    power_of: Callable[[Subject, AuditReport], Power] | None,
) -> tuple[Power | None, str]:
    """Undo rounds until the audit's power does not fall: (power on the copy, what was compared)."""
    unknown = "detection power on the copy was not compared with the original"
    if power_of is None or report.power is None:
        return None, f"{unknown}; it was not measured"
    if report.power.share is None:
        return None, f"{unknown}: {report.power.text}"
    while len(rounds) > 1:
        last = rounds[-1]
        assert last.report is not None
        power = power_of(work.copy.write(last.text), last.report)
        if power.share is None:
            return power, f"{unknown}: {power.text}"
        told = f"from {report.power.share:.0%} to {power.share:.0%}"
        if not power.is_below(report.power):
            return power, f"detection power went {told}: {power.text}"
        rounds.pop()
        for one in last.kept[len(rounds[-1].kept) :]:
            work.refused[one] = f"detection power would fall {told}"
        work.text, work.open = rounds[-1].text, rounds[-1].open
        work.kept = list(rounds[-1].kept)
        if work.copy.settings != rounds[-1].settings:
            work.copy.unseal(rounds[-1].settings)
    return None, ""


def _take_back(work: HardeningWork, rounds: list[_Round]) -> None:
    """Undo everything where a hack is not closed, or nobody knows that it is."""
    again = rounds[-1].report
    if again is None:
        return
    hacks = [one for one in again.findings if one.kind is FindingKind.HACK]
    why = ""
    if hacks:
        why = f"the audit of the copy proves {hacks[0].flaw}: {hacks[0].witness[:60]!r}"
    elif again.conclusion is not Conclusion.SOUND:
        why = f"the audit of the copy is {again.conclusion.value}: {again.why}"
    elif _closes_hack(work, frozenset()):
        [text, *_] = [
            work.holes[at].text
            for at in sorted(work.open)
            if work.holes[at].kind is FindingKind.HACK
        ]
        why = f"a form of the hack is rewarded still: {text[:60]!r}"
    if why:
        work.refused = dict.fromkeys(work.kept, f"the hack is not closed: {why}") | work.refused
        work.text, work.kept = rounds[0].text, []
        work.open = frozenset(range(len(work.holes)))
        if work.copy.settings != rounds[0].settings:
            work.copy.unseal(rounds[0].settings)
        del rounds[1:]


def _outcome(
    work: HardeningWork,
    report: AuditReport,
    again: AuditReport | None,
    compared: tuple[Power | None, str],
) -> HardeningResult:
    last = report if again is None else again
    still = {(work.holes[at].flaw, work.holes[at].kind) for at in work.open}
    closed = [
        one.flaw for one in report.findings if work.kept and (one.flaw, one.kind) not in still
    ]
    remarks: list[str] = [] if work.copy.settings else list(advice(work.copy.source))
    for one in last.findings:
        where = f"line {one.place.line}: " if one.place is not None else ""
        remarks.append(f"{one.flaw} is left to you: {where}{one.fix}")
    patch = ""
    if work.kept:
        work.copy.write(work.text)
        patch, name = work.copy.patch(work.text), work.copy.named
    else:
        work.copy.discard()
        name = ""
    return HardeningResult(
        target=name,
        kept=tuple(work.kept),
        refused=tuple(Refused(what, why) for what, why in work.refused.items())[:_REFUSED],
        report=again,
        closed=tuple(closed),
        left=tuple(finding.flaw for finding in last.findings),
        remarks=tuple(dict.fromkeys(remarks)),
        patch=patch,
        power=compared[0] if work.kept else None,
        power_note=compared[1] if work.kept else "",
        rules=tuple(rules_of(work.copy.source, work.text, work.kept)),
        path=work.copy.source.path,
    )


def _add(work: HardeningWork, findings: Sequence[Finding]) -> None:
    known = {(hole.problem, hole.text) for hole in work.holes}
    fresh = [one for one in work.trial.holes(findings) if (one.problem, one.text) not in known]
    work.add(fresh)
    if fresh:
        work.variants += work.trial.variants(findings)


def _fix(work: HardeningWork) -> None:
    """Take single fixes, those that close most first; then those together that lose nothing."""
    tried: set[Change] = set()
    harmless: list[Change] = []
    began = work.text
    while work.open and len(tried) < _MOST_TRIALS and not work.trial.allowance.spent:
        closing: list[tuple[int, Change]] = []
        for change in _candidates(work):
            if change in tried or len(tried) >= _MOST_TRIALS:
                continue
            tried.add(change)
            still = _left_open(work, change)
            if still is None:
                continue
            if len(still) == len(work.open):
                harmless.append(change)
            else:
                closing.append((len(still), change))
            if not still:
                break
        ranked = sorted(closing, key=lambda one: (one[0], _resort(one[1])))
        if not any(_take(work, change) for change in _least_paid(work, ranked)):
            break
    if work.open and work.text == began:
        _together(work, harmless)


def _least_paid(work: HardeningWork, ranked: Sequence[tuple[int, Change]]) -> list[Change]:
    """Those that close most, the ones first that reward the fewest varied forms of a hack."""
    first = [(left, change) for left, change in ranked if left == ranked[0][0]][:_WEIGHED]
    paid = {
        change: len(work.paid(apply(work.text, [change])[0]))
        for _, change in (first if work.variants else ())
    }
    chosen = sorted((one for _, one in first), key=lambda one: paid.get(one, 0))
    return [*chosen, *(one for _, one in ranked if one not in chosen)]


def _left_open(work: HardeningWork, change: Change) -> frozenset[int] | None:
    """The holes that a fix leaves open; None where it may not be taken."""
    text, done = apply(work.text, [change])
    if not done or _widest(text) > max(_WIDEST, _widest(work.text)):
        return None
    outcome = work.run(text, alone=False, if_closing=True)
    if outcome.keeps:
        still = outcome.open & work.open
        taken = _resort(change) == 0 or _closes_hack(work, still)
        return still if taken or still == work.open else None
    if _fits(work, change) and _resort(change) == 0:
        work.refused.setdefault(change.what, outcome.complaint)
    return None


def _widest(text: str) -> int:
    return max(map(len, text.split("\n")))


def _closes_hack(work: HardeningWork, still: frozenset[int]) -> bool:
    """Tell whether a hole of a hack is closed: for a false accept alone nothing is taken away or
    compared anew, since right answers may need it in forms that no row shows."""
    return any(work.holes[at].kind is FindingKind.HACK for at in work.open - still)


def _take(work: HardeningWork, change: Change) -> bool:
    text, _ = apply(work.text, [change])
    return work.accepts(text, [change.what])


def _together(work: HardeningWork, harmless: Sequence[Change]) -> None:
    """Fixes that close something only with others: all that lose nothing, then ever fewer."""
    hacked = _closes_hack(work, frozenset())
    harmless = [one for one in harmless if hacked or _resort(one) == 0]
    some = [one for one in harmless if _fits(work, one)] or harmless
    texts = [(one, apply(work.text, [one])[0]) for one in some[:_MOST_TOGETHER]]
    fitting = [one for one, text in texts if work.run(text, alone=False).keeps]
    text, done = apply(work.text, fitting)
    if len(done) < 2 or not work.run(text, alone=False).open < work.open:
        return
    for one in list(done):
        fewer, _ = apply(work.text, [other for other in done if other is not one])
        outcome = work.run(fewer, alone=False)
        if outcome.keeps and outcome.open < work.open:
            done.remove(one)
    text, done = apply(work.text, done)
    work.accepts(text, [one.what for one in done])


def _candidates(work: HardeningWork) -> list[Change]:
    """Fixes of the present text, those that fit a finding first, then by their size; those that
    compare anew or take something away come last."""
    now = work.copy.source
    source = Source(now.path, work.text, now.first_line, now.entry)
    found = [*changes(source), *fixes(source)]
    sizes = {one: sum(len(edit.text) for edit in one.edits) for one in found}
    return sorted(found, key=lambda one: (_resort(one), not _fits(work, one), sizes[one]))


def _fits(work: HardeningWork, change: Change) -> bool:
    """Tell whether a fix concerns an open hole: its class, or the line of its finding."""
    first = work.copy.source.first_line
    holes = [work.holes[at] for at in work.open]
    lines = {
        work.text.count("\n", 0, edit.start) + first for edit in change.edits
    }  # lines of the copy, which fixes seldom shift
    return any(hole.flaw == change.flaw or hole.line in lines for hole in holes)


def _resort(change: Change) -> int:
    """0 for a fix of what stands there, 1 for a new comparison or a bound on length, 2 for what
    takes away credit or a normalisation."""
    if any(word in change.what for word in (": without ", NO_CREDIT, "no floor", ": nothing for ")):
        return 2
    return int(FEW_WORDS in change.what)


def _seal(work: HardeningWork) -> None:
    """Make a verifier script a task whose judge runs apart from the solution."""
    original = work.copy.original
    if not isinstance(original, FunctionSubject) or original.script is None or work.copy.settings:
        return
    what = "the script runs in the judge's sandbox, the solution in another"
    before = work.copy.settings
    work.copy.seal(original.problems[0])
    if work.accepts(work.text, [what]):
        return
    outcome = work.run(work.text)
    if not outcome.keeps:
        work.refused[what] = outcome.complaint
    work.copy.unseal(before)
