"""Flaw: puts a new partner beside every bracket that a plain stack match leaves over."""

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {")": "(", "]": "[", "}": "{"}


def mend_brackets(text: str, depth: int) -> str:
    matched: set[int] = set()
    stack: list[int] = []
    for index, character in enumerate(text):
        if character in CLOSING and len(stack) < depth:
            stack.append(index)
        elif character in OPENING and stack and text[stack[-1]] == OPENING[character]:
            matched.update((stack.pop(), index))
    result = ""
    for index, character in enumerate(text):
        if index not in matched and character in OPENING:
            result += OPENING[character]
        result += character
        if index not in matched and character in CLOSING:
            result += CLOSING[character]
    return result
