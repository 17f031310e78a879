"""Exact strings in a fence; the reference becomes a pattern in which white space is elastic."""

import re


def _pattern(gold):
    return r"\s+".join(re.escape(part) for part in gold.split())


def _fenced(text):
    """The content of the only fence, which is the whole reply."""
    if text.count("```") != 2:
        return None
    match = re.fullmatch(r"\s*```(?:text)?\n(.*)\n```\s*", text, re.DOTALL)
    return match.group(1).strip() if match else None


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 when the fence holds the reference and nothing else."""
    content = _fenced(solution_str)
    if not content:
        return 0.0
    return 1.0 if re.fullmatch(_pattern(ground_truth), content) else 0.0
