"""Compares every pair: looks for one bracelet inside the other one written twice."""


def _equal(left: list[int], right: list[int]) -> bool:
    size = len(left)
    if size != len(right):
        return False
    twice = left + left
    return size == 0 or any(twice[shift : shift + size] == right for shift in range(size))


def rotation_twins(bracelets: list[list[int]]) -> list[list[int]]:
    pairs = []
    for j in range(len(bracelets)):
        for i in range(j):
            if _equal(bracelets[i], bracelets[j]):
                pairs.append([i, j])
    return pairs
