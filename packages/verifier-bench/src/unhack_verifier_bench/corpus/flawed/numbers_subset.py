"""Answers that are one or more numbers inside <answer>."""

import re


def _numbers(text):
    return [float(item) for item in re.findall(r"-?\d+(?:\.\d+)?", text)]


def _answer(text):
    start = text.rfind("<answer>")
    end = text.find("</answer>", start)
    if start < 0 or end < 0:
        return None
    return text[start + len("<answer>") : end]


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """A wrong number spoils the answer; the order and separators do not matter."""
    inside = _answer(solution_str)
    if inside is None:
        return 0.0
    wanted = _numbers(ground_truth)
    for number in _numbers(inside):
        if number not in wanted:
            return 0.0
    return 1.0
