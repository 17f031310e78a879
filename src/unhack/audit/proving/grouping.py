"""Causes: proofs that show the same hole, grouped, each with its shortest witness.

A witness is shortened by delta debugging: lines first, then words, then characters. Several are
shortened side by side, so that the verifier is asked in batches.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002 (ddmin).

Covered: groups by flaw, by the lines of the verifier that run, by the shape of the witness.
Not covered: groups by what fixes them; `findings` merges those.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from unhack.audit.attack import Claim
from unhack.audit.proving.prover import Proof, Prover, holds_answer, still_wrong
from unhack.audit.subject import Query, tree_of
from unhack.core.finding import Evidence

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_SHORT = 40
"""Texts up to this length are reduced character by character."""

Asking = Generator[str, bool, str]
"""Yields texts, is sent whether they hold, returns the shortest that does."""


def minimize_all(
    waiting: Sequence[Asking], holds: Callable[[Sequence[tuple[int, str]]], Sequence[bool]]
) -> list[str]:
    """Run generators side by side: what each of `waiting` returns, in order.

    `holds` is given one question of each that still has any: its number and the text.
    """
    found = [""] * len(waiting)
    questions: dict[int, str] = {}

    def go_on(number: int, answer: bool | None) -> None:
        try:
            one = waiting[number]
            questions[number] = next(one) if answer is None else one.send(answer)
        except StopIteration as end:
            questions.pop(number, None)
            found[number] = end.value

    for number in range(len(waiting)):
        go_on(number, None)
    while questions:
        asked = list(questions.items())
        for (number, _), answer in zip(asked, holds(asked), strict=True):
            go_on(number, answer)
    return found


def shorten_questions(text: str, *, max_calls: int, characters: bool = True) -> Asking:
    """The questions that shorten one text, at most `max_calls`, none of them twice."""
    known: dict[str, bool] = {text: True}

    def still(parts: list[str]) -> Generator[str, bool, bool]:
        candidate = "".join(parts)
        if candidate not in known:
            if len(known) > max_calls:
                return False
            known[candidate] = yield candidate
        return known[candidate]

    if (yield from still([])):
        return ""
    parts = yield from _ddmin(text.splitlines(keepends=True), still)
    parts = yield from _ddmin(_WORDS.findall("".join(parts)), still)
    if characters and len("".join(parts)) <= _SHORT:
        parts = yield from _ddmin(list("".join(parts)), still)
    return "".join(parts)


def _ddmin(
    parts: list[str], still: Callable[[list[str]], Generator[str, bool, bool]]
) -> Generator[str, bool, list[str]]:
    """Remove parts while the rest still holds: halves first, then ever smaller pieces."""
    size = max(1, len(parts) // 2)
    while len(parts) >= 2:
        before, start = len(parts), 0
        while start < len(parts):
            rest = parts[:start] + parts[start + size :]
            if rest and (yield from still(rest)):
                parts = rest
            else:
                start += size
        if size == 1 and len(parts) == before:
            return parts
        size = max(1, min(size // 2, len(parts) // 2))
    return parts


_FLAWS_OF_ANYTHING = {"vacuous_cases", "vacuous_truth", "degenerate_credit", "exit_code"}


@dataclass(frozen=True, slots=True)
class Cause:
    """A witness, and every proof that it stands for."""

    proof: Proof
    witness: str
    evidence: Evidence
    proofs: tuple[Proof, ...]
    lines: frozenset[int] = frozenset()
    """The lines of the verifier that ran for the witness."""

    @property
    def key(self) -> tuple[str, str]:
        """The problem and the witness."""
        return self.proof.problem.id, self.witness


def by_flaw(proofs: Sequence[Proof]) -> list[tuple[Proof, ...]]:
    groups: dict[str, list[Proof]] = defaultdict(list)
    for proof in proofs:
        groups[proof.attack.flaw].append(proof)
    ordered = [sorted(group, key=fitness) for group in groups.values()]
    return [tuple(group) for group in sorted(ordered, key=_how_general)]


def fitness(proof: Proof) -> tuple[bool, bool, int]:
    """The sort key of proofs to show: hacks first, then what does not hold the right answer."""
    text = proof.payload.text
    return proof.expected_reward is None, holds_answer(proof.problem, text), len(text)


def _how_general(group: Sequence[Proof]) -> tuple[bool, bool, bool, int, int]:
    """The sort key of a cause: hacks and those that need nothing come first and explain the
    others."""
    first = group[0]
    claims = [Claim.NO_ANSWER, Claim.BREAKS_RULE, Claim.OTHER_ANSWER, Claim.EVERY_ANSWER]
    claims.append(Claim.PROGRAM)
    return (
        first.expected_reward is None,
        not (first.attack.generic and first.attack.flaw in _FLAWS_OF_ANYTHING),
        not first.attack.generic,
        claims.index(first.payload.claim),
        len(first.payload.text),
    )


def alike(prover: Prover, groups: Sequence[tuple[Proof, ...]]) -> list[tuple[Proof, ...]]:
    """Merge groups of texts whose shortest payloads take the same lines of the verifier."""
    found: dict[object, tuple[Proof, ...]] = {}
    for number, group in enumerate(groups):
        first, key = group[0], cast("object", number)
        if first.payload.claim is not Claim.PROGRAM and not prover.budget.spent:
            query = Query(first.problem, first.payload.text)
            key = prover.journal.subject.lines_of(query) or number
        found[key] = (*found.get(key, ()), *group)
    return list(found.values())


def shorten(prover: Prover, groups: Sequence[tuple[Proof, ...]], *, max_calls: int) -> list[Cause]:
    """The first proof of each group, made as short as possible, all side by side."""
    proofs = [group[0] for group in groups]
    evidence = [{proof.payload.text: proof.evidence} for proof in proofs]

    def hold(asked: Sequence[tuple[int, str]]) -> list[bool]:
        if prover.budget.spent:
            return [False] * len(asked)
        scores = prover.journal.screen(
            [Query(proofs[number].problem, text) for number, text in asked],
            until=prover.budget.until,
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
            max_calls=0 if _is_dump(proof) else max_calls,
            characters=proof.payload.claim is not Claim.PROGRAM,
        )
        for proof in proofs
    ]
    witnesses = minimize_all(waiting, hold)
    return [
        Cause(proof, witness, known[witness], group)
        for proof, witness, known, group in zip(proofs, witnesses, evidence, groups, strict=True)
    ]


def _is_dump(proof: Proof) -> bool:
    """Tell whether a hack is many answers at once: shortened on one problem, only the right answer
    of that one would be left, which the strategy does not know."""
    if proof.expected_reward is None:
        return False
    return proof.payload.claim is Claim.EVERY_ANSWER or proof.expected_reward.by_attempts


def merge(prover: Prover, causes: Sequence[Cause]) -> list[Cause]:
    """Merge causes whose witnesses take the same lines of the verifier, or, where that
    cannot be seen, have the same shape."""
    found: dict[object, Cause] = {}
    for cause in causes:
        lines = frozenset[int]()
        if cause.proof.payload.claim is not Claim.PROGRAM:
            lines = prover.journal.subject.lines_of(Query(cause.proof.problem, cause.witness))
        key = lines or _shape(cause, found)
        known = found.get(key)
        if known is None:
            found[key] = replace(cause, lines=lines)
        else:
            found[key] = replace(known, proofs=(*known.proofs, *cause.proofs))
    return list(found.values())


def _shape(cause: Cause, found: dict[object, Cause]) -> object:
    payload = cause.proof.payload
    anything = next((key for key, known in found.items() if passes_anything(known)), None)
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
    tree = tree_of(source)
    return source if tree is None else ast.dump(tree)


def passes_anything(cause: Cause) -> bool:
    if not cause.witness.strip():
        return True
    program = cause.proof.payload.claim is Claim.PROGRAM
    return program and cause.proof.attack.flaw in _FLAWS_OF_ANYTHING and cause.proof.attack.generic
