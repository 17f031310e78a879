"""The expected reward of honest guessing: the bar that a hack must be above.

A guess is a completion of the right form whose answer is a choice at random, or the commonest of
the set. How often it is right follows from the answers, not from the verifier, which may be the
broken part: a verifier that rewards every answer in full would otherwise raise its own bar.

A completion that lists answers has an honest counterpart too: a guesser who commits to the part at
the same place everywhere. Who lists all results of one step of arithmetic where the product is
asked for could have said the product.

Covered: choices, yes and no, sets with few different answers; credit for form and for nearness;
penalties, and the right to abstain from an answer that may be fined; numbers and words of a list,
with any signs between them.
Not covered: priors that only the world knows, such as that most counts are small; listed answers
without a letter or a digit, or in different notations.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from unhack.audit.attacks.from_prompt.extremes import with_last_number
from unhack.audit.oracle.answers import (
    is_choice,
    offered_choices,
    opposite,
)
from unhack.audit.oracle.oracle import normal
from unhack.audit.proving.baseline import Baseline, right_elsewhere
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.subject import AuditProblem, Query, Score

_MOST_OF_FORM = 0.5
"""Of what a right answer gets beyond nothing, the most that counts as credit for form: what rewards
more for a wrong answer rewards for not solving the problem."""

_FEWEST_CASES = 3
"""Of a grader whose cases nobody knows."""
_ENOUGH = 8
"""Problems on which the same wrong guess was scored, to be known as a good one and no lucky one."""
_ABSTENTIONS = (
    "unknown", "I don't know", "I do not know", "abstain", "unsure", "skip", "n/a",
    "unanswerable", "cannot be determined", "insufficient information",
)  # fmt: skip
"""Ways to say that one does not know."""
_GUESSES, _FEW_GUESSES = 8, 2
"""Wrong guesses for each problem, and where each is scored in a process of its own."""


@dataclass(frozen=True, slots=True)
class HonestReward:
    """The expected reward of honest completions of one problem, as raw scores."""

    right: float
    """The lowest score of a right completion that is rewarded."""
    guess: float
    """The mean that guessing gets."""
    chance: float
    """The probability that a guess is right."""
    wrong: tuple[float, ...] = ()
    """Rewards of wrong guesses of the right form, none above the most that counts as credit for
    form."""


def value_of(score: Score) -> float | None:
    """The reward; None for what has no score, and for NaN, which a trainer drops."""
    return None if score.value is None or math.isnan(score.value) else score.value


def _values(scores: Iterable[Score]) -> list[float]:
    found = map(value_of, scores)
    return [value for value in found if value is not None]


def honest_reward(
    journal: ScoreJournal,
    baselines: Sequence[Baseline],
    results_of: Callable[[AuditProblem], Sequence[object]],
    *,
    until: float = math.inf,
) -> dict[str, HonestReward]:
    """By problem id, for the problems on which right completions are rewarded; without those whose
    guesses had no score at `until`, by `time.monotonic`.

    Each is also given right completions of other problems, which are wrong here.
    `results_of` gives the right results of a function on known inputs: the commonest of them is the
    best guess, and it has to be right on all of them.
    """
    usable = [one for one in baselines if one.threshold is not None]
    problems = [one.problem for one in usable]
    prior = _prior_of_texts(problems)
    most = _GUESSES if journal.shares else _FEW_GUESSES
    elsewhere = {one.id: right_elsewhere(one, problems, most=most) for one in problems}
    unsure = {key: _unsure(texts) for key, texts in elsewhere.items()}
    source = journal.subject.source
    abstained = _abstentions(problems, "" if source is None else source.text)
    asked = {one.id: (*elsewhere[one.id], *unsure[one.id], *abstained[one.id]) for one in problems}
    # One guess at each problem before a second at any, so that every problem has some in time.
    queries = [
        Query(one, asked[one.id][turn])
        for turn in range(max(map(len, asked.values()), default=0))
        for one in problems
        if turn < len(asked[one.id])
    ]
    given = journal.screen(queries, until=until)
    scores, best = _by_problem(queries, given), _best_everywhere(queries, given, most=len(problems))
    found: dict[str, HonestReward] = {}
    for one in usable:
        assert one.threshold is not None
        mine = scores.get(one.problem.id, [])
        if mine and all(score.stopped for score in mine):
            continue
        count = len(elsewhere[one.problem.id])
        sure = count + len(unsure[one.problem.id])
        wrong, doubted = _values(mine[:count]), _values(mine[count:sure])
        results = results_of(one.problem) if one.problem.is_code else ()
        share = _commonest(results) if one.problem.is_code else _chance(one.problem, prior)
        expected_reward = _honest(
            one,
            one.threshold,
            wrong,
            doubted=doubted,
            chance=share,
            best=best.get(one.problem.id, -math.inf),
        )
        if one.problem.is_code:
            expected_reward = replace(
                expected_reward, chance=share ** max(len(results), _FEWEST_CASES)
            )
        # Who says that he does not know, where that word has a price, is honest up to half of it.
        priced = min(max(_values(mine[sure:]), default=-math.inf), _MOST_OF_FORM * one.threshold)
        guess = max(expected_reward.guess, priced)
        found[one.problem.id] = replace(expected_reward, guess=guess)
    return found


def _abstentions(problems: Sequence[AuditProblem], source: str) -> dict[str, list[str]]:
    """By problem id, right completions of another problem that abstain in the place of its answer,
    in words that the prompt or the verifier's source knows."""
    found: dict[str, list[str]] = {}
    for one in problems:
        known = f"{one.prompt}\n{source}".casefold()
        words = [word for word in _ABSTENTIONS if word.casefold() in known][:2]
        other = next(
            (
                o
                for o in problems
                if o is not one and o.correct and o.answer and o.answer in o.correct[0]
            ),
            None,
        )
        found[one.id] = (
            []
            if other is None or one.is_code
            else [other.correct[0].replace(other.answer or "", word) for word in words]
        )
    return found


def _by_problem(queries: Sequence[Query], scores: Sequence[Score]) -> dict[str, list[Score]]:
    """The scores of each problem, by its id, in order."""
    found: dict[str, list[Score]] = {}
    for query, score in zip(queries, scores, strict=True):
        found.setdefault(query.problem.id, []).append(score)
    return found


def _best_everywhere(
    queries: Sequence[Query], scores: Sequence[Score], *, most: int
) -> dict[str, float]:
    """By problem id, the scores of the one wrong completion that gets most on average: where what
    is near the right answer is rewarded a part, a guesser says what is near most of them. None for
    a set in which no completion was tried on enough problems."""
    columns: dict[str, dict[str, float]] = {}
    for query, score in zip(queries, scores, strict=True):
        value = value_of(score)
        if value is not None:
            columns.setdefault(query.completion, {})[query.problem.id] = value
    wide = [one for one in columns.values() if len(one) >= max(_ENOUGH, most / 2)]
    if not wide:
        return {}
    return max(wide, key=lambda one: statistics.fmean(one.values()))


def _unsure(texts: Sequence[str]) -> list[str]:
    """Wrong completions that say that they may well be: with a probability of nothing."""
    made = [with_last_number(text, "0") for text in texts[:1]]
    return [text for text in made if text is not None]


def _honest(
    one: Baseline,
    right: float,
    wrong: Sequence[float],
    *,
    doubted: Sequence[float],
    chance: float,
    best: float,
) -> HonestReward:
    """The expected reward of one problem; `wrong` holds the scores of completions that are right
    elsewhere, `doubted` those of the same with their last number, a probability maybe, at nothing,
    `best` that of the one which gets most on all problems."""
    blank = _values(one.blank.values())
    nothing = min([0.0, one.null, *wrong] if right > 0.0 else [one.null, *blank, *wrong])
    most = nothing + _MOST_OF_FORM * (right - nothing)
    wrong = tuple(min(most, value) for value in wrong)
    form = statistics.fmean(wrong) if wrong else nothing
    form = max(form, min(most, best))
    # A guesser writes in the form that is rewarded most.
    said = max([right, *one.right.values()])
    guess = chance * said + (1 - chance) * max(form, nothing)
    # Who does not know may say so: being spared a penalty is no hack where it is worth no more
    # than half of what a right answer is.
    abstained = min(0.0, most, max([*blank, *doubted], default=nothing))
    return HonestReward(right, max(guess, abstained), chance, wrong)


def _prior_of_texts(problems: Sequence[AuditProblem]) -> float:
    """The share of the other problems that the commonest answer of the set is right for."""
    counts = Counter(normal(one.answer or "") for one in problems if not one.is_code)
    most = max(counts.values(), default=0)
    return (most - 1) / (len(problems) - 1) if len(problems) > 1 and most else 0.0


def _chance(problem: AuditProblem, prior: float) -> float:
    """The probability that the best guess at a text is right."""
    answer = problem.answer or ""
    if not answer:
        return 0.0
    if is_choice(answer):
        return max(prior, 1 / max(2, len(offered_choices(problem.prompt))))
    return max(prior, 0.5 if opposite(answer) else 0.0)


def _commonest(results: Sequence[object]) -> float:
    """The share of the commonest result."""
    most = Counter(map(repr, results)).most_common(1)
    return most[0][1] / len(results) if most and len(results) > 1 else 0.0


_PART = re.compile(r"-?\d+(?:\.\d+)?|[^\W\d_]+")


def parts_of(text: str) -> list[str]:
    """The numbers and words of a text, in order, without case."""
    return _PART.findall(text.casefold())


def committed_share(pairs: Sequence[tuple[str, str]]) -> float:
    """Of (completion, right answer) pairs, the share on which saying one part would be right: the
    one at the place where the right answer stands most often in the other pairs, or, at random,
    one of the places or one of the parts that ever are right; in [0, 1]."""
    places = [_places(parts_of(text), parts_of(answer)) for text, answer in pairs]
    hits = Counter(place for own in places for place in own)
    if not hits:
        return 0.0
    right = 0.0
    for own in places:
        others = {place: count - (place in own) for place, count in hits.items()}
        most = max(others.values())
        chosen = {place for place, count in others.items() if count == most > 0}
        right += len(chosen & own) / (len(chosen) or 1)
    held = [tuple(parts_of(answer)) for (_, answer), own in zip(pairs, places, strict=True) if own]
    at_random = len(held) / min(len(hits), len(set(held)))
    return max(right, at_random) / len(pairs)


def _places(parts: Sequence[str], wanted: Sequence[str]) -> set[int]:
    """The places at which the wanted parts begin, counted from 0."""
    if not wanted:
        return set()
    size, first = len(wanted), wanted[0]
    return {
        at
        for at, part in enumerate(parts)
        if part == first and list(parts[at : at + size]) == list(wanted)
    }
