"""Flaw: balances every kind on its own, so crossing crates such as `([)]` are left as they are."""

PAIRS = {"(": ")", "[": "]", "{": "}"}


def seal_crates(marks: str) -> str:
    text = marks
    for opener, closer in PAIRS.items():
        depth = missing = 0
        for mark in marks:
            if mark == opener:
                depth += 1
            elif mark == closer and depth > 0:
                depth -= 1
            elif mark == closer:
                missing += 1
        text = opener * missing + text + closer * depth
    return text
