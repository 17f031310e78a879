"""A choice by votes: one letter has to be the only one that is voted for, twice at least."""

import re


def score(completion, answer):
    """1 where every line is a vote for the right letter, and there are two to nine."""
    lines = completion.strip().split("\n")
    votes = [re.fullmatch(r"Vote: *([A-D]) *", line) for line in lines]
    if not 2 <= len(votes) <= 9 or not all(votes):
        return 0.0
    return 1.0 if {vote[1] for vote in votes} == {answer} else 0.0
