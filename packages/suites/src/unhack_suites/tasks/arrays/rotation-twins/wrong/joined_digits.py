"""Flaw: joins the bead numbers to one string, so [1, 23] and [12, 3] look the same."""


def rotation_twins(bracelets: list[list[int]]) -> list[list[int]]:
    texts = ["".join(str(bead) for bead in beads) for beads in bracelets]
    pairs = []
    for i in range(len(bracelets)):
        for j in range(i + 1, len(bracelets)):
            if len(bracelets[i]) == len(bracelets[j]) and len(texts[i]) == len(texts[j]):
                if texts[j] in texts[i] * 2:
                    pairs.append([i, j])
    return pairs
