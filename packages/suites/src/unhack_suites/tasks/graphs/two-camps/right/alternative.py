"""Union-find with parity for the rules; a set of possible differences grows group by group."""


def camp_gap(scouts: int, quarrels: list[list[int]], pals: list[list[int]]) -> int:
    parent = list(range(scouts))
    parity = [0] * scouts

    def find(scout: int) -> tuple[int, int]:
        flip = 0
        while parent[scout] != scout:
            flip ^= parity[scout]
            scout = parent[scout]
        return scout, flip

    rules = [(a, b, 1) for a, b in quarrels] + [(a, b, 0) for a, b in pals]
    for a, b, differ in rules:
        root_a, flip_a = find(a)
        root_b, flip_b = find(b)
        if root_a == root_b:
            if flip_a ^ flip_b != differ:
                return -1
        else:
            parent[root_b] = root_a
            parity[root_b] = flip_a ^ flip_b ^ differ
    lean: dict[int, int] = {}
    for scout in range(scouts):
        root, flip = find(scout)
        lean[root] = lean.get(root, 0) + (1 if flip == 0 else -1)
    differences = {0}
    for amount in lean.values():
        differences = {abs(d + x) for d in differences for x in (amount, -amount)}
    return min(differences)
