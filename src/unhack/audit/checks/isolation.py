"""Does a completion get the same score in company: after others, in a thread, beside one that never
ends, in one call with them?

Covered: functions by every way of `sessions.Way`, scripts on one disk and at once; neighbours that
patch what all share, leave things behind, raise, run on, or end the process.
Not covered: the clock and hash seeds, which are the same in every worker; several machines.

A score that changes does not make a verifier exploitable. A completion that is proven wrong, does
not pass by itself and passes in company is a finding, of the class `state_leak`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from unhack.audit.checks.group_samples import Mix
from unhack.audit.checks.neighbours import hostile, leaving, straggling
from unhack.audit.proving.prover import Prover
from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import Area, AuditCheck
from unhack.audit.subject import Query, Score
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.sessions import Session, Way, can_meet, run_sessions
from unhack.core.finding import Finding
from unhack.core.hashing import content_hash

_CONFIRMATIONS = 3
_MOST_SUSPECTS = 12
_LEAST_S, _THOROUGH_S = 2.0, 60.0
_MOST_SHOWN = 80
Fresh = Mapping[tuple[str, str], Score]
"""(problem, text) -> what it gets by itself."""


@dataclass(frozen=True)
class IsolationResult:
    """What came out."""

    checks: tuple[AuditCheck, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class _Trial:
    """Completions whose scores are compared, and the company they get."""

    area: Area
    name: str
    way: Way
    honest: tuple[Query, ...]
    before: tuple[Query, ...] = ()
    stragglers: tuple[Query, ...] = ()

    @property
    def shots(self) -> tuple[Query, ...]:
        return (*self.before, *self.honest, *self.stragglers)

    def session(self, wall_s: float) -> Session:
        return Session(self.shots, self.way, len(self.stragglers), wall_s=wall_s)


@dataclass(frozen=True)
class _Change:
    """A completion that scored differently in company."""

    at: int
    shot: Query
    alone: Score
    now: Score

    def __str__(self) -> str:
        return f"problem {self.shot.problem.id}: {_said(self.now)} instead of {_said(self.alone)}"


def examine(hunt: Prover, mixes: Sequence[Mix], fresh: Fresh, *, thorough: bool) -> IsolationResult:
    """Compare scores in company with `fresh`; nothing for subjects that share no process."""
    subject = hunt.journal.subject
    steady = [mix for mix in mixes if not mix.mark.unsteady]
    if not isinstance(subject, FunctionSubject) or not mixes or hunt.budget.spent:
        return IsolationResult()
    if not steady:
        text = "its scores vary by themselves, so nothing can be said of its neighbours"
        return IsolationResult(
            (AuditCheck(Area.ISOLATION, "the same score in company", None, text),)
        )
    room = _Room(hunt, subject, fresh, _wall(hunt, fresh, thorough=thorough))
    hostiles = tuple(hostile(steady))
    alone = hunt.journal.score(hostiles)
    hunt.budget.calls -= len(hostiles)
    quick = [
        shot
        for shot, score in zip(hostiles, alone, strict=True)
        if score.trouble not in {"timeout", "limit"}
    ]
    trials = [trial for trial in _trials(steady, fresh, quick) if can_meet(subject, trial.way)]
    changes = room.run(trials)
    checks: list[AuditCheck] = []
    findings: list[Finding] = []
    for trial, found in zip(trials, changes, strict=True):
        check, suspect = room.judge(trial, found)
        checks.append(check)
        if not findings and suspect is not None and not (trial.before and hunt.proofs):
            findings += _findings(room, suspect, found, mixes=steady)
    return IsolationResult(tuple(checks), tuple(findings))


def _wall(hunt: Prover, fresh: Fresh, *, thorough: bool) -> float:
    each = [score.seconds for score in fresh.values()]
    left = hunt.budget.until - time.monotonic()
    wanted = _THOROUGH_S if thorough else max(3 * sum(each), 20 * max(each))
    return max(_LEAST_S, min(left, wanted))


def _trials(mixes: Sequence[Mix], fresh: Fresh, hostiles: Sequence[Query]) -> Iterator[_Trial]:
    honest = tuple(_honest(mixes, fresh))
    pairs = {(mix.mark.problem.id, text) for mix in mixes for text in _pair(mix)}
    few = tuple(shot for shot in honest if (shot.problem.id, shot.completion) in pairs)
    hostiles = tuple(hostiles)
    same = "the same score "
    yield _Trial(Area.DETERMINISM, f"{same}outside the main thread", Way.THREAD, few)
    yield _Trial(
        Area.DETERMINISM, f"{same}beside a straggler", Way.BESIDE, few,
        stragglers=tuple(straggling(mixes)),
    )  # fmt: skip
    yield _Trial(Area.DETERMINISM, f"{same}in a batch", Way.BATCH, honest, before=hostiles[:8])
    yield _Trial(Area.ISOLATION, f"{same}one after another", Way.SERIES, (*honest, *honest[::-1]))
    yield _Trial(
        Area.ISOLATION, f"{same}after a hostile neighbour", Way.SERIES, few, before=hostiles
    )
    ends = tuple(leaving(mixes))
    if ends:
        name = f"{same}after one that ends the process"
        yield _Trial(Area.ISOLATION, name, Way.SERIES, few, before=ends)


def _honest(mixes: Sequence[Mix], fresh: Fresh) -> Iterator[Query]:
    for number, mix in enumerate(mixes):
        problem = mix.mark.problem
        texts = list(dict.fromkeys([mix.right, *mix.texts, *list(mix.mark.scores)[-2:]]))
        for text in texts[:: -1 if number % 2 else 1]:
            score = fresh.get((problem.id, text))
            if score is not None and score.trouble not in {"timeout", "limit"}:
                yield Query(problem, text)


def _pair(mix: Mix) -> list[str]:
    return [mix.right, *(payload.text for payload in mix.wrong[:1])]


@dataclass(frozen=True)
class _Room:
    """Where completions meet."""

    hunt: Prover
    subject: FunctionSubject
    fresh: Fresh
    wall_s: float

    def run(self, trials: Sequence[_Trial], turn: int = 0) -> list[list[_Change]]:
        """What changed in each trial."""
        journal = self.hunt.journal
        parts = [[(shot.problem.id, shot.completion) for shot in trial.shots] for trial in trials]
        keys = [
            content_hash(self.subject.fingerprint, trial.way.value, repr(part), str(turn))
            for trial, part in zip(trials, parts, strict=True)
        ]
        known = [
            journal.find(key, count=len(trial.shots))
            for key, trial in zip(keys, trials, strict=True)
        ]
        new = [at for at, scores in enumerate(known) if scores is None]
        scored = run_sessions(self.subject, [trials[at].session(self.wall_s) for at in new])
        for at, scores in zip(new, scored, strict=True):
            known[at] = scores
            journal.note(keys[at], scores)
            self.hunt.budget.calls -= len(scores)
        return [
            list(self._changes(trial, scores or []))
            for trial, scores in zip(trials, known, strict=True)
        ]

    def _changes(self, trial: _Trial, scores: Sequence[Score]) -> Iterator[_Change]:
        first = len(trial.before)
        for at, shot in enumerate(trial.honest, start=first):
            alone = self.fresh[shot.problem.id, shot.completion]
            if repr(alone.value) != repr(scores[at].value):
                yield _Change(at, shot, alone, scores[at])

    def judge(self, trial: _Trial, changes: Sequence[_Change]) -> tuple[AuditCheck, _Trial | None]:
        """The check, and the smallest company in which the first change comes about."""
        same, total = len(trial.honest) - len(changes), len(trial.honest)
        text = f"{same} of {total} completions get the score that they get alone"
        if not changes:
            return AuditCheck(trial.area, trial.name, True, text), None
        if any(change.now.trouble in {"timeout", "limit"} for change in changes):
            return self._late(trial, changes), None
        by_itself = replace(trial, before=(), stragglers=(), honest=(changes[0].shot,))
        smaller = [by_itself, *_smaller(trial, changes[0])]
        found = self.run(smaller)
        at = next((at for at, change in enumerate(found) if change), None)
        company = smaller[at] if at is not None else None
        witness = changes[0].shot.completion
        if company is not None:
            change = found[smaller.index(company)][0]
            others = (*company.before, *company.stragglers)
            text += f"; {change}"
            if others:
                witness = others[0].completion
                text += f" {_beside(trial)} {_short(witness)}"
        else:
            text += f"; {changes[0]}"
        return AuditCheck(trial.area, trial.name, False, text, witness), company

    def _late(self, trial: _Trial, changes: Sequence[_Change]) -> AuditCheck:
        """A time that ran out says nothing by itself: a busy machine may be the cause."""
        text = f"within {self.wall_s:.0f} s, {changes[0]}"
        control = replace(trial, stragglers=())
        if control == trial or self.run([control])[0] or not self.run([trial], turn=1)[0]:
            return AuditCheck(trial.area, trial.name, None, text)
        text += "; without a straggler all get theirs"
        return AuditCheck(trial.area, trial.name, False, text, trial.stragglers[0].completion)


def _smaller(trial: _Trial, change: _Change) -> Iterator[_Trial]:
    """The changed completion with one other each."""
    suspects = trial.stragglers or (trial.before or trial.shots)[: change.at]
    if trial.way is Way.BATCH:
        suspects = tuple(shot for shot in trial.shots if shot != change.shot)
    distinct = {(shot.problem.id, shot.completion): shot for shot in suspects}
    few = replace(trial, honest=(change.shot,), before=(), stragglers=())
    for suspect in list(distinct.values())[:_MOST_SUSPECTS]:
        if trial.stragglers:
            yield replace(few, stragglers=(suspect,))
        else:
            yield replace(few, before=(suspect,))


def _findings(
    room: _Room, company: _Trial, changes: Sequence[_Change], *, mixes: Sequence[Mix]
) -> Iterator[Finding]:
    """The wrong completion that passes in company, confirmed from scratch."""
    oracle = room.hunt.oracle
    for change in changes:
        mix = next(mix for mix in mixes if mix.mark.problem is change.shot.problem)
        text, threshold = change.shot.completion, mix.mark.threshold
        payload = next((one for one in mix.wrong if one.text == text), None)
        if payload is None or threshold is None or change.alone.at_least(threshold):
            continue
        if not change.now.at_least(threshold):
            continue
        trial = replace(company, honest=(change.shot,))
        again = [room.run([trial], turn)[0] for turn in range(1, _CONFIRMATIONS + 1)]
        scores = [found[0].now for found in again if found and found[0].now.at_least(threshold)]
        evidence = oracle.why_wrong(mix.mark.problem, payload)
        if evidence is None or len(scores) < _CONFIRMATIONS or not trial.before:
            continue
        said = f"alone it gets {_said(change.alone)}, {_beside(trial)} "
        said += f"{_short(trial.before[0].completion)} it gets {_said(scores[0])}"
        yield Finding(
            flaw="state_leak",
            severity=FLAWS["state_leak"].severity,
            attack="state/after_another",
            tier=1,
            problem=mix.mark.problem.id,
            witness=text,
            score=min(score.value for score in scores if score.value is not None),
            threshold=threshold,
            evidence=replace(evidence, text=f"{evidence.text}; {said}"),
            fix=FLAWS["state_leak"].fix,
            catalogue=FLAWS["state_leak"].case,
            after=trial.before[0].completion,
        )
        return


def _beside(trial: _Trial) -> str:
    if trial.stragglers:
        return "beside"
    return "in one call with" if trial.way is Way.BATCH else "in the same process after"


def _said(score: Score) -> str:
    if score.value is not None:
        return f"{score.value:g}"
    return f"no score ({score.reason or score.trouble})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}…")
