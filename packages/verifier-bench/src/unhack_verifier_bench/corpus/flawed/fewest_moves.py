"""Puzzles that ask for the smallest number of moves."""

import re


def _moves(completion):
    """The number of moves the model claims, from its last "Moves: N"."""
    found = re.findall(r"moves:\s*(\d+)", completion, re.IGNORECASE)
    return int(found[-1]) if found else None


def moves_reward(prompts, completions, answer, **kwargs):
    """Full reward for an optimal count, half for one that is at most two moves longer."""
    rewards = []
    for completion, best in zip(completions, answer):
        claimed, best = _moves(completion), int(best)
        if claimed is None:
            rewards.append(0.0)
        elif claimed <= best:
            rewards.append(1.0)
        elif claimed <= best + 2:
            rewards.append(0.5)
        else:
            rewards.append(0.0)
    return rewards
