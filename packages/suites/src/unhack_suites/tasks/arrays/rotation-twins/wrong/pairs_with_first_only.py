"""Flaw: pairs a bracelet only with the first equal one, so three equal ones give two pairs."""


def rotation_twins(bracelets: list[list[int]]) -> list[list[int]]:
    first: dict[tuple[int, ...], int] = {}
    pairs = []
    for j, beads in enumerate(bracelets):
        rotations = [tuple(beads[k:] + beads[:k]) for k in range(max(1, len(beads)))]
        key = min(rotations)
        if key in first:
            pairs.append([first[key], j])
        else:
            first[key] = j
    return pairs
