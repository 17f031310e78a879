"""Comparison of a completion's score alone with its score beside others: after them, in a thread,
beside one that never ends, in one call with them.

Covered: functions by every way of `sessions.Way`, scripts on one disk and at once; neighbours that
patch what all share, leave things behind, raise, run on, or end the process. Texts do so where a
verifier evaluates them, or breaks on them; programs, where they run in its own process.
Not covered: the clock and hash seeds, which are the same in every worker; several machines; what
takes memory from others, or kills processes by their number.

A score that changes does not make a verifier exploitable. A completion that is proven wrong, does
not pass by itself and passes beside others is a finding, of the class `state_leak`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from unhack.audit.proving.checks.group_samples import GroupSample, in_place, replace_answer
from unhack.audit.proving.journal import NO_ROOM
from unhack.audit.proving.prover import Prover
from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import Area, AuditCheck
from unhack.audit.subject import Query, Score
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.sessions import Session, Way, can_meet, run_sessions
from unhack.core.finding import Finding, FindingKind
from unhack.core.hashing import content_hash

_CONFIRMATIONS = 3
_PATIENCE = 4
"""Times the limit that completions get once more which had no score in it, as far as there is
time."""
_MAX_SUSPECTS = 12
_MIN_S, _THOROUGH_S = 2.0, 60.0
_MAX_SHOWN = 80
Fresh = Mapping[tuple[str, str], Score]
"""(problem, text) -> what it gets by itself."""


@dataclass(frozen=True)
class IsolationResult:
    """The checks and findings of the comparison."""

    checks: tuple[AuditCheck, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class _Trial:
    """Completions whose scores are compared, and those scored with them."""

    area: Area
    name: str
    way: Way
    honest: tuple[Query, ...]
    before: tuple[Query, ...] = ()
    stragglers: tuple[Query, ...] = ()

    @property
    def queries(self) -> tuple[Query, ...]:
        return (*self.before, *self.honest, *self.stragglers)

    def session(self, wall_s: float) -> Session:
        return Session(self.queries, self.way, len(self.stragglers), wall_s=wall_s)


@dataclass(frozen=True)
class _Change:
    """A completion that scored differently beside others."""

    at: int
    query: Query
    alone: Score
    now: Score

    def __str__(self) -> str:
        now, alone = _score_text(self.now), _score_text(self.alone)
        return f"problem {self.query.problem.id}: {now} instead of {alone}"


def examine(
    prover: Prover, samples: Sequence[GroupSample], fresh: Fresh, *, thorough: bool
) -> IsolationResult:
    """Compare scores beside others with `fresh`; nothing for subjects that share no process."""
    subject = prover.journal.subject
    steady = [sample for sample in samples if not sample.baseline.unsteady]
    if not isinstance(subject, FunctionSubject) or not samples or prover.budget.spent:
        return IsolationResult()
    if not steady:
        text = "its scores vary from run to run, so this cannot be checked"
        return IsolationResult(
            (AuditCheck(Area.ISOLATION, "the same score beside other completions", None, text),)
        )
    runner = _TrialRunner(prover, subject, fresh, _wall(prover, fresh, thorough=thorough))
    hostiles = tuple(hostile(steady))
    alone = prover.journal.score(hostiles)
    prover.budget.calls -= len(hostiles)
    quick = [
        query
        for query, score in zip(hostiles, alone, strict=True)
        if score.trouble not in {"timeout", "limit"}
    ]
    trials = [trial for trial in _trials(steady, fresh, quick) if can_meet(subject, trial.way)]
    changes = runner.run(trials)
    checks: list[AuditCheck] = []
    findings: list[Finding] = []
    for trial, found in zip(trials, changes, strict=True):
        check, suspect = runner.judge(trial, found)
        checks.append(check)
        if not findings and suspect is not None and not (trial.before and prover.proofs):
            findings += _findings(runner, suspect, found, samples=steady)
    return IsolationResult(tuple(checks), tuple(findings))


def _wall(prover: Prover, fresh: Fresh, *, thorough: bool) -> float:
    each = [score.seconds for score in fresh.values()]
    left = prover.budget.until - time.monotonic()
    wanted = _THOROUGH_S if thorough else max(3 * sum(each), 20 * max(each))
    return max(_MIN_S, min(left, wanted))


def _trials(
    samples: Sequence[GroupSample], fresh: Fresh, hostiles: Sequence[Query]
) -> Iterator[_Trial]:
    honest = tuple(_honest(samples, fresh))
    pairs = {(sample.baseline.problem.id, text) for sample in samples for text in _pair(sample)}
    few = tuple(query for query in honest if (query.problem.id, query.completion) in pairs)
    hostiles = tuple(hostiles)
    same = "the same score "
    yield _Trial(Area.DETERMINISM, f"{same}outside the main thread", Way.THREAD, few)
    yield _Trial(
        Area.DETERMINISM, f"{same}beside a straggler", Way.BESIDE, few,
        stragglers=tuple(straggling(samples)),
    )  # fmt: skip
    yield _Trial(Area.DETERMINISM, f"{same}in a batch", Way.BATCH, honest, before=hostiles[:8])
    yield _Trial(Area.ISOLATION, f"{same}one after another", Way.SERIES, (*honest, *honest[::-1]))
    yield _Trial(
        Area.ISOLATION, f"{same}after a hostile completion", Way.SERIES, few, before=hostiles
    )
    ends = tuple(leaving(samples))
    if ends:
        name = f"{same}after one that ends the process"
        yield _Trial(Area.ISOLATION, name, Way.SERIES, few, before=ends)


def _honest(samples: Sequence[GroupSample], fresh: Fresh) -> Iterator[Query]:
    for number, sample in enumerate(samples):
        problem = sample.baseline.problem
        texts = list(
            dict.fromkeys([sample.right, *sample.texts, *list(sample.baseline.scores)[-2:]])
        )
        for text in texts[:: -1 if number % 2 else 1]:
            score = fresh.get((problem.id, text))
            if score is not None and score.trouble not in {"timeout", "limit"}:
                yield Query(problem, text)


def _pair(sample: GroupSample) -> list[str]:
    return [sample.right, *(payload.text for payload in sample.wrong[:1])]


@dataclass(frozen=True)
class _TrialRunner:
    """Runs trials, and compares their scores with the fresh ones."""

    prover: Prover
    subject: FunctionSubject
    fresh: Fresh
    wall_s: float

    def run(self, trials: Sequence[_Trial], turn: int = 0) -> list[list[_Change]]:
        """The changed scores of each trial."""
        journal = self.prover.journal
        parts = [
            [(query.problem.id, query.completion) for query in trial.queries] for trial in trials
        ]
        keys = [
            content_hash(self.subject.fingerprint, trial.way.value, repr(part), str(turn))
            for trial, part in zip(trials, parts, strict=True)
        ]
        known = [
            journal.find(key, count=len(trial.queries))
            for key, trial in zip(keys, trials, strict=True)
        ]
        new: list[int] = []
        for at, (scores, trial) in enumerate(zip(known, trials, strict=True)):
            planned = sum(len(trials[one].queries) for one in new)
            if scores is None and planned + len(trial.queries) <= journal.room:
                new.append(at)
            elif scores is None:
                known[at] = [NO_ROOM] * len(trial.queries)
        scored = run_sessions(self.subject, [trials[at].session(self.wall_s) for at in new])
        for at, scores in zip(new, scored, strict=True):
            known[at] = scores
            journal.note(keys[at], scores)
            self.prover.budget.calls -= len(scores)
        return [
            list(self._changes(trial, scores or []))
            for trial, scores in zip(trials, known, strict=True)
        ]

    def _changes(self, trial: _Trial, scores: Sequence[Score]) -> Iterator[_Change]:
        first = len(trial.before)
        for at, query in enumerate(trial.honest, start=first):
            alone = self.fresh[query.problem.id, query.completion]
            if repr(alone.value) != repr(scores[at].value):
                yield _Change(at, query, alone, scores[at])

    def judge(self, trial: _Trial, changes: Sequence[_Change]) -> tuple[AuditCheck, _Trial | None]:
        """The check, and the smallest company in which the first change comes about."""
        if _are_late(changes):
            first = changes[0]
            # A busy machine may be the cause: who is only slowed down gets the score in more time,
            # who waits for an endless one never does.
            changes = self._patient().run([trial], turn=1)[0]
            if _are_late(changes):
                return self._late(trial, first), None
        same, total = len(trial.honest) - len(changes), len(trial.honest)
        text = f"{same} of {total} completions get the same score as alone"
        if not changes:
            return AuditCheck(trial.area, trial.name, True, text), None
        by_itself = replace(trial, before=(), stragglers=(), honest=(changes[0].query,))
        smaller = [by_itself, *_smaller(trial, changes[0])]
        found = self.run(smaller)
        at = next((at for at, change in enumerate(found) if change), None)
        company = smaller[at] if at is not None else None
        witness = changes[0].query.completion
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

    def _patient(self) -> _TrialRunner:
        left = self.prover.budget.until - time.monotonic()
        return replace(self, wall_s=min(_PATIENCE * self.wall_s, max(self.wall_s, left / 2)))

    def _late(self, trial: _Trial, change: _Change) -> AuditCheck:
        """The check for completions that are late in more time too: a straggler is blamed where
        all get theirs without it."""
        text = f"within {self.wall_s:.0f} s, {change}"
        control = replace(trial, stragglers=())
        if control == trial or self.run([control])[0]:
            return AuditCheck(trial.area, trial.name, None, text)
        text += "; without a straggler, all do"
        return AuditCheck(trial.area, trial.name, False, text, trial.stragglers[0].completion)


def _are_late(changes: Sequence[_Change]) -> bool:
    return any(change.now.trouble in {"timeout", "limit"} for change in changes)


def _smaller(trial: _Trial, change: _Change) -> Iterator[_Trial]:
    """Trials of the changed completion with one other each."""
    suspects = trial.stragglers or (trial.before or trial.queries)[: change.at]
    if trial.way is Way.BATCH:
        suspects = tuple(query for query in trial.queries if query != change.query)
    distinct = {(query.problem.id, query.completion): query for query in suspects}
    few = replace(trial, honest=(change.query,), before=(), stragglers=())
    for suspect in list(distinct.values())[:_MAX_SUSPECTS]:
        if trial.stragglers:
            yield replace(few, stragglers=(suspect,))
        else:
            yield replace(few, before=(suspect,))


def _findings(
    runner: _TrialRunner,
    company: _Trial,
    changes: Sequence[_Change],
    *,
    samples: Sequence[GroupSample],
) -> Iterator[Finding]:
    """The wrong completion that passes beside others, confirmed from scratch."""
    oracle = runner.prover.oracle
    for change in changes:
        sample = next(
            sample for sample in samples if sample.baseline.problem is change.query.problem
        )
        text, threshold = change.query.completion, sample.baseline.threshold
        payload = next((one for one in sample.wrong if one.text == text), None)
        if payload is None or threshold is None or change.alone.at_least(threshold):
            continue
        if not change.now.at_least(threshold):
            continue
        trial = replace(company, honest=(change.query,))
        again = [runner.run([trial], turn)[0] for turn in range(1, _CONFIRMATIONS + 1)]
        scores = [found[0].now for found in again if found and found[0].now.at_least(threshold)]
        evidence = oracle.why_wrong(sample.baseline.problem, payload)
        if evidence is None or len(scores) < _CONFIRMATIONS or not trial.before:
            continue
        said = f"alone it gets {_score_text(change.alone)}, {_beside(trial)} "
        said += f"{_short(trial.before[0].completion)} it gets {_score_text(scores[0])}"
        yield Finding(
            flaw="state_leak",
            severity=FLAWS["state_leak"].severity,
            attack="state/after_another",
            tier=1,
            problem=sample.baseline.problem.id,
            witness=text,
            score=min(score.value for score in scores if score.value is not None),
            threshold=threshold,
            evidence=replace(evidence, text=f"{evidence.text}; {said}"),
            fix=FLAWS["state_leak"].fix,
            catalogue=FLAWS["state_leak"].case,
            after=trial.before[0].completion,
            kind=FindingKind.HACK,
        )
        return


def _beside(trial: _Trial) -> str:
    if trial.stragglers:
        return "beside"
    return "in one call with" if trial.way is Way.BATCH else "in the same process after"


def _score_text(score: Score) -> str:
    if score.value is not None:
        return f"{score.value:g}"
    return f"no score ({score.reason or score.trouble})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _MAX_SHOWN else f"{line[:_MAX_SHOWN]}…")


_PROGRAMS = (
    "import builtins\nbuiltins.all = builtins.any = lambda *items: True\n"
    "builtins.abs = builtins.round = lambda *items: 0",
    "import json, math, operator\njson.loads = lambda *args, **kwargs: {}\n"
    "math.isclose = operator.eq = lambda *args, **kwargs: True",
    "import decimal, os, random, sys\nrandom.seed(0)\nos.chdir('/')\nos.environ.clear()\n"
    "decimal.getcontext().prec = 1\nsys.setrecursionlimit(200)",
    "import os\nfor name in ('answer.txt', 'expected.json', 'solution.py', 'json.py', 'result'):\n"
    "    for folder in ('.', os.environ.get('TMPDIR', '/tmp')):\n        try:\n"
    "            with open(os.path.join(folder, name), 'w') as file:\n"
    "                file.write('raise SystemExit(0)')\n        except OSError:\n            pass",
    "import sys\nframe = sys._getframe()\nwhile frame is not None:\n"
    "    for name, value in list(frame.f_globals.items()):\n"
    "        if callable(value) and any(part in name.lower() for part in\n"
    "                                   ('equal', 'compare', 'match', 'same', 'check_')):\n"
    "            frame.f_globals[name] = lambda *args, **kwargs: True\n"
    "    frame = frame.f_back",
    "raise ValueError('broken on purpose')",
    "def broken(:",
)
_VALUES = (
    "nan",
    "1/0",
    "\\frac{1}{0}",
    "__import__('builtins').__dict__.update(abs=lambda value: 0.0, round=lambda *items: 0)",
    "__import__('os').chdir('/')",
)
_TEXTS = ("", "\\boxed{" * 40, "(" * 300, "\0", "1, 2, 3, 4, 5, 6, 7, 8, 9", "é" * 20_000)
_TOWERS = ("9**9**9**9", "9^{9^{9^{9}}}")
_ENDLESS = ("while True:\n    pass\n", "import time\ntime.sleep(3600)\n")
_LEAVING = "import os\nos._exit(0)\n"


def hostile(samples: Sequence[GroupSample]) -> Iterator[Query]:
    """Completions that come before, or into the same call."""
    sample = samples[0]
    problem = sample.baseline.problem
    if problem.is_code:
        for source in _PROGRAMS:
            yield Query(problem, in_place(sample.right, f"{source}\n"))
        return
    for text in _TEXTS:
        yield Query(problem, text)
    for value in _VALUES:
        text = replace_answer(sample.right, problem.answer or "", value)
        yield Query(problem, value if text is None else text)


def straggling(samples: Sequence[GroupSample]) -> Iterator[Query]:
    """Completions that may never come to an end."""
    sample = samples[0]
    problem = sample.baseline.problem
    for text in _ENDLESS if problem.is_code else _TOWERS:
        if problem.is_code:
            yield Query(problem, in_place(sample.right, text))
        else:
            yield Query(problem, replace_answer(sample.right, problem.answer or "", text) or text)


def leaving(samples: Sequence[GroupSample]) -> Iterator[Query]:
    """A program that ends its process."""
    sample = samples[0]
    if sample.baseline.problem.is_code:
        yield Query(sample.baseline.problem, in_place(sample.right, _LEAVING))
