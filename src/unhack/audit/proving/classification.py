"""Classification of a cause: the flaw that explains it best, when several attacks get through.

The class is that of the fix that closes the hole: what the line does wrong shows in what changes
when it does it right, whatever attack came upon it. Where no fix of one place closes it, the
attacks tell: a verifier that has a flaw lets nearly every attack on that flaw through, and a few on
others. So the class is then the one of whose completions the greatest share passes. A line of the
source that suggests a class counts for it; classes that nearly any flaw makes pass count less.

Covered: text answers, where one careless line serves many attacks.
Not covered: programs, whose causes are told apart by their witnesses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from unhack.audit.attack import Claim
from unhack.audit.attacks.registry import all_attacks
from unhack.audit.oracle.oracle import number
from unhack.audit.proving.prover import Proof
from unhack.audit.report.report import Tried
from unhack.audit.subject import Query

_SUSPECTED, _OF_WITNESS = 3.0, 1.6
"""Factors for a class that the source suggests, and for the class of the witness."""
_WEIGHTS = {
    "timeout_open": 0.2, "judge_injection": 0.3, "unanchored_regex": 0.35, "length_padding": 0.3,
    "weak_proxy": 0.4, "frame_reading": 0.3, "always_equal_object": 0.3, "eval_of_completion": 0.4,
    "input_copy_credit": 0.6, "wrong_outranks_right": 0.4, "problem_unbound": 0.5,
    "format_credit": 0.5, "fail_open_gold": 0.6, "fail_open_exception": 0.6, "nan_poisoning": 0.6,
    "tokenisation_evasion": 0.6, "keyword_stuffing": 0.6, "channel_mixing": 0.6,
    "over_normalisation": 0.9, "sign_lost": 0.6,
}  # fmt: skip
"""Factors of classes whose completions also pass for other reasons; 1 for all others. They only
choose the name under which a proven exploit is reported, never whether one is: set by hand, so that
the planted verifiers with a known flaw are named by it."""
_LATER, _OF_ATTACKS = 0.8, 0.5
"""Factor for a further class that a fix closes; weight of what passed beside that of a fix."""
_ENOUGH = 0.5
"""The least weight, of both, from which a fix names the cause."""
_MUCH_JUNK, _HALF = 4, 0.5
"""From so many classes of empty completions, each passing by half, the content is not read."""
_OF_WORDS = 0.5
_WORDS = {
    "low_similarity", "order_ignored", "bag_of_words", "prefix_match", "suffix_match",
    "unit_conflation",
}  # fmt: skip
"""Classes that explain little where the answer is a bare number."""


@dataclass(frozen=True, slots=True)
class OpenCause:
    """Completions that are rewarded for the same cause, the shown witness first."""

    queries: tuple[Query, ...]
    scores: tuple[float, ...]
    """The scores from which they are rewarded."""
    lines: frozenset[int]
    """The lines of the verifier that ran for the witness; empty where that cannot be seen."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A fix of one place that leaves a hole unrewarded and right completions as they are."""

    flaws: tuple[str, ...]
    """Classes that it closes, the likeliest first."""
    line: int
    code: str
    what: str
    weight: float
    """By how much it says what the cause is, in [0, 1]."""
    keeps_all: bool = True
    """False where some form of a right completion loses its score too."""


def cause_of(
    closings: Sequence[Closing], weights: Mapping[str, float]
) -> tuple[str, Closing] | None:
    """The class that a fix shows, and that fix; None where none says enough.

    Of several fixes the one counts that changes least; where it closes several classes, or several
    do as well, what passed says which (`weights` of the classes of the attacks, see `class_of`).
    A fix that some right form does not survive only counts for a class whose attacks passed.
    """
    most = max(weights.values(), default=0.0) or 1.0
    best: tuple[float, str, Closing] | None = None
    for closing in closings:
        for place, flaw in enumerate(closing.flaws):
            if not closing.keeps_all and flaw not in weights:
                continue
            value = closing.weight * (1.0 if place == 0 else _LATER)
            value += _OF_ATTACKS * weights.get(flaw, 0.0) / most
            if best is None or value > best[0]:
                best = value, flaw, closing
    return best[1:] if best is not None and best[0] >= _ENOUGH else None


def class_of(
    proofs: Sequence[Proof], tried: Sequence[Tried], suspected: Collection[str] = ()
) -> str:
    """The id of the class that the attacks tell; as `weights_of`."""
    found = weights_of(proofs, tried, suspected)
    return max(found, key=lambda flaw: found[flaw])


def weights_of(
    proofs: Sequence[Proof], tried: Sequence[Tried], suspected: Collection[str] = ()
) -> dict[str, float]:
    """For each class of the attacks that got through, how well it explains them. The first of
    `proofs` is of the witness that is shown; `suspected` are the classes that the verifier's source
    suggests."""
    flaw_of = {attack.name: attack.flaw for attack in all_attacks()}
    flaw_of |= {proof.attack.name: proof.attack.flaw for proof in proofs}
    scored, passed = Counter[str](), Counter[str]()
    for record in tried:
        flaw = flaw_of.get(record.attack, "")
        scored[flaw] += record.completions
        passed[flaw] += record.rewarded
    empty = {
        proof.attack.flaw
        for proof in proofs
        if proof.payload.claim is Claim.NO_ANSWER and proof.attack.generic
    }
    junk = sum(passed[flaw] >= _HALF * scored[flaw] for flaw in empty) >= _MUCH_JUNK
    numeric = all(number(proof.problem.answer or "") is not None for proof in proofs)

    def weight(flaw: str) -> float:
        # One more that fails: two of two say less than ten of ten.
        share = passed[flaw] / (scored[flaw] + 1)
        if junk and flaw == "hollow_format":
            share = 1.0
        factor = _SUSPECTED if flaw in suspected and flaw != "unanchored_regex" else 1.0
        factor *= _OF_WITNESS if flaw == proofs[0].attack.flaw else 1.0
        words = _OF_WORDS if numeric and flaw in _WORDS else 1.0
        return share * factor * words * _WEIGHTS.get(flaw, 1.0)

    return {flaw: weight(flaw) for flaw in dict.fromkeys(proof.attack.flaw for proof in proofs)}
