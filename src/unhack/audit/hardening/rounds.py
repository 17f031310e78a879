"""`harden`: fixes tried one by one, each kept only while every right answer keeps its score.

    fixed = harden(copy, report, audit_again=lambda subject: audit(subject, options=options))

The smallest fix of the line that a finding names is tried first, then fixes of other lines;
failing that, for a verifier script the sealed judge. The copy is audited after each round, and what
that audit proves is worked on in the next.

Covered: a fix is kept where it closes a proven hole and no right answer's score changes.
Not covered: what only the author can decide; it stays open, with what to change by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from unhack.audit.hardening.copy import HardenedCopy
from unhack.audit.hardening.edits import Change, apply
from unhack.audit.hardening.fixes.containment import FEW_WORDS
from unhack.audit.hardening.fixes.credit import COMPARED, NO_CREDIT
from unhack.audit.hardening.fixes.fixes import fixes
from unhack.audit.hardening.harden import advice, changes
from unhack.audit.hardening.trial import Hole, Trial, TrialOutcome
from unhack.audit.report.power import Power
from unhack.audit.report.report import AuditReport
from unhack.audit.subject import Source, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.core.errors import UsageError
from unhack.core.finding import Finding, FindingKind

_ROUNDS = 4
_MOST_TRIALS, _MOST_TOGETHER = 260, 16
"""Of single fixes in a round; of fixes that are tried together."""
_REFUSED = 3
"""Most fixes that are told with the reason why they were taken back."""


@dataclass(frozen=True, slots=True)
class CopyAudits:
    """The audits that a fixed copy is put through."""

    again: Callable[[Subject], AuditReport]
    """The audit of the original, of the copy."""
    power: Callable[[Subject, AuditReport], Power] | None = None
    """Its power on the copy, whose report it is given; None where it is not to be compared."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A fix that was tried and taken back."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class HardeningResult:
    """The outcome of hardening a verifier."""

    target: str
    """The copy's name for an audit; empty where there is none."""
    kept: tuple[str, ...]
    """The changes, in words."""
    refused: tuple[Refused, ...]
    report: AuditReport | None
    """The last audit of the copy."""
    closed: tuple[str, ...]
    """Flaws of the original whose witness and strategy earn nothing any more."""
    left: tuple[str, ...]
    """Flaws that are still proven, of the copy or of the original where there is no copy."""
    remarks: tuple[str, ...] = ()
    """Changes that are left to the author."""
    patch: str = ""
    """The changes as a unified diff; empty where there are none."""
    power: Power | None = None
    """The audit's power on the copy, where it was measured."""
    power_note: str = ""
    """Its comparison with that on the original, or the reason why there is none."""

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain JSON values."""
        return {
            "target": self.target,
            "changes": list(self.kept),
            "refused": [{"change": one.what, "why": one.why} for one in self.refused],
            "closed": list(self.closed),
            "left": list(self.left),
            "remarks": list(self.remarks),
            "diff": self.patch,
            "power": self.power and self.power.to_json(),
            "power_note": self.power_note,
            "report": self.report and self.report.to_json(),
        }


@dataclass
class _Work:
    """The state of hardening one verifier."""

    copy: HardenedCopy
    trial: Trial
    text: str
    holes: list[Hole] = field(default_factory=list[Hole])
    kept: list[str] = field(default_factory=list[str])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    open: frozenset[int] = frozenset()

    def run(self, text: str, *, alone: bool = True, if_closing: bool = False) -> TrialOutcome:
        """The trial of a text; right completions are left out where it closes nothing anyway."""
        before = self.open if if_closing else None
        try:
            copy = self.copy.write(text)
            return self.trial.run(copy, self.holes, alone=alone, open_before=before)
        except (UsageError, SyntaxError) as error:
            return TrialOutcome((), frozenset(range(len(self.holes))), str(error))

    def accepts(self, text: str, what: Sequence[str]) -> bool:
        """Take a text that closes a hole and loses nothing; every completion is scored alone."""
        outcome = self.run(text)
        if not outcome.keeps or not outcome.open < self.open:
            return False
        self.text, self.open = text, outcome.open
        self.kept += what
        for one in what:
            self.refused.pop(one, None)
        return True


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
) -> HardeningResult:
    """Make the copy as strict as it can be without changing a right answer's score.

    With `power_of`, and where `report` has a power, a round after which the audit would break fewer
    weakened copies is undone. Where nothing could be changed, the copy's place is left as it was
    found.
    Raises SandboxUnavailableError; UsageError where the original cannot be loaded.
    """
    work = _Work(copy, Trial.of(copy.original), copy.source.text)
    _add(work, report.findings)
    rounds = [_Round(work.text, (), work.open, copy.settings, None)]
    if not work.trial.right:
        work.refused["every fix"] = (
            "the verifier rewards no correct completion, so no fix can be checked"
        )
    for _ in range(_ROUNDS if work.holes and work.trial.right else 0):
        before = len(work.kept)
        _fix(work)
        if work.open:
            _seal(work)
        if len(work.kept) == before:
            break
        again = audit_again(copy.write(work.text))
        rounds.append(_Round(work.text, tuple(work.kept), work.open, copy.settings, again))
        if not again.findings:
            break
        _add(work, again.findings)
    compared = _hold_power(work, report, rounds, power_of)
    return _outcome(work, report, rounds[-1].report, compared)


def _hold_power(
    work: _Work,
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


def _outcome(
    work: _Work,
    report: AuditReport,
    again: AuditReport | None,
    compared: tuple[Power | None, str],
) -> HardeningResult:
    last = report if again is None else again
    rewarded = {one.attack for one in last.findings if one.kind is FindingKind.HACK}
    still = {(work.holes[at].flaw, work.holes[at].kind) for at in work.open}
    closed = [
        one.flaw
        for one in report.findings
        if work.kept and (one.flaw, one.kind) not in still and one.attack not in rewarded
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
    )


def _add(work: _Work, findings: Sequence[Finding]) -> None:
    known = {(hole.problem, hole.text) for hole in work.holes}
    fresh = [one for one in work.trial.holes(findings) if (one.problem, one.text) not in known]
    work.open |= {len(work.holes) + at for at in range(len(fresh))}
    work.holes += fresh


def _fix(work: _Work) -> None:
    """Take single fixes, those that close most first; then those together that lose nothing."""
    tried: set[Change] = set()
    harmless: list[Change] = []
    began = work.text
    while work.open and len(tried) < _MOST_TRIALS:
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
        if not any(_take(work, change) for _, change in ranked):
            break
    if work.open and work.text == began:
        _together(work, harmless)


def _left_open(work: _Work, change: Change) -> frozenset[int] | None:
    """The holes that a fix leaves open; None where it may not be taken."""
    text, done = apply(work.text, [change])
    if not done:
        return None
    outcome = work.run(text, alone=False, if_closing=True)
    if outcome.keeps:
        still = outcome.open & work.open
        taken = _resort(change) == 0 or _closes_hack(work, still)
        return still if taken or still == work.open else None
    if _fits(work, change) and _resort(change) == 0:
        work.refused.setdefault(change.what, outcome.complaint)
    return None


def _closes_hack(work: _Work, still: frozenset[int]) -> bool:
    """Tell whether a hole of a hack is closed: for a false accept alone nothing is taken away or
    compared anew, since right answers may need it in forms that no row shows."""
    return any(work.holes[at].kind is FindingKind.HACK for at in work.open - still)


def _take(work: _Work, change: Change) -> bool:
    text, _ = apply(work.text, [change])
    return work.accepts(text, [change.what])


def _together(work: _Work, harmless: Sequence[Change]) -> None:
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


def _candidates(work: _Work) -> list[Change]:
    """Fixes of the present text, those that fit a finding first, then by their size; those that
    compare anew or take something away come last."""
    now = work.copy.source
    source = Source(now.path, work.text, now.first_line, now.entry)
    found = [*changes(source), *fixes(source)]
    sizes = {one: sum(len(edit.text) for edit in one.edits) for one in found}
    return sorted(found, key=lambda one: (_resort(one), not _fits(work, one), sizes[one]))


def _fits(work: _Work, change: Change) -> bool:
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
    return int(any(word in change.what for word in (COMPARED, FEW_WORDS)))


def _seal(work: _Work) -> None:
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
