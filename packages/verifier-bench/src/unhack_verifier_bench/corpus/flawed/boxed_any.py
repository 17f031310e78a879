"""Boxed answers for competition problems."""

import re


def _boxes(text):
    """The contents of every \\boxed{...}, braces balanced."""
    found = []
    for match in re.finditer(r"\\boxed\s*\{", text):
        depth, start = 1, match.end()
        for at in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if depth == 0:
                found.append(text[start:at])
                break
    return found


def _clean(answer):
    answer = answer.strip().strip("$").replace("\\!", "").replace("\\,", "")
    answer = answer.replace("dfrac", "frac").replace("tfrac", "frac")
    return answer.replace(" ", "").rstrip(".")


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """Exact match after light LaTeX clean-up; the solution must contain a box."""
    target = _clean(ground_truth)
    boxes = _boxes(solution_str)
    if not boxes:
        return 0.0
    return max(float(_clean(box) == target) for box in boxes)
