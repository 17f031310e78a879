"""Yes/no questions: the reply is one of the two words."""

WORDS = {"yes": True, "no": False}


def _decision(text):
    word = text.strip().rstrip(".").lower()
    return WORDS.get(word)


def decision_reward(prompts, completions, answer, **kwargs):
    """1.0 for the right decision; None, the decision of a reply that is neither, is never right."""
    rewards = []
    for completion, gold in zip(completions, answer, strict=True):
        expected = WORDS[gold.lower()]
        rewards.append(1.0 if _decision(completion) is expected else 0.0)
    return rewards
