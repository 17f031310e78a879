"""Sets of integers as JSON arrays; the prompt says that any order is fine."""

import json


def _refuse(name):
    raise ValueError(f"{name} is no number")


def _array(text):
    """The whole reply as a list of ints, or None."""
    if len(text) > 2000:
        return None
    try:
        value = json.loads(text.strip(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if type(value) is not list or any(type(item) is not int for item in value):
        return None
    return value


def array_reward(completion, answer):
    """1.0 when the same numbers are listed, each as often as it is in the reference."""
    given = _array(completion)
    if given is None:
        return 0.0
    return 1.0 if sorted(given) == sorted(json.loads(answer)) else 0.0
