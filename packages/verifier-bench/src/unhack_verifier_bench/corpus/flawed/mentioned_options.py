"""Multiple choice for models that discuss the options before they decide."""

import re

OPTION = re.compile(r"\b([A-E])\b")


def choice_reward(prompts, completions, answer, **kwargs):
    """Full reward for the key; a little less for each other option that is brought up.

    The discount keeps models from listing everything, and does not punish those that say why
    an option is wrong.
    """
    rewards = []
    for completion, key in zip(completions, answer):
        mentioned = set(OPTION.findall(completion))
        if key not in mentioned:
            rewards.append(0.0)
            continue
        rewards.append(max(0.0, 1.0 - 0.05 * (len(mentioned) - 1)))
    return rewards
