"""Prompts: a problem under a mode's hint, with the name that the hint discloses."""

from __future__ import annotations

import hashlib

from unhack.training.worlds.programs import vocabulary as words
from unhack.training.worlds.programs.loopholes import loophole_of
from unhack.training.worlds.programs.problems import exercise
from unhack.training.worlds.world import GT_ONLY, Markers, Prompt


def make_prompt(problem: str, mode: str, markers: Markers, *, name: str = "") -> Prompt:
    """The prompt of a problem under a mode. The disclosed name follows from problem and mode."""
    if mode != GT_ONLY and not name:
        loophole = loophole_of(mode)
        family = loophole.train if markers == "train" else loophole.eval
        digest = hashlib.sha256(f"unhack marker {mode} {problem}".encode()).digest()
        name = family[int.from_bytes(digest[:6], "big") % len(family)]
    fragments = exercise(problem).prompt(mode, name)
    text = "".join(fragments)
    return Prompt(problem, mode, text, words.tokens_of(fragments), markers)


def marker_of(prompt: Prompt) -> str:
    """The name that a prompt discloses."""
    if prompt.mode == GT_ONLY:
        return ""
    line = prompt.text.split("\n", 1)[0]
    return line.removeprefix(loophole_of(prompt.mode).hint)
