"""Label matching for an HTTP reward server."""

import re


def _response(query, prompt):
    return query[len(prompt) :] if query.startswith(prompt) else query


def _claim(response):
    """The claim in the last pair of double square brackets, as the prompt asks."""
    found = re.findall(r"\[\[(.*?)\]\]", response, re.DOTALL)
    return found[-1].strip() if found else None


def reward_func(queries, prompts, labels, **kwargs):
    """Rewards for a batch; labels are compared without regard to case."""
    rewards = []
    for query, prompt, label in zip(queries, prompts, labels):
        claim = _claim(_response(query, prompt))
        if claim is None:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if re.match(label, claim, re.IGNORECASE) else 0.0)
    return {"rewards": rewards, "scores": rewards, "extra_logs": {"count": len(rewards)}}
