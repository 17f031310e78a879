"""From proofs to findings: one for each cause, its shortest witness confirmed from scratch."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from unhack.audit.attack import Claim
from unhack.audit.oracle.oracle import mentions
from unhack.audit.proving.classification import class_of
from unhack.audit.proving.minimize import minimize_all, shorten_questions
from unhack.audit.proving.prover import Proof, Prover, still_wrong
from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.report import Tried
from unhack.audit.static_analysis.suspicions import Suspicion
from unhack.audit.subject import Query
from unhack.core.finding import Evidence, Finding, Place, Severity

_CONFIRMATIONS = 3
_FIRST_CALLS, _FURTHER_CALLS = 60, 30
"""Runs for the shortening of the most general witness, and of each other one."""
_RANK = {severity: rank for rank, severity in enumerate(Severity)}
_VAGUE = ("unanchored_regex",)
_FLAWS_OF_ANYTHING = {"vacuous_cases", "vacuous_truth", "degenerate_credit", "exit_code"}


@dataclass(frozen=True, slots=True)
class _Cause:
    """A witness, and every proof that it stands for."""

    proof: Proof
    witness: str
    evidence: Evidence
    proofs: tuple[Proof, ...]


def conclude(prover: Prover, suspicions: Sequence[Suspicion], path: str) -> list[Finding]:
    """The findings, the worst first. Proofs that do not hold three times over are dropped.

    `suspicions` are those about the verifier's source; `path` names that source.
    """
    groups = _alike(prover, _by_flaw(prover.proofs))
    causes: list[_Cause] = []
    if groups:
        # What needs nothing of the problem explains the rest, which then needs no shortening.
        [first] = _shorten(prover, groups[:1], max_calls=_FIRST_CALLS)
        rest = tuple(proof for group in groups[1:] for proof in group)
        if first.proof.payload.claim is Claim.PROGRAM and _passes_anything(first):
            causes = [replace(first, proofs=(*first.proofs, *rest))]
        else:
            causes = [first, *_shorten(prover, groups[1:], max_calls=_FURTHER_CALLS)]
    causes = _merge(prover, causes)
    named = [_name(cause, suspicions, prover.tried) for cause in causes]
    shown, scores = _show_fitting(prover, causes, [flaw for flaw, _ in named])
    found = [
        _finding(cause, score, flaw, place=_place(suspicion, path))
        for cause, score, (flaw, suspicion) in zip(shown, scores, named, strict=True)
        if score is not None
    ]
    return sorted(found, key=lambda finding: _RANK[finding.severity])


def _by_flaw(proofs: Sequence[Proof]) -> list[tuple[Proof, ...]]:
    groups: dict[str, list[Proof]] = defaultdict(list)
    for proof in proofs:
        groups[proof.attack.flaw].append(proof)
    ordered = [sorted(group, key=lambda one: len(one.payload.text)) for group in groups.values()]
    return [tuple(group) for group in sorted(ordered, key=_how_general)]


def _how_general(group: Sequence[Proof]) -> tuple[bool, bool, int, int]:
    """The sort key of a cause: those that need nothing come first and explain the others."""
    first = group[0]
    claims = [Claim.NO_ANSWER, Claim.BREAKS_RULE, Claim.OTHER_ANSWER, Claim.EVERY_ANSWER]
    claims.append(Claim.PROGRAM)
    return (
        not (first.attack.generic and first.attack.flaw in _FLAWS_OF_ANYTHING),
        not first.attack.generic,
        claims.index(first.payload.claim),
        len(first.payload.text),
    )


def _alike(prover: Prover, groups: Sequence[tuple[Proof, ...]]) -> list[tuple[Proof, ...]]:
    """Merge groups of texts whose shortest payloads take the same lines of the verifier."""
    found: dict[object, tuple[Proof, ...]] = {}
    for number, group in enumerate(groups):
        first, key = group[0], cast("object", number)
        if first.payload.claim is not Claim.PROGRAM and not prover.budget.spent:
            query = Query(first.problem, first.payload.text)
            key = prover.journal.subject.lines_of(query) or number
        found[key] = (*found.get(key, ()), *group)
    return list(found.values())


def _shorten(
    prover: Prover, groups: Sequence[tuple[Proof, ...]], *, max_calls: int
) -> list[_Cause]:
    """The first proof of each group, made as short as possible, all side by side."""
    proofs = [group[0] for group in groups]
    evidence = [{proof.payload.text: proof.evidence} for proof in proofs]

    def hold(asked: Sequence[tuple[int, str]]) -> list[bool]:
        if prover.budget.spent:
            return [False] * len(asked)
        scores = prover.journal.score(
            [Query(proofs[number].problem, text) for number, text in asked]
        )
        prover.budget.calls -= len(asked)
        answers: list[bool] = []
        for (number, text), score in zip(asked, scores, strict=True):
            proof, found = proofs[number], None
            if score.at_least(proof.threshold):
                found = still_wrong(prover.oracle, proof, text)
            if found is not None:
                evidence[number][text] = found
            answers.append(found is not None)
        return answers

    waiting = [
        shorten_questions(
            proof.payload.text,
            max_calls=max_calls,
            characters=proof.payload.claim is not Claim.PROGRAM,
        )
        for proof in proofs
    ]
    witnesses = minimize_all(waiting, hold)
    return [
        _Cause(proof, witness, known[witness], group)
        for proof, witness, known, group in zip(proofs, witnesses, evidence, groups, strict=True)
    ]


def _merge(prover: Prover, causes: Sequence[_Cause]) -> list[_Cause]:
    """Merge causes whose witnesses take the same lines of the verifier, or, where that
    cannot be seen, have the same shape."""
    found: dict[object, _Cause] = {}
    for cause in causes:
        key: object = frozenset[int]()
        if cause.proof.payload.claim is not Claim.PROGRAM:
            key = prover.journal.subject.lines_of(Query(cause.proof.problem, cause.witness))
        key = key or _shape(cause, found)
        known = found.get(key)
        if known is None:
            found[key] = cause
        else:
            found[key] = replace(known, proofs=(*known.proofs, *cause.proofs))
    return list(found.values())


def _shape(cause: _Cause, found: dict[object, _Cause]) -> object:
    payload = cause.proof.payload
    anything = next((key for key, known in found.items() if _passes_anything(known)), None)
    if anything is not None:
        return anything
    if payload.claim is Claim.PROGRAM:
        mine = _without_layout(cause.witness)
        same = (key for key, known in found.items() if _without_layout(known.witness) == mine)
        return next(same, cause.proof.attack.flaw)
    text = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", cause.witness))
    return payload.claim, re.sub(r"(a|0)(\s*\1)+", r"\1", re.sub(r"\s+", "", text))


def _without_layout(source: str) -> str:
    """A program without its layout; as it is where it does not parse."""
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError):
        return source


def _passes_anything(cause: _Cause) -> bool:
    if not cause.witness.strip():
        return True
    program = cause.proof.payload.claim is Claim.PROGRAM
    return program and cause.proof.attack.flaw in _FLAWS_OF_ANYTHING and cause.proof.attack.generic


def _confirm(prover: Prover, causes: Sequence[_Cause]) -> list[float | None]:
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


def _show_fitting(
    prover: Prover, causes: Sequence[_Cause], flaws: Sequence[str]
) -> tuple[list[_Cause], list[float | None]]:
    """The causes with witnesses that fit the flaws they are named by, and their fresh scores.

    The shortest witness of a cause may come from another attack than those that name it. A reader
    who mends what the name says would then find the witness still rewarded.
    """
    shown = list(causes)
    fitting = {
        number: proof
        for number, (cause, flaw) in enumerate(zip(causes, flaws, strict=True))
        if (proof := _fitting(cause, flaw)) is not None
    }
    short = _shorten(prover, [(one,) for one in fitting.values()], max_calls=_FURTHER_CALLS)
    for number, one in zip(fitting, short, strict=True):
        shown[number] = replace(one, proofs=causes[number].proofs)
    scores = _confirm(prover, shown)
    lost = [number for number in fitting if scores[number] is None]
    for number, score in zip(lost, _confirm(prover, [causes[one] for one in lost]), strict=True):
        shown[number], scores[number] = causes[number], score
    return shown, scores


def _fitting(cause: _Cause, flaw: str) -> Proof | None:
    """The shortest proof of that flaw which is as severe as the cause's own; None where its own is
    one already, where there is none, and for programs, which are told apart by their witnesses."""
    if cause.proof.attack.flaw == flaw or cause.proof.payload.claim is Claim.PROGRAM:
        return None
    least = _RANK[_severity(cause.proof, cause.witness)]
    known = [
        proof
        for proof in cause.proofs
        if proof.attack.flaw == flaw and _RANK[_severity(proof, proof.payload.text)] <= least
    ]
    return min(known, key=lambda proof: len(proof.payload.text), default=None)


def _name(
    cause: _Cause, suspicions: Sequence[Suspicion], tried: Sequence[Tried]
) -> tuple[str, Suspicion | None]:
    """The flaw that a cause is named by, and the line of the source that suggests it."""
    flaws = list(dict.fromkeys(proof.attack.flaw for proof in cause.proofs))
    # What a careless pattern lets through is said last: nearly every verifier has one.
    flaws.sort(key=_VAGUE.__contains__)
    suspicion = next(
        (suspicion for flaw in flaws for suspicion in suspicions if suspicion.flaw == flaw), None
    )
    flaw = suspicion.flaw if suspicion is not None else flaws[0]
    if cause.proof.payload.claim is not Claim.PROGRAM:
        flaw = class_of(cause.proofs, tried, {suspicion.flaw for suspicion in suspicions})
        suspicion = next(
            (suspicion for suspicion in suspicions if suspicion.flaw == flaw), suspicion
        )
    return flaw, suspicion


def _place(suspicion: Suspicion | None, path: str) -> Place | None:
    return Place(path, suspicion.line, suspicion.code) if suspicion is not None else None


def _finding(cause: _Cause, score: float, flaw: str, *, place: Place | None) -> Finding:
    attacks = list(dict.fromkeys(proof.attack.name for proof in cause.proofs))
    own = cause.proof.attack.flaw == flaw
    first = next((one for one in cause.proofs if one.attack.flaw == flaw), cause.proof)
    proof = cause.proof if own else first
    return Finding(
        flaw=flaw,
        severity=_severity(cause.proof, cause.witness),
        attack=proof.attack.name,
        tier=cause.proof.attack.tier,
        problem=cause.proof.problem.id,
        witness=cause.witness,
        score=score,
        threshold=cause.proof.threshold,
        evidence=cause.evidence,
        fix=FLAWS[flaw].fix,
        place=place,
        catalogue=FLAWS[flaw].case,
        also=tuple(name for name in attacks if name != proof.attack.name),
    )


def _severity(proof: Proof, witness: str) -> Severity:
    payload = proof.payload
    if payload.claim is Claim.PROGRAM:
        if proof.attack.tier == 4:
            return Severity.MEDIUM
        return Severity.CRITICAL if proof.attack.generic else Severity.HIGH
    if payload.claim is Claim.NO_ANSWER:
        return Severity.CRITICAL
    answer = proof.problem.answer or ""
    if payload.claim is Claim.OTHER_ANSWER and mentions(witness, answer):
        return Severity.MEDIUM
    return Severity.HIGH
