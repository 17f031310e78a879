"""Documented partial credit: the layout alone is worth 0.1, a right answer in it is worth 1.0.

Without the layout there is nothing, so that no answer can score between the two.
"""

import re

LAYOUT = re.compile(r"<think>([^<>]*)</think>\s*<answer>([^<>]*)</answer>\s*")
INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})", re.ASCII)
LAYOUT_SHARE = 0.1


def _graded(text, gold):
    match = LAYOUT.fullmatch(text.strip())
    if match is None:
        return 0.0
    given = match.group(2).strip()
    if INTEGER.fullmatch(given) is not None and int(given) == int(gold):
        return 1.0
    return LAYOUT_SHARE


def layout_reward(prompts, completions, answer, **kwargs):
    """One reward per completion: 0.0, 0.1 or 1.0."""
    if len(completions) != len(answer):
        raise ValueError("one answer for each completion")
    return [_graded(text, gold) for text, gold in zip(completions, answer, strict=True)]
