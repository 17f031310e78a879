"""The power of an audit: it is given weakened copies of the verifier, and what it breaks counts.

    power = PowerTrial.of(subject, oracle, known_of).measure(report, audit_copy, seconds=180)

A copy counts as weakened when every right completion that the original rewards keeps its reward,
and one completion is wrong by the oracle, rewarded by the copy, and not by the original, each
scored in a process of its own. The audit of a copy is not told which completion that is. A copy is
written beside what its source imports; the original is never written.

Covered: verifiers with a Python source of their own: functions and scripts with the files beside
them, modules of installed packages, one task with a script or a checker.
Not covered: suites of tasks; folders over 32 MiB, whose copy is one file by itself; weaknesses that
no completion at hand shows, whose copies are left out.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from unhack.audit.attack import Knowledge
from unhack.audit.hardening.copy import HardenedCopy
from unhack.audit.hardening.power.candidates import Candidate, candidates
from unhack.audit.hardening.power.weakening import weakenings
from unhack.audit.oracle.oracle import Oracle
from unhack.audit.proving.baseline import Baseline, measure_baselines
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.report.power import Broken, Power, WeakenedCopy
from unhack.audit.report.report import AuditReport
from unhack.audit.subject import AuditProblem, Query, Score, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.imported_modules import file_names_in
from unhack.audit.subjects.loading import load_subject
from unhack.audit.subjects.target import Module, folder_binds
from unhack.audit.subjects.task_subject import TaskSubject
from unhack.core.errors import UsageError
from unhack.core.finding import Finding, FindingKind
from unhack.sandbox.job import Backend

_MOST_BYTES = 32 * 2**20
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".git", "node_modules", "*.pyc")


def copy_with(
    subject: Subject, text: str, *, folder: Path, backend: Backend | None = None
) -> Subject:
    """The subject with `text` for its source, written to an empty folder.

    Raises UsageError for a subject without a source of its own, and for a copy that cannot load.
    """
    if isinstance(subject, FunctionSubject):
        return _function(subject, text, folder=folder, backend=backend)
    source = subject.source
    if not isinstance(subject, TaskSubject) or len(subject.tasks) > 1 or source is None:
        raise UsageError(f"{subject.name} has no source of its own to weaken")
    origin = Path(source.path).parent
    place = folder / origin.name
    shutil.copytree(origin, place, ignore=_LEFT_OUT)
    (place / Path(source.path).name).write_text(text, encoding="utf-8")
    return load_subject(str(place), backend=backend)


def _function(
    subject: FunctionSubject, text: str, *, folder: Path, backend: Backend | None
) -> Subject:
    target = subject.target
    module, defined = target.module, target.defined_in
    together = module.root == defined.root and not module.installed
    binds = folder_binds(module, (), named=file_names_in(module)) if together else ()
    paths = [Path(host) for host, _ in binds]
    if not together or sum(map(_bytes_of, paths)) > _MOST_BYTES:
        place = folder / defined.path.name
        return HardenedCopy(subject, subject.name, place, backend).write(text)
    for path in paths:
        if path.is_dir():
            shutil.copytree(path, folder / path.name, ignore=_LEFT_OUT)
        else:
            shutil.copyfile(path, folder / path.name)

    def moved(one: Module) -> Module:
        return Module(folder / one.path.relative_to(one.root), one.name, folder)

    (folder / defined.path.relative_to(defined.root)).write_text(text, encoding="utf-8")
    new = replace(target, module=moved(module), defined_in=moved(defined))
    made = replace(subject, target=new)
    made.__dict__.update(loaded=subject.loaded)
    return made


def _bytes_of(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())


ENOUGH = 24
"""Weakened copies after which no more are audited."""
_ON_PROBLEMS, _RIGHT_ON, _ALONE = 2, 20, 6
"""Problems with candidates; with right completions; completions that are scored again alone."""
_MOST_ASKED = 12
"""Completions of one copy that the oracle is asked about."""
_AT_ONCE = 8
"""Programs that are run on a copy before the oracle is asked about those that pass."""
_TIMES = 12
"""Audits of copies that calls and seconds are meant for."""
_CALL_S = 2.0
"""Most seconds of a call while copies are compared."""


@dataclass(frozen=True, slots=True)
class AuditOfCopy:
    """The audit of a copy, within the options of the original's."""

    run: Callable[[Subject, float], AuditReport]
    """Audits a subject in at most so many seconds."""
    seconds: float
    """The seconds that the original's audit was allowed."""
    backend: Backend | None = None
    calls: float = math.inf
    """Runs of the verifier that one audit may make; all together, `_TIMES` as many."""
    on_step: Callable[[str, int, int, int], None] = lambda stage, done, total, broken: None
    """(stage, done, total, copies broken so far)."""


@dataclass
class PowerTrial:
    """The comparison that every copy of one verifier is held to."""

    subject: Subject
    oracle: Oracle
    pool: Sequence[Candidate]
    """Completions that the original does not reward."""
    right: Sequence[tuple[AuditProblem, str, float]]
    """(problem, completion, least score) of what must keep its reward."""
    calls: int = 0
    started: float = field(default_factory=time.monotonic)
    _wrong: dict[tuple[str, str], bool] = field(default_factory=dict[tuple[str, str], bool])

    @staticmethod
    def of(
        subject: Subject, oracle: Oracle, known_of: Callable[[AuditProblem], Knowledge]
    ) -> PowerTrial:
        """Score the original once. Raises SandboxUnavailableError."""
        started = time.monotonic()
        journal = ScoreJournal(subject, None)
        problems = subject.problems[:_RIGHT_ON]
        first = measure_baselines(journal, problems[:_ON_PROBLEMS])
        journal.try_sharing(
            [(Query(one.problem, text), score) for one in first for text, score in _scores(one)]
        )
        rest = measure_baselines(journal, problems[_ON_PROBLEMS:], repeat=False)
        baselines = [one for one in (*first, *rest) if one.threshold is not None]
        made = [
            candidate
            for one in baselines[:_ON_PROBLEMS]
            for candidate in candidates(known_of(one.problem))
        ]
        marks = {one.problem.id: one.threshold for one in baselines}
        scores = journal.screen([Query(one.problem, one.payload.text) for one in made])
        pool = [
            one
            for one, score in zip(made, scores, strict=True)
            if not score.at_least(marks[one.problem.id] or 0.0)
        ]
        right = [
            (one.problem, text, score.value)
            for one in baselines
            for text, score in _scores(one)
            if text in one.problem.correct
            and one.threshold is not None
            and score.value is not None
            and score.at_least(one.threshold)
        ]
        return PowerTrial(subject, oracle, pool, right, journal.calls, started)

    def measure(self, report: AuditReport, audit: AuditOfCopy, *, seconds: float) -> Power:
        """Weaken, prove, audit, until `ENOUGH` copies, the edits or the seconds are used up.

        `report` is that of the original. Raises SandboxUnavailableError.
        """
        until = self.started + seconds
        source = self.subject.source
        edits = weakenings(source) if source is not None else []
        copies: list[WeakenedCopy] = []
        tried, why, whole = 0, "", _why_over(source is not None, len(edits))
        if not self.right or not self.pool:
            edits, whole = [], "no completion is known with which a copy could be compared"
        for edit in edits:
            left = until - time.monotonic()
            why = self._why_over(len(copies), left, audit.calls)
            if why:
                break
            tried += 1
            broken_so_far = sum(one.broken is not Broken.NOT for one in copies)
            audit.on_step("power", len(copies), ENOUGH, broken_so_far)
            with tempfile.TemporaryDirectory(prefix="unhack-power-") as folder:
                try:
                    place = Path(folder)
                    copy = copy_with(self.subject, edit.text, folder=place, backend=audit.backend)
                    shown = self.weaker_by(copy)
                except UsageError:
                    continue  # it cannot be loaded
                if shown is None:
                    continue
                most = min(audit.seconds, seconds / _TIMES)
                left = min(until - time.monotonic(), most)
                broken = self._audited(copy, report, audit=audit, seconds=left, most=most)
            if broken is None:
                why = "its time budget is used up"
                break
            copies.append(
                WeakenedCopy(edit.operator, edit.family, edit.line, broken, shown.of_attack)
            )
        taken = time.monotonic() - self.started
        return Power(tuple(copies), len(edits), tried, why or whole, self.calls, taken)

    def _why_over(self, copies: int, left: float, calls: float) -> str:
        """The reason for ending; empty for going on, with one more audit of at most `calls`."""
        if left <= 0:
            return "its time budget is used up"
        if self.calls > (_TIMES - 1) * calls:
            return f"its {_TIMES * calls:g} runs of the verifier are used up"
        return f"{ENOUGH} copies are enough" if copies == ENOUGH else ""

    def weaker_by(self, copy: Subject) -> Candidate | None:
        """A wrong completion that the copy rewards and the original does not; None where there is
        none, or a right one loses its reward. Raises UsageError for a copy that cannot run."""
        journal = ScoreJournal(copy.with_limit(_CALL_S), None)
        journal.try_sharing(())
        right = journal.screen([Query(problem, text) for problem, text, _ in self.right])
        self.calls += len(right)
        if not self._keeps(right):
            return None
        marks = self._marks(right)
        parts = [[one for one in self.pool if one.of_attack is own] for own in (False, True)]
        if any(one.problem.is_code for one in self.pool):
            # A process for each program: no more of them than it takes.
            parts = [
                part[at : at + _AT_ONCE] for part in parts for at in range(0, len(part), _AT_ONCE)
            ]
        for part in parts:
            scores = journal.screen([Query(one.problem, one.payload.text) for one in part])
            self.calls += len(scores)
            gained = [
                one
                for one, score in zip(part, scores, strict=True)
                if score.at_least(marks[one.problem.id])
            ]
            shown = self._first_wrong(gained)
            if shown is not None:
                return shown if self._holds(copy, shown) else None
        return None

    def _keeps(self, scores: Sequence[Score]) -> bool:
        pairs = zip(self.right, scores, strict=False)
        return all(score.at_least(least) for (_, _, least), score in pairs)

    def _marks(self, scores: Sequence[Score]) -> dict[str, float]:
        """By problem, the lowest score of a right completion."""
        found: dict[str, float] = {}
        for (problem, _, least), score in zip(self.right, scores, strict=True):
            value = least if score.value is None else score.value
            found[problem.id] = min(found.get(problem.id, value), value)
        return found

    def _first_wrong(self, gained: Sequence[Candidate]) -> Candidate | None:
        for one in gained[:_MOST_ASKED]:
            key = (one.problem.id, one.payload.text)
            if key not in self._wrong:
                self._wrong[key] = self.oracle.why_wrong(one.problem, one.payload) is not None
            if self._wrong[key]:
                return one
        return None

    def _holds(self, copy: Subject, shown: Candidate) -> bool:
        """Score what was only screened, each alone."""
        query = Query(shown.problem, shown.payload.text)
        queries = [Query(problem, text) for problem, text, _ in self.right[:_ALONE]]
        *right, given = copy.score([*queries, query])
        [before] = self.subject.score([query])
        self.calls += len(queries) + 2
        mark = min(least for problem, _, least in self.right if problem.id == shown.problem.id)
        return self._keeps(right) and given.at_least(mark) and not before.at_least(mark)

    def _audited(
        self,
        copy: Subject,
        report: AuditReport,
        *,
        audit: AuditOfCopy,
        seconds: float,
        most: float,
    ) -> Broken | None:
        """The worst that is new; None where there were fewer seconds than the `most` that every
        copy gets, too few to say that nothing is."""
        if seconds <= 1.0:
            return None
        found = audit.run(copy, seconds)
        self.calls += found.calls
        new = self._new(found.findings, report)
        if any(one.kind is FindingKind.HACK for one in new):
            return Broken.HACK
        was_cut = seconds < most and any(part.is_open for part in found.plan)
        if was_cut:
            return None
        return Broken.FALSE_ACCEPT if new else Broken.NOT

    def _new(self, findings: Sequence[Finding], report: AuditReport) -> list[Finding]:
        """The findings whose witness the original does not reward."""
        if not findings:
            return []
        problems = {one.id: one for one in self.subject.problems}
        alone = [one for one in findings if one.after is None and one.problem in problems]
        queries = [Query(problems[one.problem], one.witness) for one in alone]
        scores = self.subject.score(queries)
        self.calls += len(queries)
        known = {(one.flaw, one.witness) for one in report.findings}
        return [
            one
            for one, score in zip(alone, scores, strict=True)
            if not score.at_least(one.threshold) and (one.flaw, one.witness) not in known
        ]


def _scores(baseline: Baseline) -> list[tuple[str, Score]]:
    return list(baseline.scores.items())


def _why_over(has_source: bool, edits: int) -> str:
    if not has_source:
        return "the verifier has no source of its own"
    return "every edit was tried" if edits else "its source offers no edit"
