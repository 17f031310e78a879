"""A small reward service: does the conversation arrive at the label?"""

import re


def _squash(text):
    return re.sub(r"\s+", " ", text).strip().lower()


def reward_func(queries, prompts, labels, **kwargs):
    """Rewards for a batch of finished conversations.

    The label must occur as a word of its own, so "12" is not found in "312".
    """
    rewards = []
    for query, label in zip(queries, labels):
        text, wanted = _squash(query), _squash(str(label))
        pattern = rf"(?<!\w){re.escape(wanted)}(?!\w)"
        rewards.append(1.0 if re.search(pattern, text) else 0.0)
    return {"rewards": rewards, "scores": rewards, "extra_logs": {}}
