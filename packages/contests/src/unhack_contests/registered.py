"""The contests as the engine finds them: entry points of `unhack.contests`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import cast

from unhack.tournament.contest import Contest
from unhack.tournament.contests.registry import InstalledContest


def _load(module: str) -> Callable[[Mapping[str, str]], Contest]:
    """The `load` of a contest's module, imported when a contest is asked for."""

    def load(options: Mapping[str, str]) -> Contest:
        found = importlib.import_module(f"unhack_contests.{module}")
        return cast("Contest", found.load(dict(options)))

    return load


INTERP = InstalledContest(_load("interpretability.contest"), on_card=True)
KERNELS = InstalledContest(_load("kernels.contest"), on_card=True, paths=("kernelbench",))
QUANTIZATION = InstalledContest(_load("quantization.contest"), on_card=True)
REWARD_HACKING = InstalledContest(
    _load("reward_hacking.tracks"), tracks=("exploit_design", "harden", "detect")
)
SCALING = InstalledContest(_load("scaling.contest"), on_card=True, paths=("trained",))
