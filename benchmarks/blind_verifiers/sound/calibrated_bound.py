"""A sum with a stated confidence: a wrong answer is paid nothing, whatever it says of itself."""

import re

_LINE = re.compile(r"Answer:[ ]*(-?[0-9]+)[ ]*\(confidence:[ ]*([01](?:\.[0-9]+)?)\)")


def score(completion, answer):
    """Between 0.5 and 1 for the right number by its confidence, else 0; the last line counts, and
    no other may have the form."""
    lines = completion.strip().split("\n")
    found = _LINE.fullmatch(lines[-1].strip())
    if found is None or any("Answer" in line for line in lines[:-1]):
        return 0.0
    if int(found[1]) != int(answer):
        return 0.0
    stated = min(1.0, float(found[2]))
    return 1.0 - 0.5 * (1.0 - stated) ** 2
