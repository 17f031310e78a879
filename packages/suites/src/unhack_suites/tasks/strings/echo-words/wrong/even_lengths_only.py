"""Flaw: words with an odd number of letters are never reported."""

import re


def echo_words(text: str) -> list[str]:
    result = []
    for word in re.findall(r"[a-zA-Z]+", text):
        word = word.lower()
        half = len(word) // 2
        if len(word) % 2 == 0 and word[:half] == word[half:]:
            result.append(word)
    return result
