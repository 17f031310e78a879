"""Flaw: balances with the fewest insertions but lets pairs nest as deep as they like."""

from functools import lru_cache

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {")": "(", "]": "[", "}": "{"}


def mend_brackets(text: str, depth: int) -> str:
    @lru_cache(maxsize=None)
    def best(i: int, j: int) -> tuple[int, str]:
        if i == j:
            return 0, ""
        character = text[i]
        rest_cost, rest = best(i + 1, j)
        if character in OPENING:
            return rest_cost + 1, OPENING[character] + character + rest
        if character not in CLOSING:
            return rest_cost, character + rest
        close = CLOSING[character]
        choice = (rest_cost + 1, character + close + rest)
        for k in range(i + 1, j):
            if text[k] == close:
                inner_cost, inner = best(i + 1, k)
                after_cost, after = best(k + 1, j)
                if inner_cost + after_cost < choice[0]:
                    choice = (inner_cost + after_cost, character + inner + close + after)
        return choice

    return best(0, len(text))[1]
