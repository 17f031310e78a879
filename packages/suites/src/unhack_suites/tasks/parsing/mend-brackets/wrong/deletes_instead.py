"""Flaw: drops closing brackets that do not fit instead of inserting partners for them."""

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
            if not stack or stack[-1] != OPENING[character]:
                continue
            stack.pop()
        result += character
    return result + "".join(CLOSING[bracket] for bracket in reversed(stack))
