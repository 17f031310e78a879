"""Flaw: re.match accepts a code of which only the beginning fits."""

import re

SYMBOLS = {"#": "[0-9]+", "@": "[A-Za-z]", "?": ".", "%": "[^-]*"}


def matching_codes(pattern: str, codes: list[str]) -> list[str]:
    expression = "".join(SYMBOLS.get(symbol, re.escape(symbol)) for symbol in pattern)
    return [code for code in codes if re.match(expression, code)]
