"""The cost of an attempt so far, on disk while it runs, so that a kill loses none of it.

Whoever set it to work reads the note of an attempt that was cut off.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from unhack.agents.play import AgentUsage

NOTE = "usage.json"
"""In the transcript directory of an attempt."""


def note_usage(transcript: Path, usage: AgentUsage) -> None:
    """Replace the note in one step. Raises OSError."""
    beside = transcript / f".{NOTE}.new"
    beside.write_text(json.dumps(asdict(usage)))
    os.replace(beside, transcript / NOTE)
