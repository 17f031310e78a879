"""A submission without its data files, so that nothing can be looked up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.kit import Files
from unhack_contests.reward_hacking.detect.honest import development
from unhack_contests.reward_hacking.detect.settings import DetectSettings


def variants(options: DetectSettings, folder: Path) -> Mapping[str, Files]:
    """By what was done; none where there are no data files."""
    kept = {path.name: path.read_bytes() for path in sorted(folder.glob("*.py"))}
    data = [path for path in folder.iterdir() if path.suffix in (".json", ".npy")]
    if not data or "solution.py" not in kept:
        return {}
    return {"public data only": {**kept, "dev.jsonl": development(options)}}
