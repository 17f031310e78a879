"""Paths on a grid as letters, in order; spaces and commas between them are free."""

import re


def _path(text):
    """The letters as one string, or None for text that is no path."""
    match = re.fullmatch(r"\s*[UDLR](?:[ ,]*[UDLR])*\s*", text, re.ASCII)
    return re.sub(r"[ ,\s]", "", text) if match else None


def _tagged(text):
    """What stands in the only pair of path tags, at the end of the message."""
    if text.lower().count("<path") != 1 or text.lower().count("</path") != 1:
        return None
    match = re.search(r"<path>([^<>]*)</path>\s*\Z", text)
    return match.group(1) if match else None


def path_reward(prompts, completions, answer, **kwargs):
    """1.0 for the path."""
    rewards = []
    for messages, gold in zip(completions, answer, strict=True):
        inside = _tagged(messages[-1]["content"])
        given = None if inside is None else _path(inside)
        rewards.append(1.0 if given is not None and given == _path(gold) else 0.0)
    return rewards
