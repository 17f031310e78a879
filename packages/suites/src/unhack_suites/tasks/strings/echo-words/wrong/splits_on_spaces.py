"""Flaw: words are split at white space and only stripped of punctuation at their ends."""

import string


def echo_words(text: str) -> list[str]:
    result = []
    for raw in text.lower().split():
        word = raw.strip(string.punctuation)
        half = len(word) // 2
        if half and word[:half] == word[-half:]:
            result.append(word)
    return result
