"""The contests by name: `load_contest` finds and loads one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from unhack.core.errors import UnknownNameError
from unhack.tournament.contest import Contest

CONTESTS = ("quantization", "kernels", "interp", "scaling", "reward_hacking")
_MODULES = {
    "quantization": "quantization.contest",
    "kernels": "kernels.contest",
    "interp": "interpretability.contest",
    "scaling": "scaling.contest",
    "reward_hacking": "reward_hacking.tracks",
}


def load_contest(name: str, options: Mapping[str, str] | None = None) -> Contest:
    """A contest with its settings; `options` are `key=value` pairs of the command line.

    Raises UnknownNameError for another name, UsageError for an option that it does not have.
    """
    if name not in CONTESTS:
        raise UnknownNameError("contest", name, valid=CONTESTS)
    module = importlib.import_module(f"unhack.tournament.contests.{_MODULES[name]}")
    return module.load(dict(options or {}))
