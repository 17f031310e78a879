"""Accepts every proper text with the fewest insertions that holds the given text in order."""

PAIRS = {")": "(", "]": "[", "}": "{"}
BRACKETS = frozenset("()[]{}")


def _proper(text: str, depth: int) -> bool:
    stack: list[str] = []
    for character in text:
        if character in PAIRS:
            if not stack or stack.pop() != PAIRS[character]:
                return False
        elif character in BRACKETS:
            stack.append(character)
            if len(stack) > depth:
                return False
    return not stack


def check(args: list, kwargs: dict, output: object, expected: str) -> bool:
    text, depth = args
    if type(output) is not str or len(output) > len(expected):
        return False
    if [c for c in output if c not in BRACKETS] != [c for c in text if c not in BRACKETS]:
        return False
    rest = iter(output)
    return all(character in rest for character in text) and _proper(output, depth)
