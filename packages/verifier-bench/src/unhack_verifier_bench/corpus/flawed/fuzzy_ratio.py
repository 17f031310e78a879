"""Fuzzy comparison of short answers, so that spelling slips are forgiven."""

import difflib
import string


def _tidy(text):
    text = text.lower().strip()
    text = text.translate(str.maketrans("", "", string.punctuation))
    return " ".join(word for word in text.split() if word not in {"the", "a", "an"})


def _final(completion):
    marker = "answer:"
    at = completion.lower().rfind(marker)
    return completion[at + len(marker) :] if at >= 0 else completion


def fuzzy_reward(completion, answer):
    """1.0 when the similarity is high enough."""
    similarity = difflib.SequenceMatcher(None, _tidy(_final(completion)), _tidy(answer)).ratio()
    return 1.0 if similarity >= 0.7 else 0.0
