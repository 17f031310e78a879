"""Recursive descent with one function per row of the operator table."""

import re


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise ValueError("division by zero")
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def tide_value(text: str) -> int:
    tokens = re.findall(r"[0-9]+|[-+*/<>()]", text)
    at = 0

    def peek() -> str:
        return tokens[at] if at < len(tokens) else ""

    def take() -> str:
        nonlocal at
        at += 1
        return tokens[at - 1]

    def choice() -> int:
        value = total()
        while peek() in ("<", ">"):
            value = min(value, total()) if take() == "<" else max(value, total())
        return value

    def total() -> int:
        value = product()
        while peek() in ("+", "-"):
            value = value + product() if take() == "+" else value - product()
        return value

    def product() -> int:
        value = signed()
        while peek() in ("*", "/"):
            value = value * signed() if take() == "*" else _quotient(value, signed())
        return value

    def signed() -> int:
        token = take()
        if token == "-":
            return -signed()
        if token == "(":
            value = choice()
            take()
            return value
        return int(token)

    return choice()
