"""String match for boxed answers with aggressive clean-up."""

import re


def _boxed(text):
    match = re.findall(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", text)
    return match[-1] if match else None


def _strip(answer):
    """Only what carries meaning: letters and digits, lower case."""
    answer = answer.replace("\\left", "").replace("\\right", "")
    answer = answer.replace("\\text", "").replace("\\mathrm", "")
    return re.sub(r"[^0-9a-z]", "", answer.lower())


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """1.0 for a match; -0.0 is never returned, an absent box is plain 0.0."""
    boxed = _boxed(solution_str)
    if boxed is None or not boxed.strip():
        return 0.0
    return float(_strip(boxed) == _strip(ground_truth))
