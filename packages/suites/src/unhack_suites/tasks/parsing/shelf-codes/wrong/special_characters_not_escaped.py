"""Flaw: escapes square brackets only; . and + and others stay special."""

import re


def matching_codes(pattern: str, codes: list[str]) -> list[str]:
    expression = pattern.replace("[", r"\[").replace("?", ".").replace("#", "[0-9]+")
    expression = expression.replace("@", "[A-Za-z]").replace("%", "[^-]*")
    return [code for code in codes if re.fullmatch(expression, code)]
