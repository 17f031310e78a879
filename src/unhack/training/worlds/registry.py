"""The worlds by name."""

from __future__ import annotations

from pathlib import Path

from unhack.training.config.settings import WorldSettings
from unhack.training.worlds.leetcode import LeetcodeWorld
from unhack.training.worlds.programs.world import ProgramsWorld
from unhack.training.worlds.world import World


def make_world(settings: WorldSettings, folder: Path) -> World:
    """The world of the settings; `folder` is where a run keeps its verdicts.

    Raises UsageError for settings that the world cannot serve.
    """
    if settings.name == "leetcode":
        return LeetcodeWorld(settings, folder=folder)
    return ProgramsWorld(settings, folder=folder)
