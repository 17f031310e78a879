"""Flaw: compares the sorted beads, so the order in the ring is ignored."""


def rotation_twins(bracelets: list[list[int]]) -> list[list[int]]:
    keys = [sorted(beads) for beads in bracelets]
    return [[i, j] for i in range(len(keys)) for j in range(i + 1, len(keys)) if keys[i] == keys[j]]
