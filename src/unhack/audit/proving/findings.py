"""From proofs to findings: one for each cause, its shortest witness confirmed from scratch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from unhack.audit.attack import Claim
from unhack.audit.proving.classification import Closing, OpenCause, cause_of, class_of, weights_of
from unhack.audit.proving.grouping import (
    Cause,
    alike,
    by_flaw,
    fitness,
    merge,
    passes_anything,
    shorten,
)
from unhack.audit.proving.prover import Proof, Prover
from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import Tried
from unhack.audit.static_analysis.suspicions import Suspicion
from unhack.audit.subject import Query
from unhack.core.finding import ExpectedReward, Finding, FindingKind, Place, Severity

_CONFIRMATIONS = 3
_FOR_SHORTENING = 0.5
"""Of the seconds; a witness that is not confirmed in time is none."""
_TRIED_AGAIN = 8
"""Payloads of a cause that are tried where its witness does not pass again."""
_WITNESSES = 3
"""Further completions of a cause on which its fixes are tried."""
_FIRST_CALLS, _FURTHER_CALLS = 60, 30
"""Runs for the shortening of the most general witness, and of each other one."""
_Scores = dict[tuple[str, str], float]
"""Fresh scores, by the problem and the witness."""
_RANK = {severity: rank for rank, severity in enumerate(Severity)}
_VAGUE = ("unanchored_regex",)
_UNREAD = "problem_unbound"
"""The class of verifiers in which nothing depends on the right answer."""
_FULL, _HALF = 0.9, 0.5
"""Shares of a right answer's reward from which a hack is critical, and high."""


@dataclass(frozen=True, slots=True)
class _Name:
    """The flaw that a cause is named by."""

    flaw: str
    place: Place | None
    """The line that does it, or that suggests it."""
    tried_fix: str = ""
    """The change of that line that closes it."""

    @property
    def key(self) -> tuple[object, ...] | None:
        """The same for the same fix of the same line; None where no fix is known."""
        return (self.flaw, self.place, self.tried_fix) if self.tried_fix else None


def conclude(
    prover: Prover,
    suspicions: Sequence[Suspicion],
    path: str,
    closings_of: Callable[[Sequence[OpenCause]], list[list[Closing]]],
) -> list[Finding]:
    """The findings, the worst first. Proofs that do not hold three times over are dropped.

    `suspicions` are those about the verifier's source; `path` names that source; `closings_of`
    gives for each hole the fixes of the verifier that close it.
    """
    whole, now = prover.budget.until, time.monotonic()
    prover.budget.until = now + _FOR_SHORTENING * (whole - now)
    groups = alike(prover, by_flaw(prover.proofs))
    causes: list[Cause] = []
    if groups:
        # What needs nothing of the problem explains the rest, which then needs no shortening.
        [first] = shorten(prover, groups[:1], max_calls=_FIRST_CALLS)
        rest = tuple(proof for group in groups[1:] for proof in group)
        if first.proof.payload.claim is Claim.PROGRAM and passes_anything(first):
            causes = [replace(first, proofs=(*first.proofs, *rest))]
        else:
            causes = [first, *shorten(prover, groups[1:], max_calls=_FURTHER_CALLS)]
    prover.budget.until = whole
    causes, known = _that_hold(prover, merge(prover, causes))
    closings = closings_of([_hole(cause) for cause in causes])
    causes, names = _same_fix(
        causes,
        [
            _name(cause, suspicions, prover.tried, closings=fixes, path=path)
            for cause, fixes in zip(causes, closings, strict=True)
        ],
    )
    shown, scores = _show_fitting(prover, causes, names, known=known)
    found = [
        _finding(cause, score, name)
        for cause, score, name in zip(shown, scores, names, strict=True)
    ]
    return sorted(found, key=lambda finding: _RANK[finding.severity])


def _hole(cause: Cause) -> OpenCause:
    """The witness of a cause, and a few of its other completions, of different attacks."""
    own = Query(cause.proof.problem, cause.witness)
    others: dict[str, Proof] = {}
    for proof in _telling(cause):
        others.setdefault(proof.attack.name, proof)
    some = [one for one in others.values() if one is not cause.proof][:_WITNESSES]
    queries = (own, *(Query(one.problem, one.payload.text) for one in some))
    scores = tuple(
        one.threshold
        if one.expected_reward is None
        else one.expected_reward.closed_below(one.threshold)
        for one in (cause.proof, *some)
    )
    return OpenCause(queries, scores, cause.lines)


def _same_fix(causes: Sequence[Cause], names: Sequence[_Name]) -> tuple[list[Cause], list[_Name]]:
    """Causes that the same fix of the same line closes are one."""
    found: dict[object, tuple[Cause, _Name]] = {}
    for number, (cause, name) in enumerate(zip(causes, names, strict=True)):
        key = name.key or number
        first, _ = found.get(key, (None, name))
        one = cause if first is None else replace(first, proofs=(*first.proofs, *cause.proofs))
        found[key] = one, name
    return [cause for cause, _ in found.values()], [name for _, name in found.values()]


def _confirm(prover: Prover, causes: Sequence[Cause]) -> list[float | None]:
    """The lowest of several fresh scores of each; None where one does not pass."""
    queries = [Query(cause.proof.problem, cause.witness) for cause in causes] * _CONFIRMATIONS
    scores = prover.journal.score(queries)
    prover.budget.calls -= len(queries)
    found: list[float | None] = []
    for number, cause in enumerate(causes):
        mine = scores[number :: len(causes)]
        passed = all(score.at_least(cause.proof.threshold) for score in mine)
        values = [score.value for score in mine if score.value is not None]
        found.append(min(values) if passed else None)
    return found


def _that_hold(prover: Prover, causes: Sequence[Cause]) -> tuple[list[Cause], _Scores]:
    """The causes with witnesses that pass several times over, and their fresh scores: the shortened
    one, else one of the payloads as they were tried; without causes of which none does."""
    found: list[Cause] = []
    scores: _Scores = {}
    for cause, score in zip(causes, _confirm(prover, causes), strict=True):
        if score is not None:
            found.append(cause)
            scores[cause.key] = score
            continue
        by_text = {(one.problem.id, one.payload.text): one for one in (cause.proof, *cause.proofs)}
        others = [one for one in by_text.values() if one.payload.text != cause.witness]
        for proof in sorted(others, key=fitness)[:_TRIED_AGAIN]:
            one = Cause(proof, proof.payload.text, proof.evidence, cause.proofs)
            [again] = _confirm(prover, [one])
            if again is not None:
                # What the lost witness stood for is not known to be of its cause.
                same = [
                    one
                    for one in cause.proofs
                    if one.attack.flaw == proof.attack.flaw
                    and (proof.expected_reward is not None or one.expected_reward is None)
                ]
                found.append(replace(one, proofs=tuple(same) or (proof,)))
                scores[one.key] = again
                break
    return found, scores


def _show_fitting(
    prover: Prover, causes: Sequence[Cause], names: Sequence[_Name], *, known: _Scores
) -> tuple[list[Cause], list[float]]:
    """The causes with witnesses that fit the flaws they are named by, and their fresh scores;
    `known` holds those of the witnesses that they have.

    The shortest witness of a cause may come from another attack than those that name it. A reader
    who fixes what the name says would then find the witness still rewarded. Where the fix was
    tried on the witness it fits.
    """
    shown, scores = list(causes), [known[cause.key] for cause in causes]
    fitting = {
        number: proof
        for number, (cause, name) in enumerate(zip(causes, names, strict=True))
        if not name.tried_fix and (proof := _fitting(cause, name.flaw)) is not None
    }
    short = shorten(prover, [(one,) for one in fitting.values()], max_calls=_FURTHER_CALLS)
    for number, one, score in zip(fitting, short, _confirm(prover, short), strict=True):
        if score is not None:
            shown[number], scores[number] = replace(one, proofs=causes[number].proofs), score
    return shown, scores


def _fitting(cause: Cause, flaw: str) -> Proof | None:
    """The shortest proof of that flaw which is of the cause's kind; None where its own is
    one already, where there is none, and for programs, which are told apart by their witnesses."""
    if cause.proof.attack.flaw == flaw or cause.proof.payload.claim is Claim.PROGRAM:
        return None
    known = [proof for proof in _telling(cause) if proof.attack.flaw == flaw]
    return min(known, key=fitness, default=None)


def _name(
    cause: Cause,
    suspicions: Sequence[Suspicion],
    tried: Sequence[Tried],
    *,
    closings: Sequence[Closing],
    path: str,
) -> _Name:
    """The flaw that a cause is named by: by the fix that closes it, else by what passed."""
    telling = _telling(cause)
    suspected = {suspicion.flaw for suspicion in suspicions}
    known = cause_of(closings, weights_of(telling, tried, suspected)) if closings else None
    if known is not None:
        flaw, closing = known
        return _Name(flaw, Place(path, closing.line, closing.code), closing.what)
    flaws = list(dict.fromkeys(proof.attack.flaw for proof in telling))
    # What a careless pattern lets through is said last: nearly every verifier has one.
    flaws.sort(key=_VAGUE.__contains__)
    suspicion = next(
        (suspicion for flaw in flaws for suspicion in suspicions if suspicion.flaw == flaw), None
    )
    flaw = suspicion.flaw if suspicion is not None else flaws[0]
    if cause.proof.payload.claim is not Claim.PROGRAM:
        flaw = class_of(telling, tried, suspected)
        if _UNREAD in suspected and cause.proof.payload.claim is not Claim.NO_ANSWER:
            flaw = _UNREAD
        suspicion = next(
            (suspicion for suspicion in suspicions if suspicion.flaw == flaw), suspicion
        )
    return _Name(flaw, _place(suspicion, path))


def _place(suspicion: Suspicion | None, path: str) -> Place | None:
    if suspicion is None:
        return None
    return Place(suspicion.path or path, suspicion.line, suspicion.code)


def _finding(cause: Cause, score: float, name: _Name) -> Finding:
    flaw = name.flaw
    attacks = list(dict.fromkeys(proof.attack.name for proof in cause.proofs))
    own = cause.proof.attack.flaw == flaw
    first = next((one for one in _telling(cause) if one.attack.flaw == flaw), cause.proof)
    proof = cause.proof if own else first
    expected_reward = _expected_reward_of(cause)
    return Finding(
        flaw=flaw,
        severity=_severity(expected_reward),
        attack=proof.attack.name,
        tier=cause.proof.attack.tier,
        problem=cause.proof.problem.id,
        witness=cause.witness,
        score=score,
        threshold=cause.proof.threshold,
        evidence=cause.evidence,
        fix=FLAWS[flaw].fix,
        place=name.place,
        tried_fix=name.tried_fix,
        catalogue=FLAWS[flaw].case,
        also=tuple(name for name in attacks if name != proof.attack.name),
        kind=FindingKind.FALSE_ACCEPT if expected_reward is None else FindingKind.HACK,
        expected_reward=expected_reward,
    )


def _expected_reward_of(cause: Cause) -> ExpectedReward | None:
    """The expected reward of a hack, the highest of its cause. That of many answers at once goes
    with no witness but its own, nor does one of another strategy with its witness."""
    expected_rewards = [
        one.expected_reward for one in cause.proofs if one.expected_reward is not None
    ]
    own = cause.proof.expected_reward
    if own is not None:
        expected_rewards = [one for one in expected_rewards if one.by_attempts is own.by_attempts]
    return max(expected_rewards, key=lambda one: one.share, default=own)


def _telling(cause: Cause) -> tuple[Proof, ...]:
    """The proofs that say what a cause is: those of hacks, where there are any."""
    return tuple(one for one in cause.proofs if one.expected_reward is not None) or cause.proofs


def _severity(expected_reward: ExpectedReward | None) -> Severity:
    """By how much a policy gains."""
    if expected_reward is None:
        return Severity.LOW
    if expected_reward.share >= _FULL:
        return Severity.CRITICAL
    return Severity.HIGH if expected_reward.share >= _HALF else Severity.MEDIUM
