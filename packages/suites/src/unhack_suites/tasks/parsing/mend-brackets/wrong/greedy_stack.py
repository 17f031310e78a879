"""Flaw: mends at the first misfit with a stack, which is not always the cheapest way."""

CLOSING = {"(": ")", "[": "]", "{": "}"}
OPENING = {")": "(", "]": "[", "}": "{"}


def mend_brackets(text: str, depth: int) -> str:
    result = ""
    stack: list[str] = []
    for character in text:
        if character in CLOSING:
            while len(stack) >= depth:
                result += CLOSING[stack.pop()]
            stack.append(character)
        elif character in OPENING:
            wanted = OPENING[character]
            if wanted in stack:
                while stack[-1] != wanted:
                    result += CLOSING[stack.pop()]
                stack.pop()
            else:
                while len(stack) >= depth:
                    result += CLOSING[stack.pop()]
                result += wanted
        result += character
    while stack:
        result += CLOSING[stack.pop()]
    return result
