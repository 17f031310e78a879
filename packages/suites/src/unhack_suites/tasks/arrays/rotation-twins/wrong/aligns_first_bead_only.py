"""Flaw: rotates to the first place where the first bead occurs; repeated beads need more tries."""


def rotation_twins(bracelets: list[list[int]]) -> list[list[int]]:
    def equal(left: list[int], right: list[int]) -> bool:
        if len(left) != len(right):
            return False
        if not left:
            return True
        if left[0] not in right:
            return False
        shift = right.index(left[0])
        return right[shift:] + right[:shift] == left

    pairs = []
    for j, right in enumerate(bracelets):
        pairs.extend([i, j] for i in range(j) if equal(bracelets[i], right))
    return pairs
