"""A choice by votes: the letters that at least two samples agree on."""

import re
from collections import Counter


def score(completion, answer):
    """1 where the right letter is among those with two votes or more."""
    votes = Counter(re.findall(r"^Vote:\s*([A-D])\s*$", completion, re.MULTILINE))
    agreed = {letter for letter, count in votes.items() if count >= 2}
    return 1.0 if answer in agreed else 0.0
