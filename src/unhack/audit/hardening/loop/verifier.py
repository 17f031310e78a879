"""Hacker, fixer and solver in turn on a verifier of single completions.

    task = harden_verifier(subject, "rewards.py:score", loop=loop)

The hacker is the audit, and an agent or a model beside its own strategies; the fixer the rules of
`audit.hardening`, then the agent; the solver every right completion with its other forms.

Covered: at most so many rounds; a patch stays only where the last audit of the copy ran to its end
and proves no hack; siblings take it where their own right completions keep their scores.
Not covered: holes that only the author can decide on.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from unhack.audit.hardening.allowance import USED_UP, Allowance
from unhack.audit.hardening.copy import HardenedCopy, copy_siblings
from unhack.audit.hardening.loop.agent import LoopBudget, LoopWorker
from unhack.audit.hardening.loop.record import (
    ASK_AGENT,
    FoundHole,
    HardenedTask,
    LoopEnd,
    LoopRound,
    SiblingTask,
    TriedPatch,
)
from unhack.audit.hardening.loop.sibling_patch import carried
from unhack.audit.hardening.result import HardeningResult
from unhack.audit.hardening.rounds import Fixer, HardeningSteps, harden
from unhack.audit.hardening.trial import COSTS_RIGHT, Trial
from unhack.audit.hardening.work import HardeningWork
from unhack.audit.language_models.attacker import ModelAttacker
from unhack.audit.options import AuditOptions
from unhack.audit.report.plan import PartEnd
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.report.wording import CONCLUSIONS
from unhack.audit.subject import Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.core.errors import UnhackError
from unhack.core.finding import Finding, FindingKind
from unhack.sandbox.job import Backend

_FILE = "verifier.py"
_SHOWN = 12
_ORDER = f"""You repair a reward function. {_FILE} holds it, {{entry}} is called. holes.json lists
wrong completions that it rewards, right.json some right ones, each with its score.

Change {_FILE} so that the wrong ones, and others by the same trick, are rewarded no more, and every
right completion, in whatever form it is rewarded now, keeps its score. Do not compare with the
texts of single rows: a change that names one is refused. Keep the names and the signature.
"""


@dataclass(frozen=True, slots=True)
class VerifierLoop:
    """The parts of the loop on verifiers."""

    options: AuditOptions
    rounds: int
    audited: Callable[[Subject, AuditOptions], AuditReport]
    backend: Backend | None = None
    hacker: Callable[[], ModelAttacker | None] = lambda: None
    """Makes a fresh one for each audit."""
    worker: LoopWorker | None = None
    """The agent as fixer."""
    siblings: Sequence[tuple[str, Subject]] = ()
    budget: LoopBudget = field(default_factory=LoopBudget)

    @property
    def hackers(self) -> str:
        """Those who attack, in words."""
        found = self.hacker()
        return "own strategies" + (f", {found.model.name}" if found is not None else "")

    def audit(self, subject: Subject, options: AuditOptions) -> AuditReport:
        """The audit of the hacker's turn."""
        return self.audited(subject, replace(options, attacker=self.hacker()))


def harden_verifier(subject: Subject, target: str, *, loop: VerifierLoop) -> HardenedTask:
    """Play the rounds. Raises what an audit raises, and SandboxUnavailableError."""
    began, options = time.monotonic(), loop.options
    made = subject.runs.calls if isinstance(subject, FunctionSubject) else 0
    report = loop.audit(subject, replace(options, calls_made=made))
    hacks = _hacks(report.findings)
    if not hacks:
        end, why = _end_of(report, loop)
        rounds = (LoopRound(loop.hackers, (), said=CONCLUSIONS[report.conclusion]),)
        return HardenedTask(
            target, end, why, rounds, calls=report.calls, seconds=time.monotonic() - began,
            cost_usd=loop.budget.spent_usd,
        )  # fmt: skip
    allowance = Allowance.of(report, options)
    parts = 1 + loop.rounds
    allowance.calls, allowance.until = parts * options.calls, began + (1 + parts) * options.seconds
    given = allowance.calls
    with tempfile.TemporaryDirectory(prefix="unhack-harden-") as folder:
        place = Path(folder) / ("fixed" if Path(target).is_dir() else "fixed.py")
        copy_siblings(subject, Path(folder))
        copy = HardenedCopy(subject, target, place, loop.backend)
        fixer = None if loop.worker is None else _fixer(loop.worker)
        result = harden(
            copy, report, allowance=allowance, steps=HardeningSteps(loop.rounds, fixer),
            audit_again=lambda made: loop.audit(made, allowance.bound(options)),
        )  # fmt: skip
        end, why = _end(result, loop, allowance)
        text = result.text if end is LoopEnd.CLOSED else ""
    siblings = tuple(
        _carried(name, one, subject, text, hacks, loop) for name, one in loop.siblings if text
    )
    return HardenedTask(
        target, end, why, tuple(_rounds(report, result, loop)),
        diff=result.patch if end is LoopEnd.CLOSED else "", siblings=siblings,
        calls=report.calls + int(given - allowance.calls), seconds=time.monotonic() - began,
        cost_usd=loop.budget.spent_usd,
    )  # fmt: skip


def _hacks(findings: Sequence[Finding]) -> list[Finding]:
    return [one for one in findings if one.kind is FindingKind.HACK]


def _end_of(report: AuditReport, loop: VerifierLoop) -> tuple[LoopEnd, str]:
    """The end by an audit that proves no hack."""
    if loop.worker is not None and loop.worker.failure:
        return LoopEnd.AGENT_FAILED, f"{loop.worker.name}: {loop.worker.failure}"
    broken = [part for part in report.plan if part.end is PartEnd.FAILED]
    if broken and report.conclusion is Conclusion.INCOMPLETE and not loop.budget.over:
        return LoopEnd.UNDECIDED, f"{broken[0].name} failed: {broken[0].why}"
    ends = {
        Conclusion.SOUND: LoopEnd.NO_HOLE,
        Conclusion.INCOMPLETE: LoopEnd.BUDGET,
        Conclusion.UNPROVEN: LoopEnd.UNDECIDED,
    }
    return ends[report.conclusion], report.why


def _end(result: HardeningResult, loop: VerifierLoop, allowance: Allowance) -> tuple[LoopEnd, str]:
    """The end after fixes were tried."""
    worker = loop.worker
    if result.kept and result.report is not None:
        return LoopEnd.CLOSED, f"{', '.join(result.closed)}: {result.report.why}"
    if worker is not None and worker.failure:
        return LoopEnd.AGENT_FAILED, f"{worker.name}: {worker.failure}"
    last = result.rounds[-1] if result.rounds else None
    over = [one.why for one in result.refused if one.why.endswith(USED_UP)]
    if allowance.spent or over:
        return LoopEnd.BUDGET, allowance.spent or over[0]
    if last is not None and last.report is not None:
        if not _hacks(last.report.findings) and last.report.is_undecided:
            end, why = _end_of(last.report, loop)
            return end, f"the audit of the patched copy: {why}"
        flaws = ", ".join(one.flaw for one in last.report.findings)
        return LoopEnd.NOT_CLOSED, f"{flaws} after {len(result.rounds)} rounds, all that are played"
    refused = [one for one in result.refused if one.why.startswith(COSTS_RIGHT)]
    if refused:
        return LoopEnd.SOLVER_REFUSED, f"{refused[0].what}: {refused[0].why}"
    others = "; ".join(f"{one.what}: {one.why}" for one in result.refused)
    if worker is not None:
        return LoopEnd.NOT_CLOSED, others or f"no rule fits, and {worker.name} left no patch"
    return LoopEnd.NOT_CLOSED, f"{ASK_AGENT}" + (f" ({others})" if others else "")


def _fixer(worker: LoopWorker) -> Fixer:
    """The worker as a fixer."""

    def fix(work: HardeningWork, found: Sequence[Finding]) -> tuple[str, str] | None:
        problems = work.trial.problems
        holes = [{"prompt": problems[one.problem].prompt, "completion": one.text,
                  "score": one.score, "flaw": one.flaw} for one in work.holes]  # fmt: skip
        # Half of the rows: the other half tells whether a fix goes by what was shown.
        right = [{"prompt": problems[one.problem].prompt, "completion": one.text,
                  "score": one.score} for one in work.trial.right[::2]]  # fmt: skip
        files = {
            _FILE: work.text.encode(),
            "holes.json": json.dumps(holes[:_SHOWN], indent=1).encode(),
            "right.json": json.dumps(right[:_SHOWN], indent=1).encode(),
        }
        order = _ORDER.format(entry=work.copy.source.entry or "its function")
        left = work.trial.allowance.late - time.monotonic()
        data = worker.work(order, files, wanted=(_FILE,), within_s=left).get(_FILE)
        return None if data is None else (data.decode(errors="replace"), worker.name)

    return fix


def _rounds(report: AuditReport, result: HardeningResult, loop: VerifierLoop) -> list[LoopRound]:
    found: list[LoopRound] = []
    said = CONCLUSIONS[report.conclusion]
    solver = f"{result.right} right completions and forms keep their scores"
    for one in result.rounds:
        kept = [TriedPatch(what, True, solver) for what in one.kept]
        if kept:
            kept[-1] = replace(kept[-1], diff=one.patch)
        refused = [TriedPatch(each.what, False, each.why) for each in one.refused]
        holes = tuple(map(FoundHole.of, one.found))
        found.append(LoopRound(loop.hackers, holes, (*kept, *refused), said))
        said = CONCLUSIONS[one.report.conclusion] if one.report is not None else said
    last = result.rounds[-1].report if result.rounds else None
    if last is not None:
        found.append(LoopRound(loop.hackers, tuple(map(FoundHole.of, last.findings)), said=said))
    if not result.rounds:
        refused = [TriedPatch(each.what, False, each.why) for each in result.refused]
        holes = tuple(map(FoundHole.of, _hacks(report.findings)))
        found.append(LoopRound(loop.hackers, holes, tuple(refused), said))
    return found


def _carried(
    name: str, sibling: Subject, subject: Subject, text: str, hacks: Sequence[Finding],
    loop: VerifierLoop,
) -> SiblingTask:  # fmt: skip
    """The patch on a sibling: kept where it has the hole, loses it, and all right keeps its
    score."""
    if sibling.source is None or subject.source is None:
        return SiblingTask(name, False, "it has no source of its own")
    made = carried(subject.source.text, text, sibling.source.text)
    if made is None:
        return SiblingTask(name, False, "the lines of the patch do not stand in it")
    with tempfile.TemporaryDirectory(prefix="unhack-sibling-") as folder:
        copy_siblings(sibling, Path(folder))
        copy = HardenedCopy(sibling, name, Path(folder) / "fixed.py", loop.backend)
        try:
            trial = Trial.of(sibling, backend=loop.backend)
            holes = trial.holes(hacks)
            before = trial.run(sibling, holes).open
            if not before:
                return SiblingTask(name, False, "it does not have the hole")
            if not trial.right:
                return SiblingTask(name, False, "it rewards no right completion")
            after = trial.run(copy.write(made), [*holes, *trial.variants(hacks)])
        except (UnhackError, SyntaxError) as error:
            return SiblingTask(name, False, f"it could not be tried: {error}")
        if not after.keeps:
            return SiblingTask(name, False, after.complaint)
        if after.open:
            return SiblingTask(name, False, "the hole stays open")
        why = f"closed; {len(trial.right)} right completions and forms keep their scores"
        return SiblingTask(name, True, why, copy.patch(made))
