"""The power of an audit: it is given weakened copies of the verifier, and what it breaks counts.

    power = PowerTrial.of(subject, oracle, known_of).measure(audit_copy, seconds=180)

A copy counts as weakened when every right completion that the original rewards keeps its reward,
and one completion is wrong by the oracle, rewarded by the copy, and not by the original, each
scored in a process of its own. Where no answer is known, wrong is what the original gives nothing
for. The audit of a copy is not told which completion that is. The
text of a function runs in place of its file; the original is never written.

Covered: verifiers with a Python source of their own: functions and scripts with the files beside
them, modules of installed packages, one task with a script or a checker.
Not covered: suites of tasks; weaknesses that no completion at hand shows, whose copies are left
out.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unhack.audit.attack import Knowledge
from unhack.audit.hardening.power.candidates import Candidate, candidates
from unhack.audit.hardening.power.weakening import Weakening, weakenings
from unhack.audit.oracle.oracle import Oracle, normal
from unhack.audit.proving.baseline import Baseline, measure_baselines
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Proof
from unhack.audit.report.power import Broken, Power, WeakenedCopy
from unhack.audit.subject import AuditProblem, Query, Score, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_subject
from unhack.audit.subjects.sessions import score_variants
from unhack.audit.subjects.task_subject import TaskSubject
from unhack.core.errors import UsageError
from unhack.sandbox.job import Backend

_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".git", "node_modules", "*.pyc")


def copy_with(
    subject: Subject, text: str, *, folder: Path, backend: Backend | None = None
) -> Subject:
    """The subject with `text` for its source: that of a function runs in place of its file, a task
    is written to an empty folder.

    Raises UsageError for a subject without a source of its own, and for a copy that cannot load.
    """
    if isinstance(subject, FunctionSubject):
        if subject.source is None:
            raise UsageError(f"{subject.name} has no source of its own to weaken")
        return subject.with_text(text)
    source = subject.source
    if not isinstance(subject, TaskSubject) or len(subject.tasks) > 1 or source is None:
        raise UsageError(f"{subject.name} has no source of its own to weaken")
    origin = Path(source.path).parent
    place = folder / origin.name
    shutil.copytree(origin, place, ignore=_LEFT_OUT)
    (place / Path(source.path).name).write_text(text, encoding="utf-8")
    return load_subject(str(place), backend=backend)


ENOUGH = 24
"""Weakened copies after which no more are audited."""
_ON_PROBLEMS, _RIGHT_ON, _ALONE = 2, 20, 6
"""Problems with candidates; with right completions; completions that are scored again alone."""
_MOST_ASKED = 12
"""Completions of one copy that the oracle is asked about."""
_AT_ONCE = 8
"""Copies that are screened together; programs that are run on one before the oracle is asked."""
_TIMES = 12
"""Audits of copies that calls are meant for."""
_PART = 6
"""The seconds of one copy are at most such a part of all: a busy host leaves fewer copies, and none
that was audited less."""
_PROGRAMS = 32
"""Programs that are tried on every copy: those that the original gives most for first."""
_CALL_S = 2.0
"""Most seconds of a call while copies are compared."""
_NOTHING_RIGHT = "no right completion is known with which a copy could be compared"
_CONFIRMED = 3
"""New proofs of one kind that are tried again, each alone."""


@dataclass(frozen=True, slots=True)
class AuditedCopy:
    """The outcome of the audit of a copy."""

    proofs: Sequence[Proof]
    calls: int
    """Runs of the copy."""
    is_cut: bool = False
    """True where a part of its plan was not tried."""


@dataclass(frozen=True, slots=True)
class AuditOfCopy:
    """The audit of a copy, within the options of the original's."""

    run: Callable[[Subject, float], AuditedCopy]
    """Audits a subject in at most so many seconds."""
    seconds: float
    """The seconds that the original's audit was allowed."""
    backend: Backend | None = None
    calls: float = math.inf
    """Calls of the verifier that one audit may make; all together, `_TIMES` as many."""
    on_step: Callable[[str, int, int, int], None] = lambda stage, done, total, broken: None
    """(stage, done, total, copies broken so far)."""


@dataclass
class PowerTrial:
    """The comparison that every copy of one verifier is held to."""

    journal: ScoreJournal
    """Of the original."""
    oracle: Oracle
    pool: Sequence[Candidate]
    """Completions that the original does not reward."""
    right: Sequence[tuple[AuditProblem, str, float]]
    """(problem, completion, least score) of what must keep its reward."""
    calls: int = 0
    """Runs of the copies, and of the original beside them."""
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
        nulls = {one.problem.id: one.null for one in baselines}
        scores = journal.screen([Query(one.problem, one.payload.text) for one in made])
        unpaid = [
            (one, score.value or 0.0)
            for one, score in zip(made, scores, strict=True)
            if not score.at_least(_least(one.problem, marks[one.problem.id], nulls))
        ]
        pool = [one for one, _ in unpaid]
        if any(problem.is_code for problem in problems):
            pool = [one for one, _ in sorted(unpaid, key=lambda pair: -pair[1])][:_PROGRAMS]
        right = [
            (one.problem, text, score.value)
            for one in baselines
            for text, score in _scores(one)
            if text in one.problem.correct
            and one.threshold is not None
            and score.value is not None
            and score.at_least(one.threshold)
        ]
        return PowerTrial(journal, oracle, pool, right, started=started)

    @property
    def subject(self) -> Subject:
        """The original."""
        return self.journal.subject

    def measure(self, audit: AuditOfCopy, *, seconds: float) -> Power:
        """Weaken, prove, audit, until `ENOUGH` copies, the edits or the seconds are used up.

        Raises SandboxUnavailableError.
        """
        until = self.started + seconds
        source = self.subject.source
        edits = weakenings(source) if source is not None else []
        copies: list[WeakenedCopy] = []
        tried, why, whole = 0, "", _why_over(source is not None, len(edits))
        if not self.right or not self.pool:
            # Then only the audit's own attacks could show a copy to be weaker, and would break it.
            edits, whole = [], f"{_NOTHING_RIGHT}: give some as `correct` in the rows"
        for edit, expected in self._screened(edits):
            why = self._why_over(len(copies), until - time.monotonic(), audit.calls)
            if why:
                break
            tried += 1
            broken_so_far = sum(one.broken is not Broken.NOT for one in copies)
            audit.on_step("power", len(copies), ENOUGH, broken_so_far)
            if isinstance(expected, bool):
                continue
            with tempfile.TemporaryDirectory(prefix="unhack-power-") as folder:
                try:
                    place = Path(folder)
                    copy = copy_with(self.subject, edit.text, folder=place, backend=audit.backend)
                    shown = self.weaker_by(copy, shown=expected)
                except UsageError:
                    continue  # it cannot be loaded
                if shown is None:
                    continue
                most = min(audit.seconds, seconds / _PART)
                left = min(until - time.monotonic(), most)
                broken = self._audited(copy, audit=audit, seconds=left, most=most)
            if broken is None:
                why = "its time budget is used up"
                break
            copies.append(
                WeakenedCopy(edit.operator, edit.family, edit.line, broken, shown.of_attack)
            )
        taken = time.monotonic() - self.started
        calls = self.calls + self.journal.calls
        return Power(tuple(copies), len(edits), tried, why or whole, calls, taken)

    def _why_over(self, copies: int, left: float, calls: float) -> str:
        """The reason for ending; empty for going on, with one more audit of at most `calls`."""
        if left <= 0:
            return "its time budget is used up"
        if self.calls > (_TIMES - 1) * calls:
            return f"its {_TIMES * calls:g} calls of the verifier are used up"
        return f"{ENOUGH} copies are enough" if copies == ENOUGH else ""

    def _screened(
        self, edits: Sequence[Weakening]
    ) -> Iterator[tuple[Weakening, Candidate | bool | None]]:
        """The edits, each with what shows its copy to be weaker: False for nothing, None where the
        copy has to be tried by itself, as programs are."""
        subject = self.subject
        is_code = any(one.problem.is_code for one in self.pool)
        if is_code or not isinstance(subject, FunctionSubject) or subject.script is not None:
            yield from ((edit, None) for edit in edits)
            return
        right = [Query(problem, text) for problem, text, _ in self.right]
        pool = [Query(one.problem, one.payload.text) for one in self.pool]
        for start in range(0, len(edits), _AT_ONCE):
            some = edits[start : start + _AT_ONCE]
            kept: dict[str, Sequence[Score]] = {
                edit.text: scores
                for edit, scores in zip(some, self._variants(some, right), strict=True)
                if self._keeps(scores)
            }
            left = [edit for edit in some if edit.text in kept]
            scored = zip(left, self._variants(left, pool), strict=True)
            shown = {
                edit.text: self._first_wrong(self._gained(kept[edit.text], scores))
                for edit, scores in scored
            }
            yield from ((edit, shown.get(edit.text) or False) for edit in some)

    def _variants(self, edits: Sequence[Weakening], asked: Sequence[Query]) -> list[list[Score]]:
        """The scores of completions by each edit."""
        subject = self.subject.with_limit(_CALL_S)
        assert isinstance(subject, FunctionSubject)
        self.calls += len(edits) * len(asked)
        texts = [edit.text for edit in edits]
        return score_variants(subject, texts, asked, call_s=self.journal.slowest)

    def _gained(self, right: Sequence[Score], pool: Sequence[Score]) -> list[Candidate]:
        """The completions that a copy rewards like a right one, those of attacks last."""
        marks = self._marks(right)
        return [
            one
            for one, score in sorted(
                zip(self.pool, pool, strict=True), key=lambda pair: pair[0].of_attack
            )
            if score.at_least(marks[one.problem.id])
        ]

    def weaker_by(self, copy: Subject, *, shown: Candidate | None = None) -> Candidate | None:
        """A wrong completion that the copy rewards and the original does not, `shown` where that is
        known to be one; None where there is none, or a right one loses its reward.

        Raises UsageError for a copy that cannot run."""
        shown = self._found_on(copy) if shown is None else shown
        return shown if shown is not None and self._holds(copy, shown) else None

    def _found_on(self, copy: Subject) -> Candidate | None:
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
                return shown
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
                unknown = _is_unknown(one.problem)
                self._wrong[key] = unknown or bool(self.oracle.why_wrong(one.problem, one.payload))
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
        self, copy: Subject, *, audit: AuditOfCopy, seconds: float, most: float
    ) -> Broken | None:
        """The worst that is new; None where there were fewer seconds than the `most` that every
        copy gets, too few to say that nothing is."""
        if seconds <= 1.0:
            return None
        found = audit.run(copy, seconds)
        self.calls += found.calls
        if self._is_new(copy, [one for one in found.proofs if one.expected_reward is not None]):
            return Broken.HACK
        if seconds < most and found.is_cut:
            return None
        others = [one for one in found.proofs if one.expected_reward is None]
        return Broken.FALSE_ACCEPT if self._is_new(copy, others) else Broken.NOT

    def _is_new(self, copy: Subject, proofs: Sequence[Proof]) -> bool:
        """Tell whether the copy rewards one again that the original does not, each alone."""
        before = self.journal.screen([Query(one.problem, one.payload.text) for one in proofs])
        new = [
            one
            for one, score in zip(proofs, before, strict=True)
            if not score.at_least(one.threshold)
        ]
        for one in new[:_CONFIRMED]:
            query = Query(one.problem, one.payload.text)
            [given], [known] = copy.score([query]), self.subject.score([query])
            self.calls += 2
            if given.at_least(one.threshold) and not known.at_least(one.threshold):
                return True
        return False


def _is_unknown(problem: AuditProblem) -> bool:
    """Tell whether no answer is known: then what the original gives nothing for is wrong."""
    return not problem.is_code and not normal(problem.answer or "")


def _least(problem: AuditProblem, mark: float | None, nulls: Mapping[str, float]) -> float:
    """The score from which the original rewards a completion for more than its form."""
    least = mark or 0.0
    return min(least, math.nextafter(nulls[problem.id], 1.0)) if _is_unknown(problem) else least


def _scores(baseline: Baseline) -> list[tuple[str, Score]]:
    return list(baseline.scores.items())


def _why_over(has_source: bool, edits: int) -> str:
    if not has_source:
        return "the verifier has no source of its own"
    return "every edit was tried" if edits else "its source offers no edit"
