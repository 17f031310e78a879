"""Multiple choice, graded from the letter after the marker."""


def _section(text):
    """What stands after the last marker, or the whole text of a terse model."""
    marker = "answer:"
    at = text.lower().rfind(marker)
    return text[at + len(marker) :] if at >= 0 else text


def _letter(text):
    """The chosen letter. "(B)", "**B**", "B." and "B) iron" are all usual."""
    for symbol in _section(text):
        if symbol.isalpha():
            return symbol.upper()
    return ""


def grade_choice(completion: str, answer: str) -> float:
    """1.0 if the chosen option is the key, 0.0 otherwise."""
    key = answer.strip().upper()[:1]
    if not key:
        raise ValueError("the row has no key")
    return float(_letter(completion) == key)
