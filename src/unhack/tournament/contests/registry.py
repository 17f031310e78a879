"""The contests by name: `load_contest` finds and loads one.

    load_contest("kernels", {"problem": "scan"})
    load_contest("packing", {"folder": "/home/me/packing"})

The second is a contest of one's own.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

from unhack.core.errors import UnknownNameError, UsageError
from unhack.tournament.contest import Contest

CONTESTS = ("quantization", "kernels", "interp", "scaling", "reward_hacking")
TRACKS = ("exploit_design", "harden", "detect")
"""Contests that reward_hacking holds; people ask for them by these names."""
ON_CARDS = ("kernels", "quantization", "interp", "scaling")
"""Those with an option `device`, and `card` for the name of one that is elsewhere."""
PATHS = ("kernelbench", "trained")
"""Options that are paths: kept absolute, so that a tournament can be resumed from anywhere."""
_FOLDER = "folder"
_MODULES = {
    "quantization": "quantization.contest",
    "kernels": "kernels.contest",
    "interp": "interpretability.contest",
    "scaling": "scaling.contest",
    "reward_hacking": "reward_hacking.tracks",
}


def load_contest(name: str, options: Mapping[str, str] | None = None) -> Contest:
    """A contest with its settings; `options` are `key=value` pairs of the command line, `folder`
    among them for a contest of one's own.

    Raises UnknownNameError for another name, UsageError for an option that it does not have, or
    for a folder that holds another contest.
    """
    if name not in CONTESTS and _FOLDER in (options or {}):
        return _load_folder(name, dict(options or {}))
    if name in TRACKS:
        raise UsageError(f"{name} is a track: reward_hacking --option track={name}")
    if name not in CONTESTS:
        raise UnknownNameError("contest", name, valid=CONTESTS)
    module = importlib.import_module(f"unhack.tournament.contests.{_MODULES[name]}")
    return module.load(dict(options or {}))


def _load_folder(name: str, options: dict[str, str]) -> Contest:
    # late, as the other contests are
    kind = "own" if (Path(options[_FOLDER]) / "contest.toml").is_file() else "harbor"
    module = importlib.import_module(f"unhack.tournament.contests.{kind}.contest")
    if kind == "harbor" and not module.is_harbor(Path(options[_FOLDER])):
        module = importlib.import_module("unhack.tournament.contests.own.contest")
    found: Contest = module.load(options, taken=CONTESTS)
    if name and found.name != name:
        raise UsageError(f"{options[_FOLDER]} holds the contest {found.name!r}, not {name!r}")
    return found
