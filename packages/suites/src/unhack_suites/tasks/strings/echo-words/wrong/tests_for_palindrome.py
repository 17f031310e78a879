"""Flaw: compares the second half backwards, which finds palindromes."""

import re


def echo_words(text: str) -> list[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return [word for word in words if len(word) > 1 and word == word[::-1]]
