"""Interval dynamic programming over (start, end, depth left), then rebuilds a text."""

from functools import lru_cache

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {")": "(", "]": "[", "}": "{"}
NEVER = 10**6


def mend_brackets(text: str, depth: int) -> str:
    # For best(i, j, left): how many insertions text[i:j] needs where pairs may nest `left`
    # deep, and the end of the pair that text[i] opens (-1 when it gets a new partner).
    @lru_cache(maxsize=None)
    def best(i: int, j: int, left: int) -> tuple[int, int]:
        if i == j:
            return 0, -1
        if text[i] not in CLOSING and text[i] not in OPENING:
            return best(i + 1, j, left)[0], -1
        if left == 0:
            return NEVER, -1
        choice = (1 + best(i + 1, j, left)[0], -1)
        if text[i] in CLOSING:
            for k in range(i + 1, j):
                if text[k] == CLOSING[text[i]]:
                    cost = best(i + 1, k, left - 1)[0] + best(k + 1, j, left)[0]
                    choice = min(choice, (cost, k))
        return choice

    def build(i: int, j: int, left: int) -> str:
        if i == j:
            return ""
        character = text[i]
        partner = best(i, j, left)[1]
        if partner >= 0:
            inside = build(i + 1, partner, left - 1)
            return character + inside + text[partner] + build(partner + 1, j, left)
        if character in CLOSING:
            character += CLOSING[character]
        elif character in OPENING:
            character = OPENING[character] + character
        return character + build(i + 1, j, left)

    return build(0, len(text), depth)
