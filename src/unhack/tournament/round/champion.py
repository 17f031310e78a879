"""The champion, and the start of a round and the words about it that follow from it.

A challenger takes the place of a champion only when it is better by more than their intervals
allow, corrected for how many challenged at once. The champion's fitness is told rounded to its own
noise (the Ladder of Blum and Hardt, ICML 2015), so that a round teaches nothing about the sealed
data beyond who leads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from unhack.tournament.contest import Measurement
from unhack.tournament.record.records import Entry, PlayerRole, Reign

_LEVEL = 0.025
"""One-sided, for all challengers of a round together."""
_Z = NormalDist().inv_cdf(1 - _LEVEL)


def beats(
    challenger: Measurement | Reign, champion: Measurement | Reign, *, tries: int = 1
) -> bool:
    """Tell whether it is better by more than chance, where `tries` challengers had the chance."""
    gap = challenger.fitness - champion.fitness
    noise = math.hypot(
        max(0.0, challenger.fitness - challenger.low), max(0.0, champion.high - champion.fitness)
    )
    factor = NormalDist().inv_cdf(1 - _LEVEL / max(1, tries)) / _Z
    return gap > 0 and gap > factor * noise


def new_champion(reigns: Sequence[Reign], entries: Sequence[Entry]) -> Reign | None:
    """The new champion after a round with `entries`; None when the old one stays.

    The first champion is the best that is worth more than nothing. Equal ones: the first in order.
    """
    able = [entry for entry in entries if could_win(entry)]
    champion = reigns[-1] if reigns else None
    able = [entry for entry in able if champion is None or entry.digest != champion.digest]
    if not able:
        return None
    best = max(able, key=lambda entry: entry.fitness)
    assert best.measured is not None
    found = Reign(
        best.round, best.agent, best.digest, best.fitness, best.measured.low, best.measured.high
    )
    if champion is not None and not beats(found, champion, tries=len(able)):
        return None
    return found


def could_win(entry: Entry) -> bool:
    """Tell whether it is an entry that a champion is chosen from."""
    return (
        entry.seeds and entry.role in (PlayerRole.AGENT, PlayerRole.BASELINE) and entry.fitness > 0
    )


def holds(credited: Measurement, fresh: Measurement, *, rivals: int) -> bool:
    """Tell whether a champion, the best of `rivals`, is on fresh data what it was credited with.

    The best of many was lucky too, so chance is corrected for their number.
    """
    return fresh.valid and not fresh.flags and not beats(credited, fresh, tries=rivals)


def current_champion(reigns: Sequence[Reign], entries: Sequence[Entry]) -> Reign | None:
    """The newest champion that is not tainted by now."""
    bad = {entry.digest for entry in entries if entry.tainted}
    good = [reign for reign in reigns if reign.digest not in bad]
    return good[-1] if good else None


def own_best(agent: str, entries: Sequence[Entry]) -> Entry | None:
    """The best that an agent handed in so far and that may seed; None when there is none."""
    able = [
        entry for entry in entries if entry.agent == agent and entry.seeds and entry.fitness > 0
    ]
    return max(able, key=lambda entry: entry.fitness) if able else None


def announced_fitness(reign: Reign) -> float:
    """Its fitness rounded to the power of ten at or above its standard error."""
    error = (reign.high - reign.low) / (2 * _Z)
    if not error > 0:
        return float(f"{reign.fitness:.6g}")
    digits = -math.ceil(math.log10(error))
    return round(reign.fitness, digits) + 0.0
