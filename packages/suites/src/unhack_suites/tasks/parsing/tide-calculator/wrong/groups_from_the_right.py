"""Flaw: the recursion makes operators of equal strength group from the right."""

import re


def tide_value(text: str) -> int:
    tokens = re.findall(r"\d+|\S", text)[::-1]

    def quotient(a: int, b: int) -> int:
        if b == 0:
            raise ValueError("division by zero")
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)

    def choice() -> int:
        value = total()
        if tokens and tokens[-1] in "<>":
            return min(value, choice()) if tokens.pop() == "<" else max(value, choice())
        return value

    def total() -> int:
        value = product()
        if tokens and tokens[-1] in "+-":
            return value + total() if tokens.pop() == "+" else value - total()
        return value

    def product() -> int:
        value = signed()
        if tokens and tokens[-1] in "*/":
            return value * product() if tokens.pop() == "*" else quotient(value, product())
        return value

    def signed() -> int:
        token = tokens.pop()
        if token == "-":
            return -signed()
        if token == "(":
            value = choice()
            tokens.pop()
            return value
        return int(token)

    return choice()
