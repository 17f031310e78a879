"""Scores of right and empty completions, and the threshold of passing that follows.

A completion passes when it scores at least as much as the lowest-scoring correct one. Correct
completions that the verifier plainly rejects do not lower that mark: they are reported as a lack of
completeness.

Covered: rewards above zero; penalties, of which right completions get none or less than wrong ones.
Not covered: penalties on a single problem, or where all answers are the same: with no completion
that is right elsewhere there is nothing to compare with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from unhack.audit.oracle.oracle import normal
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.report.report import Area, AuditCheck
from unhack.audit.subject import AuditProblem, Query, Score

FULL_REWARD = 1.0
"""The usual reward of a right completion, where none is known."""
_NULL_TEXTS = ("", "I do not know.", "...")
_SECOND_RUN = "the same score on a second run, in another order"
_NULL_CODE = ("", "pass\n", "x = 1\n")


@dataclass(frozen=True)
class Baseline:
    """The scores of right and empty completions of one problem."""

    problem: AuditProblem
    threshold: float | None
    """The score from which a completion passes; None where no correct one is rewarded."""
    null: float
    """The highest score of an empty completion; 0 where it gets none, for a penalty too if right
    completions are rewarded."""
    rejected: tuple[tuple[str, Score], ...]
    """Correct completions below the threshold."""
    unsteady: str = ""
    """A completion that was scored differently the second time."""
    scores: Mapping[str, Score] = field(default_factory=dict[str, Score])
    """The first score of each correct and each empty completion, by its text."""
    repeated: bool = True
    """True where every completion was scored twice."""

    @property
    def right(self) -> dict[str, float]:
        """The scores of correct completions; what has no score, or NaN, is below everything."""
        return {text: _value(self.scores[text]) for text in self.problem.correct}

    @property
    def blank(self) -> dict[str, Score]:
        """The scores of empty completions, without those that are correct."""
        right = set(self.problem.correct)
        return {text: score for text, score in self.scores.items() if text not in right}


def measure_baselines(
    journal: ScoreJournal,
    problems: Sequence[AuditProblem],
    *,
    repeat: bool = True,
    set_limit: Callable[[float], None] | None = None,
) -> list[Baseline]:
    """Score every correct and empty completion.

    With `repeat` each has a process of its own, and a second time in the other order; `set_limit`
    is then given the seconds that right completions take, before anything else is scored. Problems
    whose right completions there was no time for are left out.
    """
    queries = [Query(problem, text) for problem in problems for text in _texts(problem)]
    first = _right_first(
        queries, score=journal.score if repeat else journal.screen, set_limit=set_limit
    )
    second = first
    if repeat:
        second = journal.score(queries[::-1])[::-1]
        _score_late_again(journal, queries, first, second)
    late = {
        query.problem.id
        for query, *scores in zip(queries, first, second, strict=True)
        if query.completion in query.problem.correct and any(one.stopped for one in scores)
    }
    found: list[Baseline] = []
    at = 0
    for problem in problems:
        count = len(_texts(problem))
        if problem.id not in late:
            one = _baseline(problem, first[at : at + count], second[at : at + count])
            found.append(replace(one, repeated=repeat))
        at += count
    return _with_penalties(journal, found)


def _score_late_again(
    journal: ScoreJournal, queries: Sequence[Query], first: list[Score], second: list[Score]
) -> None:
    """Score anew, in place, what was late in one of two runs alone: the host may have stumbled."""
    late = [[score.trouble == "timeout" for score in scores] for scores in (first, second)]
    places = [at for at, (one, other) in enumerate(zip(*late, strict=True)) if one is not other]
    again = journal.score([queries[at] for at in places])
    for at, score in zip(places, again, strict=True):
        (first if late[0][at] else second)[at] = score


def _right_first(
    queries: Sequence[Query],
    *,
    score: Callable[[Sequence[Query]], list[Score]],
    set_limit: Callable[[float], None] | None,
) -> list[Score]:
    """Scores of right completions, then of the others, in the order of the queries."""
    is_right = [query.completion in query.problem.correct for query in queries]
    right = [query for query, yes in zip(queries, is_right, strict=True) if yes]
    scored = score(right)
    if set_limit is not None:
        set_limit(_slowest(right, scored))
    found = iter(scored)
    rest = iter(score([query for query, yes in zip(queries, is_right, strict=True) if not yes]))
    return [next(found if yes else rest) for yes in is_right]


def _slowest(queries: Sequence[Query], scores: Sequence[Score]) -> float:
    """The seconds of a problem's quickest right completion, the most over all problems: a first
    call also holds imports. 0 where none is scored."""
    times: dict[str, float] = {}
    for query, score in zip(queries, scores, strict=True):
        if score.value is not None:
            key = query.problem.id
            times[key] = min(times.get(key, math.inf), score.seconds)
    return max(times.values(), default=0.0)


def _with_penalties(journal: ScoreJournal, baselines: list[Baseline]) -> list[Baseline]:
    """The baselines, with thresholds where right completions are not rewarded but wrong ones
    fined."""
    unrewarded = {
        at: right_elsewhere(one.problem, [other.problem for other in baselines])
        for at, one in enumerate(baselines)
        if one.threshold is None and one.right and max(one.right.values()) > -math.inf
    }
    queries = [
        Query(baselines[at].problem, text) for at, texts in unrewarded.items() for text in texts
    ]
    scores = iter(journal.screen(queries) if queries else [])
    found = list(baselines)
    for at, texts in unrewarded.items():
        fined = min((_value(next(scores)) for _ in texts), default=-math.inf)
        one = baselines[at]
        best = max(one.right.values())
        if -math.inf < fined < best:
            blank = max(map(_value, one.blank.values()), default=-math.inf)
            found[at] = _from_threshold(
                replace(one, null=max(blank, fined)), _lowest(one.right, above=fined)
            )
    return found


def right_elsewhere(
    problem: AuditProblem, others: Sequence[AuditProblem], *, most: int = 2
) -> list[str]:
    """Right completions of some other problems whose answers are written differently: they have
    the form of a right one and are wrong here. None for programs."""
    if problem.is_code:
        return []
    own = normal(problem.answer or "")
    found = [one.correct[0] for one in others if one.correct and normal(one.answer or "") != own]
    return list(dict.fromkeys(found))[:most]


def _texts(problem: AuditProblem) -> tuple[str, ...]:
    return (*problem.correct, *(_NULL_CODE if problem.is_code else _NULL_TEXTS))


def _baseline(problem: AuditProblem, first: Sequence[Score], second: Sequence[Score]) -> Baseline:
    texts = _texts(problem)
    count = len(problem.correct)
    null = max(0.0, *(_value(score) for score in first[count:]))
    unsteady = next(
        (
            text
            for text, one, two in zip(texts, first, second, strict=True)
            if repr(one.value) != repr(two.value)
        ),
        None,
    )
    note = "" if unsteady is None else unsteady or "(the empty completion)"
    scores = dict(zip(texts, first, strict=True))
    # A text may be both right and empty; its score as a right one counts.
    made = Baseline(problem, None, null, (), note, scores)
    best = max(made.right.values(), default=-math.inf)
    return _from_threshold(made, _lowest(made.right, above=null) if best > 0.0 else None)


def with_full_reward(baselines: Sequence[Baseline]) -> list[Baseline]:
    """The baselines of text problems without a rewarded right completion, as if `FULL_REWARD` were
    what one gets."""
    return [replace(one, threshold=FULL_REWARD) for one in baselines if not one.problem.is_code]


def _lowest(right: Mapping[str, float], *, above: float) -> float:
    """The lowest score of a right completion that was not rejected: one that is at least half-way
    from `above`, what is no reward, to the best."""
    best = max(right.values())
    middle = min(above + (best - above) / 2, best)
    return min(value for value in right.values() if value >= middle)


def _from_threshold(baseline: Baseline, threshold: float | None) -> Baseline:
    rejected = tuple(
        (text, baseline.scores[text])
        for text in baseline.problem.correct
        if threshold is None or not baseline.scores[text].at_least(threshold)
    )
    return replace(baseline, threshold=threshold, rejected=rejected)


def _value(score: Score) -> float:
    """The score as a number; what has none, or NaN, is below everything."""
    if score.value is None or math.isnan(score.value):
        return -math.inf
    return score.value


def choose_varied(baselines: Sequence[Baseline], *, most: int) -> list[Baseline]:
    """At most so many problems, with answers of as many kinds as there are."""
    kinds: dict[str, list[Baseline]] = {}
    for baseline in baselines:
        answer = baseline.problem.answer or ""
        kind = "".join(sorted({"0" if c.isdigit() else "a" if c.isalpha() else c for c in answer}))
        kinds.setdefault(kind, []).append(baseline)
    found: list[Baseline] = []
    while len(found) < min(most, len(baselines)):
        for group in kinds.values():
            if group and len(found) < most:
                found.append(group.pop(0))
    return found


def baseline_checks(baselines: Sequence[Baseline]) -> list[AuditCheck]:
    """Completeness, determinism and signal, as far as the baseline shows them."""
    total = sum(len(baseline.problem.correct) for baseline in baselines)
    rejected = [(baseline.problem, *pair) for baseline in baselines for pair in baseline.rejected]
    text = f"{total - len(rejected)} of {total} correct completions pass"
    witness = ""
    if rejected:
        problem, witness, score = rejected[0]
        given = score.reason or score.trouble or f"score {score.value}"
        text += f"; problem {problem.id} rejects one: {given}"
    if not total:
        text = "no correct completions are known"
    passes = not rejected if total else None
    counts = (total, len(rejected))
    found = [
        AuditCheck(Area.COMPLETENESS, "correct completions pass", passes, text, witness, *counts)
    ]
    twice = [baseline for baseline in baselines if baseline.repeated]
    unsteady = [baseline for baseline in twice if baseline.unsteady]
    text = f"{len(twice) - len(unsteady)} of {len(twice)} problems gave the same scores"
    witness = unsteady[0].unsteady if unsteady else ""
    found.append(AuditCheck(Area.DETERMINISM, _SECOND_RUN, not unsteady, text, witness))
    rewarded = [baseline for baseline in baselines if baseline.threshold is not None]
    if rewarded:
        highest = max(baseline.null for baseline in rewarded)
        text = f"the highest score of an empty completion is {highest:g}"
        nothing = not any(map(_rewards_nothing_said, rewarded))
        found.append(AuditCheck(Area.SIGNAL, "an empty completion earns nothing", nothing, text))
    return found


def _rewards_nothing_said(baseline: Baseline) -> bool:
    """Tell whether an empty completion is rewarded, or spared a penalty like a right one."""
    assert baseline.threshold is not None
    return baseline.null > 0.0 or baseline.null >= baseline.threshold


def some_known(baselines: Sequence[Baseline]) -> list[tuple[Query, Score]]:
    """Completions with their scores, right and empty ones in turn."""
    return [
        (Query(baseline.problem, text), score)
        for baseline in baselines
        for text, score in baseline.scores.items()
    ]
