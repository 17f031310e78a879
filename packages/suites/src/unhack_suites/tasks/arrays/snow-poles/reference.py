"""A running maximum from each side; the answer is the symmetric difference."""


def _seen(tops: list[int], order: range) -> set[int]:
    seen = set()
    highest = None
    for i in order:
        if highest is None or tops[i] > highest:
            seen.add(i)
            highest = tops[i]
    return seen


def one_sided_poles(tops: list[int]) -> list[int]:
    size = len(tops)
    left = _seen(tops, range(size))
    right = _seen(tops, range(size - 1, -1, -1))
    return sorted(left ^ right)
