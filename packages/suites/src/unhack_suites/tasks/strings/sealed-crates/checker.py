"""Accepts every in-order completion that is as short as the reference answer."""

CLOSER = {"(": ")", "[": "]", "{": "}"}


def _in_order(text: str) -> bool:
    waiting: list[str] = []
    for char in text:
        if char in CLOSER:
            waiting.append(CLOSER[char])
        elif not waiting or waiting.pop() != char:
            return False
    return not waiting


def check(args: list, kwargs: dict, output: object, expected: str) -> bool:
    marks = args[0]
    if type(output) is not str or len(output) != len(expected):
        return False
    if not _in_order(output):
        return False
    rest = iter(output)
    return all(mark in rest for mark in marks)
