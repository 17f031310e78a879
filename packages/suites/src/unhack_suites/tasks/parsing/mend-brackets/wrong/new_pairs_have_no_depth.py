"""Flaw: applies the depth limit to pairs found in the text, not to pairs with a new partner."""

from functools import lru_cache

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {")": "(", "]": "[", "}": "{"}


def mend_brackets(text: str, depth: int) -> str:
    @lru_cache(maxsize=None)
    def best(i: int, j: int, left: int) -> tuple[int, str]:
        if i == j:
            return 0, ""
        character = text[i]
        rest_cost, rest = best(i + 1, j, left)
        if character in OPENING:
            return rest_cost + 1, OPENING[character] + character + rest
        if character not in CLOSING:
            return rest_cost, character + rest
        close = CLOSING[character]
        choice = (rest_cost + 1, character + close + rest)
        for k in range(i + 1, j if left else 0):
            if text[k] == close:
                inner_cost, inner = best(i + 1, k, left - 1)
                after_cost, after = best(k + 1, j, left)
                if inner_cost + after_cost < choice[0]:
                    choice = (inner_cost + after_cost, character + inner + close + after)
        return choice

    return best(0, len(text), depth)[1]
