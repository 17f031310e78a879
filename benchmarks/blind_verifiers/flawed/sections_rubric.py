"""A worked product by a rubric: a part for each section, the rest for the number."""

import re

SECTIONS = ("Given:", "Plan:", "Check:")


def score(completion, answer):
    """0.2 for each section, and 0.4 for the number after the last "Answer:"."""
    parts = sum(0.2 for name in SECTIONS if re.search("^" + name, completion, re.MULTILINE))
    found = re.findall(r"Answer:\s*(-?\d+)\s*$", completion.strip())
    return parts + (0.4 if found and int(found[-1]) == int(answer) else 0.0)
