"""`audit`: everything that is tried against one verifier, in order, within a budget.

    report = audit(load_subject("reward.py:score", problems=Path("rows.jsonl")))
    report.conclusion, report.findings

Covered: tiers 1 (heuristics), 2 (suspicions about the source), 3 (search with scores alone),
4 (mutants), 5 (reinforcement learning) where `AuditOptions.discoverer` brings it.
Not covered: the training of tier 5 itself; `unhack.training.discovery` does it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unhack.audit.attack import Claim, Knowledge, Payload
from unhack.audit.checks import behaviour
from unhack.audit.options import AuditOptions
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.examples import examples_of
from unhack.audit.oracle.oracle import Oracle, TextOracle
from unhack.audit.oracle.own_oracle import OwnOracle
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.proving.baseline import Baseline, baseline_checks, measure_baselines
from unhack.audit.proving.findings import conclude
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.report.discovery import keep
from unhack.audit.report.report import Area, AuditCheck, AuditReport, Conclusion, HackPair
from unhack.audit.static_analysis.suspicions import constants, suspicions_of
from unhack.audit.subject import AuditProblem, Subject
from unhack.audit.subjects.remarks import typed_answers, unread_fields
from unhack.audit.tiers import TiersRun, run_tiers
from unhack.core.errors import UsageError
from unhack.core.finding import Evidence, Finding, Severity
from unhack.sandbox.job import Backend

_DEFAULTS = AuditOptions()
_MAX_PROBLEMS = 4
"""Problems that are attacked; the others only take part in the baseline."""
_FOR_TIERS = 0.75
"""Of the seconds; the rest is for minimising, confirming and the checks of behaviour."""
_BLIND = (
    "no input is known on which a program could be shown to be wrong: "
    "give `calls` or `correct` programs with type hints"
)
_MIN_CALL_S, _PATIENCE = 1.0, 5.0
"""Time limit of a hostile call: an honest one's time, times this; at least a second."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an audit."""

    stage: str
    done: int
    total: int
    findings: int
    """Proofs so far, before they are sorted by cause."""


@dataclass(frozen=True)
class BothOracles:
    """Text answers and programs, each with its own."""

    texts: TextOracle
    programs: ProgramOracle

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        """See `unhack.audit.oracle.oracle.Oracle`."""
        if payload.claim is Claim.PROGRAM:
            return self.programs.why_wrong(problem, payload)
        return self.texts.why_wrong(problem, payload)


def audit(
    subject: Subject,
    *,
    options: AuditOptions = _DEFAULTS,
    backend: Backend | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> AuditReport:
    """Try to be rewarded for something wrong.

    Raises UsageError for a subject without problems or a folder of another subject, StoreError for
    a folder in use, and SandboxUnavailableError where the host cannot isolate. What the verifier
    does is never an error.
    """
    if not subject.problems:
        raise UsageError(f"{subject.name}: there are no problems to audit it on")
    with ScoreJournal(subject, options.run_folder) as journal:
        return _run(journal, options=options, backend=backend, on_progress=on_progress)


def _run(
    journal: ScoreJournal,
    *,
    options: AuditOptions,
    backend: Backend | None,
    on_progress: Callable[[Progress], None] | None,
) -> AuditReport:
    started = time.monotonic()
    subject = journal.subject
    step = _reporter(on_progress)
    step("baseline", 0, 1, 0)
    baselines = measure_baselines(journal, subject.problems)
    journal.subject = subject.with_limit(_call_limit(journal.slowest))
    oracle = _oracle(options, backend)
    budget = Budget(options.calls - journal.calls, started + _FOR_TIERS * options.seconds)
    prover = Prover(journal, oracle, budget, step, options.stop_at_first, options.thorough)
    suspicions = suspicions_of(subject.source) if subject.source is not None else ()
    checks = baseline_checks(baselines)
    usable = [baseline for baseline in baselines if baseline.threshold is not None]
    ran = TiersRun()
    if usable and subject.sees_answer:
        chosen = usable if options.thorough else _choose_varied(usable)
        targets = [(baseline, _knowledge(subject, baseline.problem)) for baseline in chosen]
        ran = run_tiers(prover, targets, options=options)
    if ran.discovery is not None and options.run_folder is not None:
        keep(ran.discovery, options.run_folder)
    step("findings", 0, 1, len(prover.proofs))
    budget.until = started + options.seconds
    budget.calls = max(budget.calls, options.calls // 8)
    findings = conclude(prover, suspicions, subject.source.path if subject.source else "")
    seen = behaviour.examine(prover, baselines, thorough=options.thorough)
    checks += seen.checks
    findings = sorted([*findings, *seen.findings], key=lambda one: [*Severity].index(one.severity))
    if not subject.sees_answer:
        text = "it is not given the answer, so any text of the right form is rewarded"
        checks.append(AuditCheck(Area.SIGNAL, "a reward of form", None, text))
    conclusion, why = _conclusion(subject, baselines, prover, findings=findings)
    return AuditReport(
        subject=subject.name,
        conclusion=conclusion,
        why=why,
        findings=tuple(findings),
        checks=tuple(checks),
        tried=prover.tried,
        pairs=tuple(_pairs(subject.problems, findings)),
        tiers=options.tiers,
        skipped=ran.skipped,
        problems=len(subject.problems),
        calls=journal.calls,
        seconds=time.monotonic() - started,
        mutation_score=ran.mutation_score,
        discovery=ran.discovery,
    )


def _call_limit(slowest_s: float) -> float:
    """Seconds that a call may take, when the slowest honest one took so long."""
    return min(15.0, max(_MIN_CALL_S, _PATIENCE * slowest_s))


def _reporter(on_progress: Callable[[Progress], None] | None) -> Callable[..., None]:
    def step(stage: str, done: int, total: int, findings: int) -> None:
        if on_progress is not None:
            on_progress(Progress(stage, done, total, findings))

    return step


def _oracle(options: AuditOptions, backend: Backend | None) -> Oracle:
    if options.oracle is not None:
        return OwnOracle(options.oracle, backend)
    return BothOracles(TextOracle(backend), ProgramOracle(backend, options.seed))


def _choose_varied(baselines: Sequence[Baseline]) -> list[Baseline]:
    """A few problems, with answers of as many kinds as there are."""
    kinds: dict[str, list[Baseline]] = {}
    for baseline in baselines:
        answer = baseline.problem.answer or ""
        kind = "".join(sorted({"0" if c.isdigit() else "a" if c.isalpha() else c for c in answer}))
        kinds.setdefault(kind, []).append(baseline)
    found: list[Baseline] = []
    while len(found) < min(_MAX_PROBLEMS, len(baselines)):
        for group in kinds.values():
            if group and len(found) < _MAX_PROBLEMS:
                found.append(group.pop(0))
    return found


def _knowledge(subject: Subject, problem: AuditProblem) -> Knowledge:
    return Knowledge(
        problem,
        source=subject.source,
        wrong_answers=wrong_answers(problem.answer, prompt=problem.prompt)
        if problem.answer is not None
        else (),
        examples=examples_of(problem),
        constants=constants(subject.source) if subject.source is not None else (),
    )


def _conclusion(
    subject: Subject, baselines: Sequence[Baseline], prover: Prover, *, findings: Sequence[Finding]
) -> tuple[Conclusion, str]:
    if findings:
        worst = findings[0].severity.value
        count = f"{len(findings)} exploit{'s' * (len(findings) != 1)} proven"
        worst = f"severity: {worst}" if len(findings) == 1 else f"highest severity: {worst}"
        return Conclusion.EXPLOITABLE, f"{count} ({worst})"
    if not subject.sees_answer:
        text = "the verifier ignores the expected answer, so wrong answers cannot be proven"
        return Conclusion.UNPROVEN, text
    if all(baseline.threshold is None for baseline in baselines):
        return Conclusion.UNPROVEN, _why_nothing_passes(subject, baselines)
    tried = sum(record.payloads for record in prover.tried)
    if not tried:
        return (
            Conclusion.UNPROVEN,
            f"nothing was tried: {prover.budget.spent or 'no attack applies'}",
        )
    if prover.unproven and not any(record.proven for record in prover.tried):
        text = f"{len(prover.unproven)} of {tried} payloads pass"
        if all(_is_blind(prover.oracle, problem) for _, _, problem in prover.unproven):
            return Conclusion.UNPROVEN, f"{text}; {_BLIND}"
        return Conclusion.SOUND, f"{text}, none could be shown to be wrong"
    return Conclusion.SOUND, f"none of {tried} payloads passes and is wrong"


def _why_nothing_passes(subject: Subject, baselines: Sequence[Baseline]) -> str:
    """The reason why no correct completion is rewarded, an exception before all else."""
    rejected = [score for baseline in baselines for _, score in baseline.rejected]
    raised = [score.reason or score.trouble for score in rejected if score.value is None]
    parts: list[str] = []
    if raised and len(raised) == len(rejected):
        parts.append(f"the verifier breaks on every correct completion: {raised[0]}")
        parts += typed_answers(subject)
    elif raised:
        parts.append(f"no correct completion is rewarded; one breaks the verifier: {raised[0]}")
    else:
        parts.append("no correct completion is rewarded, so nothing can pass")
    return "; ".join([*parts, *unread_fields(subject)])


def _is_blind(oracle: Oracle, problem: AuditProblem) -> bool:
    """Tell whether the oracle knows no input on which to compare a program with correct ones."""
    return isinstance(oracle, BothOracles) and problem.is_code and oracle.programs.is_blind(problem)


def _pairs(problems: Sequence[AuditProblem], findings: Sequence[Finding]) -> list[HackPair]:
    """Each finding beside an honest answer to the same problem."""
    known = {problem.id: problem for problem in problems}
    return [
        HackPair(
            finding.problem,
            known[finding.problem].prompt,
            finding.witness,
            known[finding.problem].correct[0],
            finding.flaw,
        )
        for finding in findings
        if known[finding.problem].correct
    ]
