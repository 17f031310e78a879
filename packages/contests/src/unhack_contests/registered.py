"""The contests as the engine finds them: entry points of `unhack.contests`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import cast

from unhack.tournament.kit import Contest, InstalledContest, MetricChart


def _load(module: str) -> Callable[[Mapping[str, str]], Contest]:
    """The `load` of a contest's module, imported when a contest is asked for."""

    def load(options: Mapping[str, str]) -> Contest:
        found = importlib.import_module(f"unhack_contests.{module}")
        return cast("Contest", found.load(dict(options)))

    return load


_SIZES = ("demo", "default")
"""Values of `size` that need no card and no model of the machine."""

INTERP = InstalledContest(
    _load("interpretability.contest"),
    on_card=True,
    server_options={
        "models": 64, "dev_models": 64, "budget": 100_000, "sequences": 4096, "weights": 1,
        "level": (), "size": _SIZES,
    },
    charts={"": MetricChart("node_f1", "edge_f1", "F1 of nodes", "F1 of edges")},
)  # fmt: skip
KERNELS = InstalledContest(
    _load("kernels.contest"),
    on_card=True,
    paths=("kernelbench",),
    server_options={
        "pairs": 100, "hidden_pairs": 100, "problem": (), "problems": (), "size": _SIZES,
        "sizes": (),
    },
)  # fmt: skip
QUANTIZATION = InstalledContest(
    _load("quantization.contest"),
    on_card=True,
    server_options={
        "windows": 512, "length": 1024, "positions": 1024, "segments": 32, "size": _SIZES,
    },
    charts={
        "": MetricChart("ratio", "ppl", "compression (times smaller)", "perplexity", log=True)
    },
)  # fmt: skip
REWARD_HACKING = InstalledContest(
    _load("reward_hacking.tracks"),
    tracks=("exploit_design", "harden", "detect"),
    server_options={"pairs": 10_000, "dev_pairs": 10_000, "track": ()},
    charts={
        "detect": MetricChart("auroc", "brier_skill", "area under the ROC curve", "Brier skill"),
        "harden": MetricChart("blocked", "rejected", "attacks blocked", "honest work rejected"),
    },
)
SCALING = InstalledContest(
    _load("scaling.contest"),
    on_card=True,
    paths=("trained",),
    charts={"": MetricChart("coverage", "skill", "runs inside the intervals", "skill")},
)
