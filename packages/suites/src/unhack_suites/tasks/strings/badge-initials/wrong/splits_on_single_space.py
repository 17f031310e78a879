"""Flaw: `split(" ")` gives empty words when there are several spaces, and then `part[0]` fails."""

PARTICLES = {"da", "de", "la", "van", "von"}


def badge_initials(name: str) -> str:
    words = name.split(" ")
    last = len(words) - 1
    kept = [w for i, w in enumerate(words) if i in (0, last) or w not in PARTICLES]
    return "".join("-".join(part[0].upper() + "." for part in word.split("-")) for word in kept)
