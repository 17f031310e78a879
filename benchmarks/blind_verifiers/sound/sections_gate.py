"""A worked product by a rubric: sections are worth something under a right number alone."""

import re

SECTIONS = ("Given:", "Plan:", "Check:")


def score(completion, answer):
    """0.7 for the right number in the last line, the only one with "Answer", and 0.1 for each
    section besides; 0 for a wrong one."""
    lines = completion.strip().split("\n")
    found = re.fullmatch(r"Answer: *(-?[0-9]+)", lines[-1].strip())
    if found is None or int(found[1]) != int(answer):
        return 0.0
    if any("answer" in line.casefold() for line in lines[:-1]):
        return 0.0
    return 0.7 + sum(0.1 for name in SECTIONS if any(line.startswith(name) for line in lines))
