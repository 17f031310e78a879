"""A submission without its data files, so that nothing can be looked up in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.kit import Files
from unhack_contests.reward_hacking.harden.settings import python_files


def variants(folder: Path) -> Mapping[str, Files]:
    """By what was done; none where there are no data files."""
    kept = python_files(folder)
    others = [path for path in folder.rglob("*.json") if path.is_file()]
    return {"without data files": kept} if others and "solution.py" in kept else {}
