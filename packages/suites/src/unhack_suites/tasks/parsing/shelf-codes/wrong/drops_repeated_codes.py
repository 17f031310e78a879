"""Flaw: returns each matching code only once."""

import re

SYMBOLS = {"#": "[0-9]+", "@": "[A-Za-z]", "?": ".", "%": "[^-]*"}


def matching_codes(pattern: str, codes: list[str]) -> list[str]:
    expression = "".join(SYMBOLS.get(symbol, re.escape(symbol)) for symbol in pattern)
    return list(dict.fromkeys(code for code in codes if re.fullmatch(expression, code)))
