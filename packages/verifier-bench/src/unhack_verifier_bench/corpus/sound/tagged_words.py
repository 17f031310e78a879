"""A name or term in exactly one pair of answer tags at the end of the reply."""

import re


def _fold(text):
    return " ".join(text.casefold().split())


def _inside(text):
    """What the only pair of tags encloses; None when there is not exactly one, in any spelling."""
    tags = re.findall(r"<\s*/?\s*answer\b[^>]*>?", text, re.IGNORECASE)
    if tags != ["<answer>", "</answer>"]:
        return None
    match = re.search(r"<answer>([^<>]*)</answer>\s*\Z", text)
    return match.group(1) if match else None


def term_reward(completion, answer):
    """1.0 for the term itself; case and spacing are free."""
    inside = _inside(completion)
    if inside is None:
        return 0.0
    return 1.0 if _fold(inside) == _fold(answer) else 0.0
