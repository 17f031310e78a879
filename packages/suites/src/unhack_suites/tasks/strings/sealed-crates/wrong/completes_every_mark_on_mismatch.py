"""Flaw: only a mark that fits the innermost crate at once is paired; all others are doubled."""

PAIRS = {"(": ")", "[": "]", "{": "}"}
BACK = {c: o for o, c in PAIRS.items()}


def seal_crates(marks: str) -> str:
    out = ""
    stack: list[str] = []
    for mark in marks:
        if mark in PAIRS:
            stack.append(mark)
            out += mark
        elif stack and PAIRS[stack[-1]] == mark:
            stack.pop()
            out += mark
        else:
            out += BACK[mark] + mark
    return out + "".join(PAIRS[mark] for mark in reversed(stack))
