"""Flaw: without a rotation to try, two empty bracelets are not found equal."""


def rotation_twins(bracelets: list[list[int]]) -> list[list[int]]:
    pairs = []
    for i, left in enumerate(bracelets):
        for j in range(i + 1, len(bracelets)):
            right = bracelets[j]
            if len(left) == len(right):
                if any(left[k:] + left[:k] == right for k in range(len(left))):
                    pairs.append([i, j])
    return pairs
