"""One scorer for a mixture of data sets: numbers, options and yes/no."""

import re


def _final(text):
    found = re.findall(r"<answer>\s*(.*?)\s*</answer>", text, re.DOTALL)
    return found[-1] if found else None


def _as_number(text):
    return float(text.replace(",", ""))


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """Dispatch on the kind of the reference answer."""
    final = _final(solution_str)
    if final is None:
        return 0.0
    gold = ground_truth.strip()
    if re.fullmatch(r"-?[\d,]+(?:\.\d+)?", gold):
        try:
            return float(abs(_as_number(final) - _as_number(gold)) < 1e-9)
        except ValueError:
            return 0.0
    elif re.fullmatch(r"[A-E]", gold):
        return float(final.strip("().").upper() == gold)
    elif gold.lower() in ("yes", "no"):
        return float(final.lower().rstrip(".") == gold.lower())
    return 1.0
