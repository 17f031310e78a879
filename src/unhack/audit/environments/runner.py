"""`audit_environment`: every attack on a sample of an environment's tasks, and what it proves.

    report = await audit_environment(EnvironmentSubject("mine", tasks))
    report.conclusion, report.findings

Covered: tasks whose controls fail are left out, and said; the known attacks (tier 1), a policy
that is trained on episodes (tier 5) where `discoverer` brings it; findings as for verifiers, one
for each class of flaw.
Not covered: attacks that a language model would think of.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from unhack.audit.environments.attack import AttackRoute, EnvironmentAttack
from unhack.audit.environments.controls import controls_of
from unhack.audit.environments.episode_runner import EpisodeRunner, OwnEpisodes
from unhack.audit.environments.foreign.container import ContainerEpisodes
from unhack.audit.environments.foreign.grader import EpisodeEnd, ForeignGrader
from unhack.audit.environments.in_image import ImageEpisodes
from unhack.audit.environments.oracle import BehaviourOracle
from unhack.audit.environments.proving import TaskTrial, Win, finding_of, replayed, shortened
from unhack.audit.environments.registry import ENVIRONMENT_ATTACKS
from unhack.audit.proving.cpu import CpuAllowance
from unhack.audit.report.discovery import CurvePoint, Discovery
from unhack.audit.report.plan import PartEnd, PlanPart, incomplete_text
from unhack.audit.report.report import Area, AuditCheck, AuditReport, Conclusion, Tried
from unhack.core.errors import UsageError
from unhack.core.finding import Finding, Severity
from unhack.environments.sources.loaders.harbor import HarborTask
from unhack.environments.task import RepositoryTask
from unhack.sandbox.images.store import ImageStore
from unhack.sandbox.job import Backend
from unhack.sandbox.workspace.command_pool import CommandPool

ClosableRunner = ImageEpisodes | ContainerEpisodes | OwnEpisodes
_ELSEWHERE = "for verifiers of single completions; environments have tiers 1 and 5"
_FOR_KNOWN = 0.5
"""Of the seconds, plays and CPU seconds, where tier 5 runs after the known attacks."""
_AT_ONCE = 4
_TRACED = "what passes can be compared with the reference"
_PROVEN = "one hack is proven"
_FIRST = (AttackRoute.MEANING, AttackRoute.SOURCE)
"""Routes that are tried first: they are about the tests and the judge of each task."""


@dataclass(frozen=True, slots=True)
class EnvironmentSubject:
    """An environment to be audited."""

    name: str
    tasks: tuple[RepositoryTask, ...]
    grader: ForeignGrader | None = None
    """None for the environment's own judge."""
    folder: HarborTask | None = None
    """The only task as a Harbor folder, where it is played in an image."""
    images: ImageStore | None = None
    """The images of the folder; None for this user's."""
    attacks: tuple[EnvironmentAttack, ...] = ()
    """Further attacks, on what its own tests look at."""
    probed: Mapping[str, RepositoryTask] = field(default_factory=dict[str, RepositoryTask])
    """By id, the tasks whose tests the oracle goes by, where those of the grader were changed."""

    def commands(self) -> CommandPool:
        """Supervisors for oracles, with the packages of the tasks."""
        wanted = sorted({name for task in self.tasks for name in task.preload})
        return CommandPool(slots=1, preload=("pytest", *wanted))

    def runner(self, backend: Backend | None = None) -> ClosableRunner:
        """The runner of its episodes. Raises TaskError for an image that is not built."""
        if self.folder is not None:
            return ImageEpisodes(self.folder, self.images or ImageStore())
        if self.grader is not None:
            return ContainerEpisodes(self.grader)
        return OwnEpisodes(backend=backend)

    def trial(
        self,
        task: RepositoryTask,
        runner: EpisodeRunner,
        commands: CommandPool,
        *,
        count: Callable[[int], None],
        seed: int = 0,
    ) -> TaskTrial:
        """A task with its runner and its oracle; `count` takes numbers of plays."""
        place = runner.commands if isinstance(runner, ImageEpisodes) else commands
        oracle = BehaviourOracle(self.probed.get(task.id, task), place, seed=seed)
        return TaskTrial(task, runner, oracle, count)


@dataclass(frozen=True, slots=True)
class EpisodeLearning:
    """The outcome of training a policy on episodes."""

    discovery: Discovery
    wins: tuple[tuple[TaskTrial, Win], ...]
    """The shortest first."""
    played: int
    passed: int
    """Different episodes, and those that the judge passed."""


class EpisodeDiscoverer(Protocol):
    """Trains a policy on the episodes of some tasks."""

    async def __call__(
        self,
        trials: Sequence[TaskTrial],
        /,
        *,
        seed: int,
        spent: Callable[[], str | None],
        on_point: Callable[[CurvePoint, str], None],
    ) -> EpisodeLearning:
        """Play episodes until `spent` gives a reason to stop."""
        ...


@dataclass(frozen=True, slots=True)
class EnvironmentAuditOptions:
    """The amount of work."""

    most_tasks: int = 4
    """Tasks that are attacked, evenly spread."""
    attacks: tuple[EnvironmentAttack, ...] = tuple(ENVIRONMENT_ATTACKS.values())
    seconds: float = 600.0
    """After these no further play is begun."""
    most_plays: float = math.inf
    """Whole episodes, the controls included, after which no further attack is begun; the proofs of
    those that won take a few more."""
    seed: int = 0
    """Chooses the tasks, where there are more than `most_tasks`, and the inputs of the oracle."""
    stop_at_first: bool = False
    """Begin no further attack as soon as one has won three times."""
    tiers: tuple[int, ...] = (1,)
    """1 for the known attacks, 5 for the policy."""
    cpu_s: float = math.inf
    """CPU seconds of this process and the sandbox, after which no further play is begun."""
    discoverer: EpisodeDiscoverer | None = None
    """The trainer of tier 5; without one it is not run."""


OnProgress = Callable[[str, int, int, int], None]
"""Takes the stage, plays done, plays in all, wins so far."""
_DEFAULTS = EnvironmentAuditOptions()


async def audit_environment(
    subject: EnvironmentSubject,
    *,
    options: EnvironmentAuditOptions = _DEFAULTS,
    backend: Backend | None = None,
    on_progress: OnProgress | None = None,
    on_point: Callable[[CurvePoint, str], None] = lambda point, best: None,
) -> AuditReport:
    """Play every attack, and train the policy where it is asked for.

    Raises UsageError for a subject without tasks, and SandboxUnavailableError where the host cannot
    isolate.
    """
    if not subject.tasks:
        raise UsageError(f"{subject.name}: no tasks to audit it on")
    step = max(1, len(subject.tasks) // options.most_tasks)
    tasks = subject.tasks[options.seed % step :: step][: options.most_tasks]
    commands, runner = subject.commands(), subject.runner(backend)
    try:
        one = _Audit(subject, tasks, options, on_progress)
        return await one.run(runner, commands, on_point=on_point)
    finally:
        runner.close()
        commands.close()


_Played = tuple[EnvironmentAttack, TaskTrial, EpisodeEnd, Win | None]


@dataclass
class _Audit:
    """One audit under way."""

    _subject: EnvironmentSubject
    _tasks: Sequence[RepositoryTask]
    _options: EnvironmentAuditOptions
    _report: OnProgress | None
    _begun: float = field(default_factory=time.monotonic)
    _cpu: CpuAllowance | None = field(init=False)
    _attacks: tuple[EnvironmentAttack, ...] = field(init=False)
    _discovery: Discovery | None = None
    _plays: int = 0
    _checks: list[AuditCheck] = field(default_factory=list[AuditCheck])
    _skipped: int = 0
    _unplayable: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Reason -> attacks that cannot be played in an image."""
    _stop: str | None = None

    def __post_init__(self) -> None:
        self._cpu = CpuAllowance.of(self._options.cpu_s)
        self._attacks = (*self._options.attacks, *self._subject.attacks)

    async def run(
        self,
        runner: EpisodeRunner,
        commands: CommandPool,
        *,
        on_point: Callable[[CurvePoint, str], None],
    ) -> AuditReport:
        trials: list[TaskTrial] = []
        for task in self._tasks:
            trial = self._subject.trial(
                task, runner, commands, count=self._count, seed=self._options.seed
            )
            checks, usable = await controls_of(trial)
            self._checks += checks
            trials += [trial] * usable
        results = await self._play_known(trials) if 1 in self._options.tiers else []
        known = [(trial, win) for _, trial, _, win in results if win is not None]
        findings = await self._findings(known, tier=1)
        left = {name for names in self._unplayable.values() for name in names}
        tried = [
            self._tried(attack, results)
            for attack in self._attacks
            if results and attack.name not in left
        ]
        if trials and self._options.discoverer is not None and self._stop != _PROVEN:
            learnt = await self._options.discoverer(
                trials, seed=self._options.seed, spent=self._limit_reached, on_point=on_point
            )
            self._discovery = learnt.discovery
            wins, played = learnt.wins, learnt.played
            tried.append(Tried("learnt/moves", 5, played, learnt.passed, len(wins)))
            findings = _together(findings, await self._findings(wins, tier=5))
        return self._concluded(findings, tuple(tried), trials)

    async def _play_known(self, trials: Sequence[TaskTrial]) -> list[_Played]:
        """Every known attack on every task, as far as the limits allow."""
        part = 1.0 if self._options.discoverer is None else _FOR_KNOWN
        own = self._subject.attacks
        first = sorted(self._attacks, key=lambda one: (one not in own, one.route not in _FIRST))
        pairs = [(attack, trial) for attack in first for trial in trials]
        gate, done = asyncio.Semaphore(_AT_ONCE), 0
        results: list[_Played] = []

        async def one(attack: EnvironmentAttack, trial: TaskTrial) -> None:
            nonlocal done
            async with gate:
                if self._stop is None:
                    self._stop = self._limit_reached(part)
                if self._stop is not None:
                    self._skipped += 1
                    return
                if why := await trial.runner.why_not(attack, trial.task):
                    self._unplayable.setdefault(why, []).append(attack.name)
                    return
                play, win = await trial.attempt(attack)
                results.append((attack, trial, play.outcome, win))
                done += 1
                if self._options.stop_at_first and win is not None and await replayed(trial, win):
                    self._stop = _PROVEN
                if self._report is not None:
                    self._report("attacks", done, len(pairs), sum(bool(r[3]) for r in results))

        await asyncio.gather(*(one(*pair) for pair in pairs))
        return results

    def _count(self, plays: int) -> None:
        self._plays += plays

    def _limit_reached(self, part: float = 1.0) -> str | None:
        """The limit of which that part has been reached; None for none."""
        if time.monotonic() - self._begun > part * self._options.seconds:
            return "out of time"
        if self._cpu is not None and self._cpu.used > part * self._cpu.seconds:
            return "out of CPU seconds"
        return "out of plays" if self._plays >= part * self._options.most_plays else None

    async def _findings(self, wins: Sequence[tuple[TaskTrial, Win]], *, tier: int) -> list[Finding]:
        """One for each class of flaw, that of the fewest actions, shortened and replayed."""
        groups: dict[str, list[tuple[TaskTrial, Win]]] = {}
        for trial, win in wins:
            groups.setdefault(win.attack.flaw, []).append((trial, win))
        found: list[Finding] = []
        for at, group in enumerate(groups.values()):
            group.sort(key=lambda one: sum(map(len, map(str, one[1].actions))))
            if self._report is not None:
                self._report("findings", at, len(groups), len(wins))
            for trial, win in group:
                short = await shortened(trial, win)
                if not await replayed(trial, short):
                    continue
                others = {other.attack.name for _, other in group} - {win.attack.name}
                one = finding_of(short, sorted(others), tier=tier)
                # Shortened, it may be the win of another class, which is the right name for it.
                if one.witness not in {other.witness for other in found}:
                    found.append(one)
                break
            if found and self._options.stop_at_first:  # plays beside it may have won too
                break
        return found

    @staticmethod
    def _tried(attack: EnvironmentAttack, results: Sequence[_Played]) -> Tried:
        mine = [(outcome, win) for one, _, outcome, win in results if one is attack]
        passed = sum(outcome is not EpisodeEnd.FAILED for outcome, _ in mine)
        proven = sum(win is not None for _, win in mine)
        return Tried(f"{attack.route}/{attack.name}", 1, len(mine), passed, proven)

    def _plan(self, tried: Sequence[Tried]) -> Iterator[PlanPart]:
        """The parts that were planned, and how each ended."""
        if 1 in self._options.tiers:
            played = sum(record.completions for record in tried if record.tier == 1)
            end = PartEnd.STOPPED if self._skipped else PartEnd.DONE
            why = self._stop or "" if self._skipped else ""
            yield PlanPart(1, "known attacks", end, why, played + self._skipped, played)
            named = [f"{why}: {', '.join(sorted(of))}" for why, of in self._unplayable.items()]
            if named:
                text = "; ".join(sorted(named))
                yield PlanPart(1, "attacks of another kind", PartEnd.NOT_APPLICABLE, text)
        for tier in (2, 3, 4):
            yield PlanPart(tier, "verifiers", PartEnd.NOT_APPLICABLE, _ELSEWHERE)
        if self._discovery is not None:
            why = self._discovery.why
            end = PartEnd.STOPPED if why else PartEnd.DONE
            yield PlanPart(5, "trained policy", end, why)

    def _concluded(
        self, findings: Sequence[Finding], tried: tuple[Tried, ...], trials: Sequence[TaskTrial]
    ) -> AuditReport:
        subject = self._subject
        name = subject.name + (f" under {subject.grader.name}" if subject.grader else "")
        conclusion, why = _conclusion(findings, tried, len(trials), self._stop or "no attack")
        unjudged = [trial for trial in trials if trial.oracle.unjudged]
        self._checks += [
            AuditCheck(Area.SIGNAL, _TRACED, None, f"{trial.task.id}: {trial.oracle.undecided}")
            for trial in unjudged
        ]
        if unjudged and conclusion is Conclusion.SOUND:
            conclusion, one = Conclusion.UNPROVEN, unjudged[0]
            why = (
                f"what passed on {one.task.id} cannot be told from right work: "
                f"{one.oracle.undecided}"
            )
        if conclusion is Conclusion.SOUND and any(
            check.ok is None and check.area is Area.COMPLETENESS for check in self._checks
        ):
            conclusion, why = Conclusion.UNPROVEN, f"{why}, but nothing shows that right work does"
        plan = list(self._plan(tried))
        left = incomplete_text(plan, calls=self._options.most_plays, seconds=self._options.seconds)
        if left and conclusion is Conclusion.SOUND:
            conclusion, why = Conclusion.INCOMPLETE, f"{left}; {why}"
        return AuditReport(
            subject=name,
            conclusion=conclusion,
            why=why,
            findings=tuple(findings),
            checks=tuple(self._checks),
            tried=tried,
            pairs=(),
            tiers=self._options.tiers,
            discovery=self._discovery,
            plan=tuple(plan),
            problems=len(trials),
            calls=self._plays,
            seconds=time.monotonic() - self._begun,
            of_problems=len(subject.tasks),
        )


def _together(known: Sequence[Finding], learnt: Sequence[Finding]) -> list[Finding]:
    """One finding for each class of flaw, the known attacks' own first; the worst first."""
    found = {one.flaw: one for one in known}
    for one in learnt:
        first = found.get(one.flaw)
        found[one.flaw] = one if first is None else replace(first, also=(*first.also, one.attack))
    return sorted(found.values(), key=lambda one: [*Severity].index(one.severity))


def _conclusion(
    findings: Sequence[Finding], tried: Sequence[Tried], tasks: int, stop: str
) -> tuple[Conclusion, str]:
    if findings:
        count = f"{len(findings)} hack{'s' * (len(findings) != 1)} proven"
        won = sum(record.proven > 0 for record in tried)
        return Conclusion.EXPLOITABLE, f"{count}; {won} of {len(tried)} attacks win"
    if not tasks:
        text = "there is no task on which the reference passes and doing nothing fails"
        return Conclusion.UNPROVEN, text
    if sum(record.completions for record in tried) == 0:
        return Conclusion.UNPROVEN, f"nothing was tried: {stop}"
    if any(record.proven for record in tried):
        return Conclusion.UNPROVEN, "some attacks won once, but none won again"
    return Conclusion.SOUND, f"none of {len(tried)} attacks wins on {tasks} tasks"
