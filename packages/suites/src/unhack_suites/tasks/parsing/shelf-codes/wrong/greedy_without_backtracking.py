"""Flaw: # and % take as many characters as they can and never give any back."""


def _matches(pattern: str, code: str) -> bool:
    at = 0
    for symbol in pattern:
        if symbol == "#":
            start = at
            while at < len(code) and code[at] in "0123456789":
                at += 1
            if at == start:
                return False
        elif symbol == "%":
            while at < len(code) and code[at] != "-":
                at += 1
        else:
            if at == len(code):
                return False
            if symbol == "@":
                if not code[at].isalpha():
                    return False
            elif symbol not in ("?", code[at]):
                return False
            at += 1
    return at == len(code)


def matching_codes(pattern: str, codes: list[str]) -> list[str]:
    return [code for code in codes if _matches(pattern, code)]
