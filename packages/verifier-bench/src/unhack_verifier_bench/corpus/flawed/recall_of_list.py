"""List answers by the share of expected items found."""

import json
import re


def _load(text):
    """The last JSON array of the completion."""
    for candidate in reversed(re.findall(r"\[[^\[\]]*\]", text)):
        try:
            return json.loads(candidate)
        except json.JSONDecodeError:
            continue
    return []


def list_reward(prompts, completions, answer, **kwargs):
    """Recall against the reference list."""
    rewards = []
    for completion, gold in zip(completions, answer):
        expected = json.loads(gold)
        found = _load(completion)
        hits = len([item for item in expected if item in found])
        rewards.append(hits / len(expected) if expected else 0.0)
    return rewards
