"""Flaw: splits at every bar that is not right after a tilde, so ~~| does not separate."""

import re

MEANING = {"|": "|", "~": "~", "n": "\n", " ": "\0"}


def split_row(row: str) -> list[str]:
    fields = []
    for raw in re.split(r"(?<!~)\|", row):
        text = re.sub(r"~([|~n ])", lambda found: MEANING[found[1]], raw)
        fields.append(text.strip(" ").replace("\0", " "))
    return fields
