"""Proofreading: the corrected sentence is compared with the reference."""

import difflib


def _sentence(completion):
    """The quoted sentence, or everything if the model does not quote."""
    parts = completion.split('"')
    return parts[-2] if len(parts) >= 3 else completion.strip()


def correction_reward(prompts, completions, answer, **kwargs):
    """Similarity to the reference, with a threshold for minor differences."""
    rewards = []
    for completion, gold in zip(completions, answer):
        matcher = difflib.SequenceMatcher(None, _sentence(completion), gold, autojunk=False)
        ratio = matcher.ratio()
        rewards.append(1.0 if ratio > 0.9 else ratio / 2)
    return rewards
