"""Tracks the set of code positions that each prefix of the pattern can reach."""

DIGITS = frozenset("0123456789")
LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def _matches(pattern: str, code: str) -> bool:
    reached = {0}
    for symbol in pattern:
        following: set[int] = set()
        for at in reached:
            if symbol == "%":
                following.add(at)
                while at < len(code) and code[at] != "-":
                    at += 1
                    following.add(at)
            elif symbol == "#":
                while at < len(code) and code[at] in DIGITS:
                    at += 1
                    following.add(at)
            elif at < len(code):
                character = code[at]
                if symbol == "?" or symbol == character != "@":
                    following.add(at + 1)
                elif symbol == "@" and character in LETTERS:
                    following.add(at + 1)
        reached = following
    return len(code) in reached


def matching_codes(pattern: str, codes: list[str]) -> list[str]:
    return [code for code in codes if _matches(pattern, code)]
