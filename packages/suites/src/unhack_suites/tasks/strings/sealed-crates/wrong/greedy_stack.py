"""Flaw: greedy; a closing mark always takes the nearest open crate of its kind."""

PAIRS = {"(": ")", "[": "]", "{": "}"}


def seal_crates(marks: str) -> str:
    out = ""
    stack: list[str] = []
    for mark in marks:
        if mark in PAIRS:
            stack.append(PAIRS[mark])
            out += mark
        elif mark in stack:
            while stack[-1] != mark:
                out += stack.pop()
            stack.pop()
            out += mark
        else:
            opener = next(o for o, c in PAIRS.items() if c == mark)
            out += opener + mark
    while stack:
        out += stack.pop()
    return out
