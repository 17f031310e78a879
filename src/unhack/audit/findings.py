"""From proofs to findings: one for each cause, its shortest witness confirmed from scratch."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from unhack.audit.attack import Claim
from unhack.audit.flaws import FLAWS
from unhack.audit.hunt import Hunt, Proof, still_wrong
from unhack.audit.leads import Lead
from unhack.audit.minimize import minimize
from unhack.audit.oracle import mentions
from unhack.audit.subject import Shot
from unhack.core.finding import Evidence, Finding, Place, Severity

_CONFIRMATIONS = 3
_MINIMIZING_CALLS = 60
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


def conclude(hunt: Hunt, leads: Sequence[Lead], path: str) -> list[Finding]:
    """The findings, the worst first. Proofs that do not hold three times over are dropped.

    `leads` are what the verifier's source suggests; `path` names that source.
    """
    causes = _merge(hunt, [_shorten(hunt, group) for group in _by_flaw(hunt.proofs)])
    found: list[Finding] = []
    for cause in causes:
        score = _confirm(hunt, cause)
        if score is not None:
            found.append(_finding(cause, score, leads, path=path))
    return sorted(found, key=lambda finding: _RANK[finding.severity])


def _by_flaw(proofs: Sequence[Proof]) -> list[tuple[Proof, ...]]:
    groups: dict[str, list[Proof]] = defaultdict(list)
    for proof in proofs:
        groups[proof.attack.flaw].append(proof)
    ordered = [sorted(group, key=lambda one: len(one.payload.text)) for group in groups.values()]
    return [tuple(group) for group in sorted(ordered, key=_how_general)]


def _how_general(group: Sequence[Proof]) -> tuple[int, int, int]:
    """Causes that need nothing come first: they explain the others."""
    first = group[0]
    claims = [Claim.NO_ANSWER, Claim.OTHER_ANSWER, Claim.EVERY_ANSWER, Claim.PROGRAM]
    return (not first.attack.generic, claims.index(first.payload.claim), len(first.payload.text))


def _shorten(hunt: Hunt, group: tuple[Proof, ...]) -> _Cause:
    proof = group[0]
    evidence: dict[str, Evidence] = {proof.payload.text: proof.evidence}

    def holds(text: str) -> bool:
        if hunt.budget.spent:
            return False
        [score] = hunt.journal.score([Shot(proof.problem, text)])
        hunt.budget.calls -= 1
        if not score.at_least(proof.threshold):
            return False
        found = still_wrong(hunt.oracle, proof, text)
        if found is not None:
            evidence[text] = found
        return found is not None

    witness = minimize(proof.payload.text, holds, most_calls=_MINIMIZING_CALLS)
    return _Cause(proof, witness, evidence[witness], group)


def _merge(hunt: Hunt, causes: Sequence[_Cause]) -> list[_Cause]:
    """Causes are one when their witnesses take the same lines of the verifier, or, where that
    cannot be seen, have the same shape."""
    found: dict[object, _Cause] = {}
    for cause in causes:
        key: object = frozenset[int]()
        if cause.proof.payload.claim is not Claim.PROGRAM:
            key = hunt.journal.subject.lines_of(Shot(cause.proof.problem, cause.witness))
        key = key or _shape(cause, found)
        known = found.get(key)
        if known is None:
            found[key] = cause
        else:
            found[key] = replace(known, proofs=(*known.proofs, *cause.proofs))
    return list(found.values())


def _shape(cause: _Cause, found: dict[object, _Cause]) -> object:
    payload = cause.proof.payload
    if payload.claim is Claim.PROGRAM:
        anything = next((key for key, known in found.items() if _passes_anything(known)), None)
        same = (key for key, known in found.items() if known.witness == cause.witness)
        return anything if anything is not None else next(same, cause.proof.attack.flaw)
    anything = next((key for key, known in found.items() if known.witness.strip() == ""), None)
    if anything is not None:
        return anything
    text = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", cause.witness))
    return payload.claim, re.sub(r"(a|0)(\s*\1)+", r"\1", re.sub(r"\s+", "", text))


def _passes_anything(cause: _Cause) -> bool:
    return cause.proof.attack.flaw in _FLAWS_OF_ANYTHING and cause.proof.attack.generic


def _confirm(hunt: Hunt, cause: _Cause) -> float | None:
    """The lowest of several fresh scores; None when one does not pass."""
    shots = [Shot(cause.proof.problem, cause.witness)] * _CONFIRMATIONS
    scores = [hunt.journal.score([shot])[0] for shot in shots]
    hunt.budget.calls -= len(shots)
    if not all(score.at_least(cause.proof.threshold) for score in scores):
        return None
    return min(score.value for score in scores if score.value is not None)


def _finding(cause: _Cause, score: float, leads: Sequence[Lead], *, path: str) -> Finding:
    flaws = list(dict.fromkeys(proof.attack.flaw for proof in cause.proofs))
    # What a careless pattern lets through is said last: nearly every verifier has one.
    flaws.sort(key=_VAGUE.__contains__)
    lead = next((lead for flaw in flaws for lead in leads if lead.flaw == flaw), None)
    flaw = lead.flaw if lead is not None else flaws[0]
    attacks = list(dict.fromkeys(proof.attack.name for proof in cause.proofs))
    proof = next((one for one in cause.proofs if one.attack.flaw == flaw), cause.proof)
    return Finding(
        flaw=flaw,
        severity=_severity(cause),
        attack=proof.attack.name,
        tier=cause.proof.attack.tier,
        problem=cause.proof.problem.id,
        witness=cause.witness,
        score=score,
        threshold=cause.proof.threshold,
        evidence=cause.evidence,
        fix=FLAWS[flaw].fix,
        place=Place(path, lead.line, lead.code) if lead is not None else None,
        catalogue=FLAWS[flaw].case,
        also=tuple(name for name in attacks if name != proof.attack.name),
    )


def _severity(cause: _Cause) -> Severity:
    proof, payload = cause.proof, cause.proof.payload
    if payload.claim is Claim.PROGRAM:
        if proof.attack.tier == 4:
            return Severity.MEDIUM
        return Severity.CRITICAL if proof.attack.generic else Severity.HIGH
    if payload.claim is Claim.NO_ANSWER:
        return Severity.CRITICAL
    answer = proof.problem.answer or ""
    if payload.claim is Claim.OTHER_ANSWER and mentions(cause.witness, answer):
        return Severity.MEDIUM
    return Severity.HIGH
