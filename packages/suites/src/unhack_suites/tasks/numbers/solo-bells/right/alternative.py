"""Per bell, a sieve recursion counts the rings without other bells; the answer is built bitwise."""

from functools import lru_cache
from math import gcd


@lru_cache(maxsize=None)
def _reduced(factors: tuple[int, ...]) -> tuple[int, ...]:
    kept: list[int] = []
    for factor in sorted(set(factors)):
        if all(factor % small for small in kept):
            kept.append(factor)
    return tuple(kept)


@lru_cache(maxsize=None)
def _plan(factors: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Pairs (d, c): the count up to n of numbers without any of the factors is sum c * (n // d)."""
    if not factors:
        return ((1, 1),)
    rest, last = factors[:-1], factors[-1]
    weights: dict[int, int] = dict(_plan(rest))
    for divisor, weight in _plan(_reduced(tuple(f // gcd(f, last) for f in rest))):
        weights[divisor * last] = weights.get(divisor * last, 0) - weight
    return tuple(weights.items())


def solo_ring(periods: list[int], k: int) -> int:
    counters: list[tuple[int, int]] = []
    for i, own in enumerate(periods):
        others = periods[:i] + periods[i + 1 :]
        factors = _reduced(tuple(other // gcd(other, own) for other in others))
        if 1 not in factors:
            counters.extend((own * divisor, weight) for divisor, weight in _plan(factors))
    if not counters:
        return -1
    before = 0
    for bit in range(80, -1, -1):
        probe = before + (1 << bit)
        if sum(weight * (probe // divisor) for divisor, weight in counters) < k:
            before = probe
    return before + 1
