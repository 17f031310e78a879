"""Statements, compared without filler words."""

import re

FILLER = {
    "a", "an", "the", "is", "are", "was", "were", "it", "they", "this", "that", "not", "so",
    "of", "to", "in", "and", "very", "number",
}  # fmt: skip


def _core(text):
    words = re.findall(r"[a-z0-9]+", text.lower())
    return [word for word in words if word not in FILLER]


def statement_reward(completion, answer):
    """1.0 when the conclusion says the same as the reference."""
    match = re.search(r"conclusion\s*:\s*(.+)\Z", completion, re.IGNORECASE | re.DOTALL)
    if match is None:
        return 0.0
    given = _core(match.group(1))
    return 1.0 if given and given == _core(answer) else 0.0
