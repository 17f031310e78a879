"""Flaw: divides with //, which rounds negative quotients down instead of towards zero."""

import re


def tide_value(text: str) -> int:
    tokens = re.findall(r"\d+|\S", text)[::-1]

    def level(strength: int) -> int:
        if strength == 3:
            token = tokens.pop()
            if token == "-":
                return -level(3)
            if token == "(":
                value = level(0)
                tokens.pop()
                return value
            return int(token)
        value = level(strength + 1)
        while tokens and tokens[-1] in ("<>", "+-", "*/")[strength]:
            operator = tokens.pop()
            other = level(strength + 1)
            if operator == "<":
                value = min(value, other)
            elif operator == ">":
                value = max(value, other)
            elif operator == "+":
                value += other
            elif operator == "-":
                value -= other
            elif operator == "*":
                value *= other
            elif other == 0:
                raise ValueError("division by zero")
            else:
                value //= other
        return value

    return level(0)
