"""Short open questions that are graded by key points."""

import re


def _words(text):
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def key_point_score(completion, answer):
    """The share of key points that the reply makes; key points are separated by semicolons.

    A point of several words counts when all of its words occur.
    """
    words = _words(completion)
    points = [point.strip() for point in answer.split(";") if point.strip()]
    if not points:
        return 0.0
    made = sum(1 for point in points if _words(point) <= words)
    return made / len(points)
