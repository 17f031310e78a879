"""Token F1 as in reading comprehension."""

import collections
import re


def _tokens(text):
    text = re.sub(r"\b(a|an|the)\b", " ", text.lower())
    return re.findall(r"\w+", text)


def _f1(given, gold):
    common = collections.Counter(given) & collections.Counter(gold)
    same = sum(common.values())
    if same == 0:
        return 0.0
    precision, recall = same / len(given), same / len(gold)
    return 2 * precision * recall / (precision + recall)


def f1_reward(prompts, completions, answer, **kwargs):
    """Token-level F1; an exact answer has 1.0."""
    rewards = []
    for completion, gold in zip(completions, answer):
        given = _tokens(completion.split("Answer:")[-1])
        rewards.append(_f1(given, _tokens(gold)) if given else 0.0)
    return rewards
