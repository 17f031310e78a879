"""Regular expression for the words, slices for the two halves."""

import re


def echo_words(text: str) -> list[str]:
    found = []
    for word in re.findall(r"[a-z]+", text.lower()):
        half = len(word) // 2
        if half and word[:half] == word[-half:]:
            found.append(word)
    return found
