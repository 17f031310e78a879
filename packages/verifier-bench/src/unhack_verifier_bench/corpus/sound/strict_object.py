"""Extraction into a flat JSON object, for a remote reward server."""

import json


class _Refused(ValueError):
    """The text is JSON, but not of the kind that is asked for."""


def _pairs(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise _Refused("a field is given twice")
    return dict(pairs)


def _constant(name):
    raise _Refused(f"{name} is no value")


def _object(text):
    try:
        value = json.loads(text.strip(), object_pairs_hook=_pairs, parse_constant=_constant)
    except (ValueError, RecursionError):
        return None
    return value if type(value) is dict else None


def _same(given, gold):
    if given is None or given.keys() != gold.keys():
        return False
    return all(type(given[key]) is type(gold[key]) and given[key] == gold[key] for key in gold)


def reward_func(queries, prompts, labels, **kwargs):
    """Rewards for a batch; a query is its prompt followed by the response."""
    rewards = []
    for query, prompt, label in zip(queries, prompts, labels, strict=True):
        if not query.startswith(prompt):
            raise ValueError("the query does not begin with its prompt")
        rewards.append(1.0 if _same(_object(query[len(prompt) :]), json.loads(label)) else 0.0)
    return {"rewards": rewards, "scores": rewards, "extra_logs": {}}
