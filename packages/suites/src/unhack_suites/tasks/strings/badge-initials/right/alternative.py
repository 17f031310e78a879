"""Two regular expressions: one removes inner particles, the other shortens each run of letters."""

import re

INNER_PARTICLE = re.compile(r"(?<= )(?:da|de|la|van|von)(?= )")
LETTERS = re.compile(r"([A-Za-z])[A-Za-z]*")


def badge_initials(name: str) -> str:
    without = INNER_PARTICLE.sub("", name.strip())
    short = LETTERS.sub(lambda match: match.group(1).upper() + ".", without)
    return short.replace(" ", "")
