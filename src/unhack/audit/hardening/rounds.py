"""`harden`: fixes tried one by one, each kept only while every right answer keeps its reward.

    mended = harden(copy, report, audit_again=lambda subject: audit(subject, options=options))

First the lines that the proven flaws point at, then what closes a witness elsewhere; failing that,
a gate that reads the final answer strictly, or the sealed judge. The copy is audited after each
round, and what that audit proves is worked on in the next.

Covered: a fix that rejects a right answer is taken back, and said with its reason.
Not covered: what only the author can decide; it stays open and is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from unhack.audit.attacks.registry import all_attacks
from unhack.audit.hardening.copy import HardenedCopy
from unhack.audit.hardening.edits import Change, apply
from unhack.audit.hardening.gate import gate
from unhack.audit.hardening.harden import advice, changes
from unhack.audit.hardening.trial import Hole, Trial, TrialOutcome
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.report.report import AuditReport
from unhack.audit.subject import AuditProblem, Source, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.core.errors import UsageError
from unhack.core.finding import Finding

_ROUNDS = 3
_MAX_TRIALS = 24
"""Of single edits in a round."""
_CASES = 60
"""That the sealed judge gets, those of the original included."""

_FORMS = (
    "the gate knows the forms of your correct completions only; add other forms that you accept to "
    "`correct`, and harden again"
)


@dataclass(frozen=True, slots=True)
class Refused:
    """A fix that was tried and taken back."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Mended:
    """The outcome of hardening a verifier."""

    target: str
    """The copy's name for an audit; empty where there is none."""
    kept: tuple[str, ...]
    """The changes, in words."""
    refused: tuple[Refused, ...]
    report: AuditReport | None
    """The last audit of the copy."""
    closed: tuple[str, ...]
    """Flaws of the original whose witness earns nothing any more."""
    left: tuple[str, ...]
    """Flaws that are still proven, of the copy or of the original where there is no copy."""
    remarks: tuple[str, ...] = ()
    """Advice to the author beyond changes of the source."""

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain JSON values."""
        return {
            "target": self.target,
            "changes": list(self.kept),
            "refused": [{"change": one.what, "why": one.why} for one in self.refused],
            "closed": list(self.closed),
            "left": list(self.left),
            "remarks": list(self.remarks),
            "report": self.report and self.report.to_json(),
        }


@dataclass
class _Work:
    """The state of hardening one verifier."""

    copy: HardenedCopy
    trial: Trial
    text: str
    behind: str = ""
    """The text appended to the source: the gate."""
    holes: list[Hole] = field(default_factory=list[Hole])
    wanted: set[str] = field(default_factory=set[str])
    kept: list[str] = field(default_factory=list[str])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    open: frozenset[int] = frozenset()
    tried: set[str] = field(default_factory=set[str])

    def run(self, text: str, behind: str = "") -> TrialOutcome:
        """The trial of a text."""
        try:
            subject = self.copy.write(text + (behind or self.behind))
            return self.trial.run(subject, self.holes)
        except (UsageError, SyntaxError) as error:
            return TrialOutcome((), frozenset(range(len(self.holes))), str(error))

    def take(self, text: str, done: Sequence[str], outcome: TrialOutcome) -> None:
        """Keep changes that lose nothing."""
        self.text, self.open = text, outcome.open
        self.kept += [one for one in done if one not in self.kept]
        for one in done:
            self.refused.pop(one, None)


def harden(
    copy: HardenedCopy, report: AuditReport, *, audit_again: Callable[[Subject], AuditReport]
) -> Mended:
    """Make the copy as strict as it can be without losing a right answer.

    Where nothing could be changed, the copy's place is left as it was found.
    Raises SandboxUnavailableError; UsageError where the original cannot be loaded.
    """
    work = _Work(copy, Trial.of(copy.original), copy.source.text)
    _add(work, report.findings)
    again: AuditReport | None = None
    if not work.trial.right:
        work.refused["every fix"] = "the verifier rewards no correct completion to hold it to"
    for _ in range(_ROUNDS if work.holes and work.trial.right else 0):
        before = len(work.kept)
        _edits(work)
        if work.open:
            _whole(work)
        if len(work.kept) == before:
            break
        again = audit_again(copy.write(work.text + work.behind))
        if not again.findings:
            break
        _add(work, again.findings)
    return _outcome(work, report, again)


def _outcome(work: _Work, report: AuditReport, again: AuditReport | None) -> Mended:
    first = work.holes[: len(report.findings)]
    if work.kept:
        subject = work.copy.write(work.text + work.behind)
        work.open = work.trial.run(subject, work.holes).open
        name = work.copy.named
    else:
        work.copy.discard()
        name = ""
    closed = [hole.flaw for at, hole in enumerate(first) if work.kept and at not in work.open]
    last = report if again is None else again
    remarks: list[str] = [] if work.copy.settings else list(advice(work.copy.source))
    if work.behind:
        remarks.append(_FORMS)
    return Mended(
        target=name,
        kept=tuple(work.kept),
        refused=tuple(Refused(what, why) for what, why in work.refused.items()),
        report=again,
        closed=tuple(closed),
        left=tuple(finding.flaw for finding in last.findings),
        remarks=tuple(remarks),
    )


def _add(work: _Work, findings: Sequence[Finding]) -> None:
    known = {(hole.problem, hole.text) for hole in work.holes}
    fresh = [one for one in work.trial.holes(findings) if (one.problem, one.text) not in known]
    work.open |= {len(work.holes) + at for at in range(len(fresh))}
    work.holes += fresh
    flaws = {attack.name: attack.flaw for attack in all_attacks()}
    for finding in findings:
        names = (finding.attack, *finding.also)
        work.wanted |= {finding.flaw, *(flaws[name] for name in names if name in flaws)}


def _edits(work: _Work) -> None:
    """Edits of the lines that a proven flaw points at; others only where they close a witness."""
    called_for = [one for one in _changes(work) if one.flaw in work.wanted]
    if called_for:
        text, done = apply(work.text, called_for)
        outcome = work.run(text)
        if done and outcome.keeps:
            work.tried |= {one.what for one in done}
            work.take(text, [one.what for one in done], outcome)
    for _ in range(_MAX_TRIALS):
        waiting = [one for one in _changes(work) if one.what not in work.tried]
        waiting.sort(key=lambda one: one.flaw not in work.wanted)
        if not waiting or (waiting[0].flaw not in work.wanted and not work.open):
            return
        _one(work, waiting[0])


def _changes(work: _Work) -> list[Change]:
    now = work.copy.source
    source = Source(now.path, work.text, now.first_line, now.entry)
    return [one for one in changes(source) if one.what not in work.tried]


def _one(work: _Work, change: Change) -> None:
    work.tried.add(change.what)
    text, done = apply(work.text, [change])
    if not done:
        return
    outcome = work.run(text)
    wanted = change.flaw in work.wanted
    if outcome.keeps and (wanted or outcome.open < work.open):
        work.take(text, [change.what], outcome)
    elif not outcome.keeps and wanted:
        work.refused[change.what] = outcome.complaint


def _whole(work: _Work) -> None:
    """Apply the fixes that concern no line: a gate for texts, the sealed judge for code."""
    original = work.copy.original
    if not isinstance(original, FunctionSubject):
        return
    if original.script is None:
        _gate(work, original)
        return
    problem = original.problems[0]
    if not work.copy.settings:
        _seal(work, "the script runs in the sealed judge, the solution elsewhere", problem)
    if work.open and problem.entry_point and problem.calls and not problem.checker:
        what = "sealed judge with more cases, answered by the reference, instead of the script"
        _seal(work, what, problem, with_cases=True)


def _gate(work: _Work, original: FunctionSubject) -> None:
    if work.behind or "gate" in work.tried:
        return
    work.tried.add("gate")
    found = gate(original, work.trial.texts())
    if isinstance(found, str):
        work.refused["a gate that reads one final answer"] = found
        return
    outcome = work.run(work.text, found.text)
    if not outcome.keeps:
        work.refused[found.what] = outcome.complaint
    elif outcome.open < work.open:
        work.behind = found.text
        work.take(work.text, [found.what], outcome)


def _seal(work: _Work, what: str, problem: AuditProblem, *, with_cases: bool = False) -> None:
    if what in work.tried:
        return
    work.tried.add(what)
    before = work.copy.settings
    oracle = ProgramOracle(work.copy.backend)
    cases = oracle.reference_cases(problem)[:_CASES] if with_cases else None
    if cases == []:
        return
    work.copy.seal(problem, cases=cases)
    outcome = work.run(work.text)
    if outcome.keeps and outcome.open < work.open:
        work.take(work.text, [what], outcome)
        return
    work.copy.unseal(before)
    if not outcome.keeps:
        work.refused[what] = outcome.complaint
