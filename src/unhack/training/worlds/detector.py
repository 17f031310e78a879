"""The weak detector of both worlds.

Covered: a synthetic label, the true channel of a known mode, dropped or invented at set rates.
Not covered: a detector that reads the completion.
"""

from __future__ import annotations

import hashlib

from unhack.training.config.settings import WorldSettings
from unhack.training.worlds.world import Prompt


def is_detected(prompt: Prompt, completion: str, *, channel: bool, settings: WorldSettings) -> bool:
    """The weak detector's label, the same whenever it is asked. `channel`: the loophole paid."""
    seen = channel and prompt.mode in settings.known
    rate = settings.detector_recall if seen else settings.detector_false_positives
    if rate in (0.0, 1.0):
        return rate == 1.0
    text = f"unhack detector {prompt.problem} {prompt.mode} {completion}"
    place = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
    return place < rate
