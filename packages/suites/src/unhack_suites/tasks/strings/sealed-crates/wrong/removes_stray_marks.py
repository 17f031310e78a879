"""Flaw: marks that do not fit are deleted instead of completed."""

PAIRS = {"(": ")", "[": "]", "{": "}"}


def seal_crates(marks: str) -> str:
    stack: list[int] = []
    keep = [False] * len(marks)
    for i, mark in enumerate(marks):
        if mark in PAIRS:
            stack.append(i)
        elif stack and PAIRS[marks[stack[-1]]] == mark:
            keep[i] = keep[stack.pop()] = True
    return "".join(mark for mark, kept in zip(marks, keep) if kept)
