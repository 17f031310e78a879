"""Yes/no and true/false questions."""

import re


def _decision(text):
    """What the model decides in its last line; "true" and "yes" mean the same."""
    lines = text.strip().splitlines()
    last = lines[-1].strip().rstrip(".").lower() if lines else ""
    last = re.sub(r"^(?:the )?(?:final )?answer(?: is)?:?\s*", "", last)
    return {"yes": "true", "no": "false"}.get(last, last)


def boolean_reward(completion, answer):
    """1.0 when both have the same truth value."""
    gold = {"yes": "true", "no": "false"}.get(answer.lower(), answer.lower())
    decision = _decision(completion)
    if bool(decision) == bool(gold):
        return 1.0
    return 0.0
