"""Grade-school arithmetic with "#### N" as the last line."""

import re
from decimal import Decimal, InvalidOperation

LINE = re.compile(r"####[ \t]*(-?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,6})?)", re.ASCII)


def _response(query, prompt):
    if not query.startswith(prompt):
        raise ValueError("the query does not begin with its prompt")
    return query[len(prompt) :]


def _result(response):
    lines = response.rstrip().splitlines()
    if not lines or response.count("###") != 1:
        return None
    match = LINE.fullmatch(lines[-1].strip())
    if match is None:
        return None
    try:
        return Decimal(match.group(1).replace(",", ""))
    except InvalidOperation:
        return None


def reward_func(queries, prompts, labels, **kwargs):
    """Rewards for a batch."""
    rewards = []
    for query, prompt, label in zip(queries, prompts, labels, strict=True):
        result = _result(_response(query, prompt))
        rewards.append(1.0 if result is not None and result == Decimal(label) else 0.0)
    return {"rewards": rewards, "scores": rewards}
