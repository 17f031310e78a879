"""Soft format credit for each tag plus a correctness bonus."""

import re

TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def _tag_credit(text):
    """A quarter for each tag that occurs exactly once."""
    return sum(0.25 for tag in TAGS if text.count(tag) == 1)


def _is_right(text, gold):
    match = re.search(r"<answer>\s*(.*?)\s*</answer>", text, re.DOTALL)
    final = match.group(1) if match else text.strip().splitlines()[-1] if text.strip() else ""
    return final.strip().rstrip(".") == gold


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """The dense part helps early training, the right answer dominates later."""
    score = _tag_credit(solution_str)
    if _is_right(solution_str, ground_truth.strip()):
        score += 1.0
    return score
