"""Turns beside a card of their node: what agents are given of it, and their time.

Covered: an agent's clock stands still while something is measured on its node, as on one machine.
Not covered: who has the card; a measurement waits in the queue of its host
(`sandbox.gpu.card_queue`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unhack.agents.play import AttemptClock
from unhack.tasks.execution.ray.nodes import NodeClaim
from unhack.tournament.contest import Contest, NeedsCard, agents_card
from unhack.tournament.round.bench import measuring_claim


@dataclass(frozen=True, slots=True)
class CardTerms:
    """The part that cards of nodes have in the turns of a contest."""

    claim: NodeClaim
    """Of a measurement."""
    device: str
    """The card that an agent's tree is given on its node (`cuda`); empty for none."""


def card_terms(contest: Contest) -> CardTerms | None:
    """Those of a contest; None where it needs no card."""
    if not isinstance(contest, NeedsCard):
        return None
    return CardTerms(measuring_claim(contest), agents_card(contest))


class NodeClock:
    """An agent's time: that of a clock without the seconds for which its node stood still."""

    def __init__(self, clock: AttemptClock, still_s: Callable[[], float]) -> None:
        """`still_s` tells those seconds since some start."""
        self._clock, self._still_s = clock, still_s
        self._before_s = still_s()

    def elapsed_s(self) -> float:
        """See `AttemptClock`."""
        return max(0.0, self._clock.elapsed_s() - (self._still_s() - self._before_s))
