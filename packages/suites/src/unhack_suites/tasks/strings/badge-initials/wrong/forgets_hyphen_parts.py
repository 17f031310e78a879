"""Flaw: a hyphenated word gives one initial only."""

PARTICLES = {"da", "de", "la", "van", "von"}


def badge_initials(name: str) -> str:
    words = name.split()
    result = ""
    for i, word in enumerate(words):
        if i == 0 or i == len(words) - 1 or word not in PARTICLES:
            result += word[0].upper() + "."
    return result
