"""Translates the pattern into a regular expression and escapes everything else."""

import re

SYMBOLS = {"#": "[0-9]+", "@": "[A-Za-z]", "?": "[ -~]", "%": "[^-]*"}


def matching_codes(pattern: str, codes: list[str]) -> list[str]:
    translated = "".join(SYMBOLS.get(symbol) or re.escape(symbol) for symbol in pattern)
    expression = re.compile(translated)
    return [code for code in codes if expression.fullmatch(code)]
