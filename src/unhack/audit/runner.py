"""`audit`: everything that is tried against one verifier, in order, within a budget.

    report = audit(load_subject("reward.py:score", problems=Path("rows.jsonl")))
    report.conclusion, report.findings

Covered: tiers 1 (heuristics), 2 (suspicions about the source), 3 (search with scores alone),
4 (mutants), 5 (reinforcement learning) where `AuditOptions.discoverer` brings it.
Not covered: the training of tier 5 itself; `unhack.training.discovery` does it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from unhack.audit.attack import Knowledge
from unhack.audit.hardening.diagnosis.causes import CauseTrial
from unhack.audit.hardening.power.measure import AuditedCopy, AuditOfCopy, PowerTrial
from unhack.audit.options import AuditOptions, Tier
from unhack.audit.oracle.both_oracles import BothOracles, is_blind, results_of
from unhack.audit.oracle.oracle import Oracle, TextOracle
from unhack.audit.oracle.own_oracle import OwnOracle
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.proving.baseline import (
    FULL_REWARD,
    Baseline,
    baseline_checks,
    choose_varied,
    measure_baselines,
    some_known,
    with_full_reward,
)
from unhack.audit.proving.checks import behaviour
from unhack.audit.proving.conclusion import conclude_audit, last_parts, of_whole_plan
from unhack.audit.proving.cpu import CpuAllowance
from unhack.audit.proving.findings import conclude
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.report.discovery import CurvePoint, keep
from unhack.audit.report.kept import keep_report
from unhack.audit.report.plan import PartEnd, PlanPart
from unhack.audit.report.power import Power
from unhack.audit.report.report import Area, AuditCheck, AuditReport, HackPair
from unhack.audit.report.wording import by_kind
from unhack.audit.search.strategies.search import HackSearch
from unhack.audit.search.strategies.strategy import known_of
from unhack.audit.static_analysis.suspicions import longest_timeout, suspicions_of
from unhack.audit.subject import AuditProblem, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.remarks import stubbed, takes_row, ungiven_columns
from unhack.audit.tiers import TiersRun, run_tiers
from unhack.core.errors import UsageError
from unhack.core.finding import Finding, Severity
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.job import Backend
from unhack.sandbox.pool.pool import shared_pool

_DEFAULTS = AuditOptions()
_MAX_PROBLEMS = 4
"""Problems that are attacked; the others only take part in the baseline."""
_FOR_TIERS = 0.75
"""Of the seconds; the rest is for minimising, confirming and the checks of behaviour."""
_FOR_CHECKS = 8
"""One in so many calls is kept for them."""
_FOR_BASELINE = 0.5
"""Of the seconds, at most."""
_FOR_OTHERS, _RUNS_OF_ONE = 0.1, 3
"""Of the seconds, for problems that are not attacked; a worker's runs for the baseline of one."""
_FOR_CAUSES = 0.5
"""Of those that are left then, for finding the causes."""
_MIN_CALL_S, _MAX_CALL_S, _PATIENCE = 1.0, 15.0, 5.0
"""Time limit of a hostile call: an honest one's time, times this; at least a second."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an audit."""

    stage: str
    done: int
    total: int
    findings: int
    """Proofs so far, before they are sorted by cause."""
    point: CurvePoint | None = None
    """The update of tier 5 that ended just now; None for all other news."""
    best: str = ""
    """The best-rewarded completion of tier 5 although it is wrong; empty where none does yet."""


def audit(
    subject: Subject,
    *,
    options: AuditOptions = _DEFAULTS,
    backend: Backend | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> AuditReport:
    """Try to be rewarded for something wrong.

    Raises UsageError for a subject without problems, for one that tier 5 cannot take where that is
    the only tier, and for a folder of another subject, StoreError for a folder in use, and
    SandboxUnavailableError where the host cannot isolate. What the verifier does is never an error.
    """
    if not subject.problems:
        raise UsageError(f"{subject.name}: no problems to audit it on")
    refused = _refusal(subject, options)
    if refused:
        if set(options.tiers) == {Tier.LEARNING}:
            raise UsageError(f"{subject.name}: tier 5 cannot take it: {refused}")
        tiers = tuple(tier for tier in options.tiers if tier != Tier.LEARNING)
        options = replace(options, tiers=tiers)
    with ScoreJournal(subject, options.run_folder) as journal:
        report = _run(journal, options=options, backend=backend, on_progress=on_progress)
    if refused:
        part = PlanPart(Tier.LEARNING, "trained policy", PartEnd.NOT_APPLICABLE, refused)
        report = replace(report, plan=(*report.plan, part))
    if options.power_s > 0.0:
        power = measure_power(
            subject, report, options=options, backend=backend, on_progress=on_progress
        )
        report = replace(report, power=power)
    if options.run_folder is not None:
        keep_report(report, Path(options.run_folder))
    return report


def _refusal(subject: Subject, options: AuditOptions) -> str:
    """The reason why tier 5 cannot take the subject; empty where it can, or is not asked for."""
    if Tier.LEARNING not in options.tiers or options.discoverer is None:
        return ""
    return options.discoverer.refusal(subject, judged=options.oracle is not None)


def measure_power(
    subject: Subject,
    report: AuditReport,
    *,
    options: AuditOptions,
    backend: Backend | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Power:
    """The record of the same audit on weakened copies of the subject, which `report` is about.

    It takes `options.power_s` seconds at most. Raises SandboxUnavailableError.
    """
    one_is_enough = not by_kind(report.findings)[0]
    same = replace(options, run_folder=None, power_s=0.0, calls_made=0, stop_at_first=one_is_enough)

    def audit_copy(copy: Subject, seconds: float) -> AuditedCopy:
        # Nothing is shortened or explained: that it is broken is enough.
        with ScoreJournal(copy, None) as journal:
            journal.try_sharing(())
            ran = _try_tiers(journal, options=replace(same, seconds=seconds), backend=backend)
            is_cut = any(part.is_open for part in ran.tiers.plan)
            return AuditedCopy(ran.prover.proofs, journal.calls, is_cut)

    audit_of_copy = AuditOfCopy(
        audit_copy, options.seconds, backend, options.calls, _reporter(on_progress)
    )
    trial = PowerTrial.of(subject, _oracle(options, backend), partial(_knowledge, subject))
    return trial.measure(audit_of_copy, seconds=options.power_s)


@dataclass(frozen=True, slots=True)
class _Ran:
    """All that came of the tiers."""

    prover: Prover
    baselines: Sequence[Baseline]
    assumed: Sequence[str]
    tiers: TiersRun


def _try_tiers(
    journal: ScoreJournal,
    *,
    options: AuditOptions,
    backend: Backend | None,
    on_progress: Callable[[Progress], None] | None = None,
) -> _Ran:
    """Run the tiers within their part of the seconds and calls."""
    started = time.monotonic()
    timed = DeadlineBackend(backend or shared_pool(), until=started + options.seconds)
    journal.subject = journal.subject.with_backend(timed)
    journal.deadline = timed
    cpu, step = CpuAllowance.of(options.cpu_s), _reporter(on_progress)
    step("baseline", 0, 1, 0)
    journal.most, journal.calls = options.calls, options.calls_made
    with timed.within(started + _FOR_BASELINE * options.seconds):
        baselines = _measure(journal, _FOR_OTHERS * options.seconds)
    oracle, subject = _oracle(options, timed), journal.subject
    # The rest is for confirming what was found, and for the checks: a bound holds for all of it.
    journal.most = options.calls - options.calls // _FOR_CHECKS
    until_checks = started + _FOR_TIERS * options.seconds
    budget = Budget(int(journal.room), until_checks, cpu, lambda: journal.room)
    prover = Prover(journal, oracle, budget, step, options.stop_at_first, options.thorough)
    prover.on_point = _point_reporter(on_progress)
    attacked, assumed = _attacked(subject, baselines, options)
    ran = TiersRun()
    if attacked:
        with timed.within(budget.until):
            ran = _run_tiers(prover, attacked, options=options, backend=timed)
    budget.until = started + options.seconds
    return _Ran(prover, baselines, assumed, ran)


def _run(
    journal: ScoreJournal,
    *,
    options: AuditOptions,
    backend: Backend | None,
    on_progress: Callable[[Progress], None] | None,
) -> AuditReport:
    started = time.monotonic()
    ran = _try_tiers(journal, options=options, backend=backend, on_progress=on_progress)
    prover, baselines, subject = ran.prover, ran.baselines, journal.subject
    if ran.tiers.discovery is not None and options.run_folder is not None:
        keep(ran.tiers.discovery, Path(options.run_folder))
    prover.on_step("findings", 0, 1, len(prover.proofs))
    journal.most = options.calls
    prover.budget.calls = int(journal.room)
    findings, checks = _confirmed(prover, baselines, options)
    plan = [*ran.tiers.plan, *last_parts(prover, baselines, findings)]
    decided = conclude_audit(prover, baselines, findings, partial(is_blind, prover.oracle))
    conclusion, why = of_whole_plan(decided, plan, calls=options.calls, seconds=options.seconds)
    return AuditReport(
        subject=subject.name,
        conclusion=conclusion,
        why=why,
        findings=tuple(findings),
        checks=tuple(checks),
        tried=prover.tried,
        pairs=tuple(_pairs(subject.problems, findings)),
        tiers=options.tiers,
        plan=tuple(plan),
        assumed=tuple(ran.assumed),
        problems=len(baselines) or len(subject.problems),
        of_problems=subject.of_problems,
        calls=journal.calls,
        seconds=time.monotonic() - started,
        mutation_score=ran.tiers.mutation_score,
        discovery=ran.tiers.discovery,
    )


def _attacked(
    subject: Subject, baselines: Sequence[Baseline], options: AuditOptions
) -> tuple[list[Baseline], list[str]]:
    """The baselines that attacks are tried on, none where nothing could be told wrong; and what is
    taken for granted."""
    assumed = list(_assumed(subject))
    if len(baselines) < len(subject.problems):
        text = f"{len(baselines)} of {len(subject.problems)} problems stand for all of them"
        assumed.append(f"{text}: the verifier is slow")
    usable = [baseline for baseline in baselines if baseline.threshold is not None]
    decidable = subject.sees_answer or options.oracle is not None
    unknown = not any(problem.correct for problem in subject.problems)
    if not usable and unknown and (decidable or takes_row(subject)):
        usable = with_full_reward(baselines)
        assumed.append(f"a reward of {FULL_REWARD:g} is a full one: no right completion is known")
        return usable, assumed
    if usable and options.oracle is None and not any(map(_has_answer, subject.problems)):
        assumed.append("no answer is known: only what has no content can be shown to be wrong")
    return usable if decidable else [], assumed


def _has_answer(problem: AuditProblem) -> bool:
    return problem.answer is not None or problem.is_code


def _confirmed(
    prover: Prover, baselines: Sequence[Baseline], options: AuditOptions
) -> tuple[list[Finding], list[AuditCheck]]:
    """The findings, each confirmed and with its cause, and the checks."""
    journal, now = prover.journal, time.monotonic()
    subject = journal.subject
    causes = CauseTrial(journal, prover.budget.until - _FOR_CAUSES * (prover.budget.until - now))
    path = subject.source.path if subject.source else ""
    findings = conclude(prover, suspicions_of(subject.source), path, causes.closings)
    seen = behaviour.examine(prover, baselines, thorough=options.thorough)
    checks = [*baseline_checks(baselines), *seen.checks]
    findings = sorted([*findings, *seen.findings], key=lambda one: [*Severity].index(one.severity))
    if not subject.sees_answer and options.oracle is None:
        text = "it is not given the answer, so any text of the right form is rewarded"
        checks.append(AuditCheck(Area.SIGNAL, "a format reward", None, text))
    return findings, checks


def _assumed(subject: Subject) -> Iterator[str]:
    """Things that nobody said, and the audit took for granted."""
    if isinstance(subject, FunctionSubject):
        yield from (*subject.assumed, *ungiven_columns(subject))
    missing = stubbed(subject)
    if missing:
        yield f"stand-ins for modules that are not installed here: {', '.join(missing)}"


def _measure(journal: ScoreJournal, seconds: float) -> list[Baseline]:
    """The baselines of all problems, of a slow verifier of those that `seconds` suffice for. The
    limit of a call follows from right completions: what else there is may hang."""
    problems = journal.subject.problems
    first, others = problems[:_MAX_PROBLEMS], problems[_MAX_PROBLEMS:]

    def set_limit(slowest_s: float) -> None:
        limit = max(_call_limit(slowest_s), _own_limit(journal.subject))
        journal.subject = journal.subject.with_limit(limit)

    baselines = measure_baselines(journal, first, repeat=not journal.shares, set_limit=set_limit)
    journal.try_sharing(some_known(baselines[:_MAX_PROBLEMS]))
    each = _RUNS_OF_ONE * journal.slowest
    count = min(len(others), int(seconds / each)) if each else len(others)
    some = [others[number * len(others) // count] for number in range(count)]
    return baselines + measure_baselines(journal, some, repeat=False)


def _run_tiers(
    prover: Prover, usable: Sequence[Baseline], *, options: AuditOptions, backend: Backend | None
) -> TiersRun:
    subject, oracle = prover.journal.subject, prover.oracle
    chosen = list(usable) if options.thorough else choose_varied(usable, most=_MAX_PROBLEMS)
    judged = isinstance(oracle, OwnOracle)
    targets = [(one, _knowledge(subject, one.problem, judged=judged)) for one in chosen]
    ordered = [*chosen, *(one for one in usable if one not in chosen)]
    hacks = HackSearch.begin(prover, ordered, lambda one: results_of(oracle, one), backend=backend)
    return run_tiers(prover, targets, options=options, hacks=hacks)


def _call_limit(slowest_s: float) -> float:
    """Seconds that a call may take, when the slowest honest one took so long."""
    return min(_MAX_CALL_S, max(_MIN_CALL_S, _PATIENCE * slowest_s))


def _own_limit(subject: Subject) -> float:
    """Seconds that a verifier of programs may take by the time-outs in its own source: what is done
    about a program that never ends is seen only after them."""
    if subject.source is None or not any(problem.is_code for problem in subject.problems):
        return 0.0
    most = max(max(len(problem.calls), 1) for problem in subject.problems)
    return min(_MAX_CALL_S, 1.0 + 1.5 * most * longest_timeout(subject.source))


def _reporter(on_progress: Callable[[Progress], None] | None) -> Callable[..., None]:
    def step(stage: str, done: int, total: int, findings: int) -> None:
        if on_progress is not None:
            on_progress(Progress(stage, done, total, findings))

    return step


def _point_reporter(
    on_progress: Callable[[Progress], None] | None,
) -> Callable[[CurvePoint, str], None]:
    def show(point: CurvePoint, best: str) -> None:
        if on_progress is not None:
            on_progress(Progress("tier 5", point.step + 1, 0, 0, point, best))

    return show


def _oracle(options: AuditOptions, backend: Backend | None) -> Oracle:
    timed = backend if isinstance(backend, DeadlineBackend) else None
    if options.oracle is not None:
        # It has a limit of its own, and no answer of it is an error of its author's.
        return OwnOracle(Path(options.oracle), backend if timed is None else timed.inner)
    return BothOracles(TextOracle(backend), ProgramOracle(backend, options.seed), timed)


def _knowledge(subject: Subject, problem: AuditProblem, *, judged: bool = False) -> Knowledge:
    return replace(known_of(problem, subject.source), judged=judged)


def _pairs(problems: Sequence[AuditProblem], findings: Sequence[Finding]) -> list[HackPair]:
    """Each finding beside an honest answer to the same problem."""
    known = {problem.id: problem for problem in problems}
    return [
        HackPair(one.problem, problem.prompt, one.witness, problem.correct[0], one.flaw)
        for one in findings
        if (problem := known[one.problem]).correct
    ]
