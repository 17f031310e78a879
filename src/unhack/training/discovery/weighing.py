"""From what a policy learnt to proofs: ways of writing as strategies, texts as they are.

A sequence of pieces is a strategy: it makes a completion of any prompt by what a policy sees of it.
The search for hacks measures it on problems that it was not learnt on, as it does those of the
other tiers. The shortest texts go to the prover besides.

Covered: sequences shortened piece by piece first; programs, which are rewarded on their own
problem.
Not covered: texts of a language model as strategies: it writes another one for each prompt.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.search.strategies.search import HackSearch
from unhack.training.discovery.grammar import Grammar, Token, Written
from unhack.training.discovery.rollouts import DiscoveryRollouts

_FLAWS = {
    Claim.NO_ANSWER: "degenerate_credit", Claim.OTHER_ANSWER: "weak_proxy",
    Claim.EVERY_ANSWER: "hedging", Claim.BREAKS_RULE: "weak_proxy", Claim.PROGRAM: "weak_cases",
}  # fmt: skip
"""Flaw of a verifier by the claim that passes it, when nothing else is known."""
_WITNESSES = 2
"""Texts of one problem that are weighed."""
_STRATEGIES = 6
"""Sequences that are measured."""
_NOTHING = Payload("", Claim.NO_ANSWER)


def weigh(rollouts: DiscoveryRollouts, hacks: HackSearch, grammar: Grammar | None) -> None:
    """Hand the best sequences to the search for hacks, the shortest wrong texts of each problem to
    the prover, and the rest as a count."""
    if grammar is not None and not rollouts.marks[0].problem.is_code:
        hacks.try_attacks(_strategies(rollouts, grammar))
    _weigh_texts(rollouts)


def _weigh_texts(rollouts: DiscoveryRollouts) -> None:
    shared = _shared_hint(rollouts.wrong.values())
    weighed: set[tuple[int, str]] = set()
    attacks: dict[tuple[str, bool], Attack] = {}
    for number, mark in enumerate(rollouts.marks):
        mine = [key for key in rollouts.wrong if key[0] == number]
        mine.sort(key=lambda one: (rollouts.wrong[one].near, len(one[1])))
        for key in mine[:_WITNESSES]:
            written = rollouts.wrong[key]
            payload = written.payload or Payload(written.text, Claim.OTHER_ANSWER)
            attack = _attack(attacks, written, is_code=mark.problem.is_code, shared=shared)
            weighed.add(key)
            rollouts.prover.weigh(mark, attack, payload, score=rollouts.scores[key])
    for key in rollouts.scores.keys() - weighed:
        is_code = rollouts.marks[key[0]].problem.is_code
        attack = _attack(attacks, rollouts.written[key], is_code=is_code, shared=shared)
        rollouts.prover.count(attack, payloads=1, passed=int(rollouts.passes(key)))


def _strategies(rollouts: DiscoveryRollouts, grammar: Grammar) -> list[Attack]:
    """The sequences that are worth most, each in as few pieces as are still rewarded: an attack for
    each kind of claim, a place of it for each sequence."""
    worth = {tokens: record.worth for tokens, record in rollouts.sequences.items() if record.wrong}
    best = sorted(worth, key=lambda tokens: (-worth[tokens], len(tokens)))[:_STRATEGIES]
    by_claim: dict[Claim, list[tuple[Token, ...]]] = defaultdict(list)
    for tokens in best:
        example = rollouts.sequences[tokens].example
        assert example is not None
        short = _shortened(rollouts, grammar, *example)
        claim = short.payload.claim if short.payload is not None else Claim.OTHER_ANSWER
        if short.tokens not in by_claim[claim]:
            by_claim[claim].append(short.tokens)
    return [_of_sequences(grammar, claim, every) for claim, every in by_claim.items() if every]


def _of_sequences(grammar: Grammar, claim: Claim, every: Sequence[tuple[Token, ...]]) -> Attack:
    def make(known: Knowledge) -> Iterable[Payload]:
        # A policy that may have said the right answer is taken to say nothing: places must stay.
        return [grammar.strategy(tokens, known) or _NOTHING for tokens in every]

    return Attack(f"discovery/{claim.value}", _FLAWS[claim], 5, False, make)


def _shortened(
    rollouts: DiscoveryRollouts, grammar: Grammar, key: tuple[int, str], written: Written
) -> Written:
    """The completion without the pieces that it passes without, wrong as it is."""
    best, number, at = written, key[0], 0
    while at < len(best.tokens):
        fewer = (*best.tokens[:at], *best.tokens[at + 1 :])
        tried = grammar.spell(fewer, problem=number, fill=0)
        shown = (number, tried.text)
        if shown not in rollouts.scores:
            rollouts.written[shown] = tried
            if rollouts.score([shown], until=math.inf):
                return best
        if rollouts.passes(shown) and not tried.right and rollouts.is_wrong(number, tried):
            best = tried
        else:
            at += 1
    return best


def _shared_hint(every: Iterable[Written]) -> str:
    """The class of flaw whose pieces all wrong texts hold; empty where there is none."""
    found = list(every)
    counts = Counter(hint for written in found for hint in written.hints)
    return next((hint for hint in sorted(counts) if counts[hint] == len(found)), "")


def _attack(
    made: dict[tuple[str, bool], Attack], written: Written, *, is_code: bool, shared: str
) -> Attack:
    """The same object for the same way of being wrong: the prover counts by identity."""
    name, flaw, generic = "unsettled", _FLAWS[Claim.OTHER_ANSWER], False
    if is_code:
        name, flaw, generic = "program", shared or _FLAWS[Claim.PROGRAM], True
        if written.near:
            name, generic = "mutant", False
    elif written.payload is not None:
        claim = written.payload.claim
        name, flaw, generic = claim.value, _FLAWS[claim], claim is Claim.NO_ANSWER
    attack = Attack(f"discovery/{name}", flaw, 5, is_code, lambda known: (), generic)
    return made.setdefault((name, generic), attack)
