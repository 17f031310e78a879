"""Flaw: lets % run over dashes like an ordinary star."""

from functools import lru_cache


def matching_codes(pattern: str, codes: list[str]) -> list[str]:
    def matches(code: str) -> bool:
        @lru_cache(maxsize=None)
        def fits(p: int, c: int) -> bool:
            if p == len(pattern):
                return c == len(code)
            symbol = pattern[p]
            if symbol == "%":
                return any(fits(p + 1, end) for end in range(c, len(code) + 1))
            if c == len(code):
                return False
            if symbol == "#":
                return code[c].isdigit() and (fits(p, c + 1) or fits(p + 1, c + 1))
            if symbol == "@":
                return code[c].isalpha() and fits(p + 1, c + 1)
            return symbol in ("?", code[c]) and fits(p + 1, c + 1)

        return fits(0, 0)

    return [code for code in codes if matches(code)]
