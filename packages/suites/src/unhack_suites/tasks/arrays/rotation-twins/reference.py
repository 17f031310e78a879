"""Groups the bracelets by their smallest rotation."""

from itertools import combinations


def _smallest_rotation(beads: list[int]) -> tuple[int, ...]:
    return min((tuple(beads[i:] + beads[:i]) for i in range(len(beads))), default=())


def rotation_twins(bracelets: list[list[int]]) -> list[list[int]]:
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, beads in enumerate(bracelets):
        groups.setdefault(_smallest_rotation(beads), []).append(index)
    return [[i, j] for group in groups.values() for i, j in combinations(group, 2)]
