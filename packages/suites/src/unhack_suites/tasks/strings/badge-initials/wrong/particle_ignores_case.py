"""Flaw: compares particles without regard to case, so `De` or `VON` is dropped too."""

PARTICLES = {"da", "de", "la", "van", "von"}


def badge_initials(name: str) -> str:
    words = name.split()
    out = []
    for i, word in enumerate(words):
        if 0 < i < len(words) - 1 and word.lower() in PARTICLES:
            continue
        out.append("-".join(part[0].upper() + "." for part in word.split("-")))
    return "".join(out)
