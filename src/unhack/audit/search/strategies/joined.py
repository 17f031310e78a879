"""Strategies that are rewarded on different problems, written one after the other.

A reward with branches may reward one empty phrase on one kind of problem and another one on the
next; together they are rewarded on both.

Covered: pairs of strategies for text answers, in both orders.
Not covered: programs; three or more.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, payloads_by
from unhack.audit.search.strategies.measure import LEAST_SHARE
from unhack.audit.search.strategies.screening import Screening
from unhack.audit.search.strategies.strategy import Strategy

_SETS, _PAIRS = 6, 8
_GAPS = ("\n\n", " ")


def joined(screening: Screening) -> list[Attack]:
    """An attack for each pair that is rewarded on more of the screened problems than either."""
    best = _best_of_sets(screening)
    found: list[Attack] = []
    for one, other in combinations(list(best)[:_SETS], 2):
        if not (one <= other or other <= one):
            found += [_pair(best[one], best[other]), _pair(best[other], best[one])]
    return found[:_PAIRS]


def _best_of_sets(screening: Screening) -> dict[frozenset[int], Strategy]:
    """By the problems on which it is rewarded, the strategy that gains most; large sets first."""
    ranked = sorted(
        (one for one in screening.gains if not one.attack.for_code),
        key=lambda one: (-screening.gain(one), one.attack.name, one.place),
    )
    best: dict[frozenset[int], Strategy] = {}
    for strategy in ranked:
        gains = screening.gains[strategy]
        rewarded = frozenset(number for number, gain in gains.items() if gain >= LEAST_SHARE)
        if rewarded and len(rewarded) < len(screening.baselines):
            best.setdefault(rewarded, strategy)
    return dict(sorted(best.items(), key=lambda item: -len(item[0])))


def _pair(first: Strategy, second: Strategy) -> Attack:
    def make(known: Knowledge) -> Iterable[Payload]:
        parts = [_payload(one, known) for one in (first, second)]
        asserts = tuple(dict.fromkeys(text for part in parts for text in part.asserts))
        claim = (Claim.NO_ANSWER, Claim.OTHER_ANSWER, Claim.EVERY_ANSWER)[min(2, len(asserts))]
        for gap in _GAPS:
            yield Payload(gap.join(part.text for part in parts), claim, asserts)

    names = [f"{one.attack.name}[{one.place}]" for one in (first, second)]
    return Attack(
        " and ".join(names), first.attack.flaw, first.attack.tier, False, make, of_prompt=True
    )


def _payload(strategy: Strategy, known: Knowledge) -> Payload:
    made = payloads_by(strategy.attack, known)
    found = strategy.always or (made[strategy.place] if strategy.place < len(made) else None)
    return found or Payload("", Claim.NO_ANSWER)
