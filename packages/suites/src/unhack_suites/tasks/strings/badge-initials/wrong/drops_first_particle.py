"""Flaw: particles are dropped everywhere, also as the first or last word."""

PARTICLES = {"da", "de", "la", "van", "von"}


def badge_initials(name: str) -> str:
    out = ""
    for word in name.split():
        if word in PARTICLES:
            continue
        out += "-".join(part[0].upper() + "." for part in word.split("-"))
    return out
