"""Flaw: a word of one letter has two equal (empty) halves and is reported."""

import re


def echo_words(text: str) -> list[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return [w for w in words if w[: len(w) // 2] == w[len(w) - len(w) // 2 :]]
