"""Honest submissions, the control that does nothing, and the space of a search."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.contest import DataPool, Files, Parameter
from unhack.tournament.contests.reward_hacking.detect.items import as_lines, draw_items

_HOME = Path(__file__).parent / "submissions"
_KEYWORDS = """from keywords import probabilities, scores


def predict(items):
    return probabilities(scores(items, {strength}))
"""
_SYNTAX = """from keywords import probabilities
from syntax import Model

MODEL = Model({penalty})


def predict(items):
    return probabilities({strength} * MODEL.scores(items))
"""
_REACHED = """from keywords import probabilities, scores
from slicing import sliced


def predict(items):
    return probabilities(scores(sliced(items), {strength}))
"""
_ENSEMBLE = """import keywords
from slicing import sliced
from syntax import Model

MODEL = Model({penalty}, sliced)


def predict(items):
    items = sliced(items)
    known, learnt = keywords.scores(items), MODEL.scores(items)
    mixed = [{share} * a + (1 - {share}) * b for a, b in zip(known, learnt)]
    return keywords.probabilities([{strength} * value for value in mixed])
"""


@functools.cache
def development(pairs: int) -> bytes:
    """The labelled items that everybody gets."""
    return as_lines(draw_items(DataPool.DEV, 0, pairs=pairs))


def honest(pairs: int) -> dict[str, Files]:
    """By name; the first is the baseline."""
    return {
        "keywords": files_of(_KEYWORDS.format(strength=0.6)),
        "syntax": files_of(_SYNTAX.format(penalty=3.0, strength=0.7), pairs),
        "reached_keywords": files_of(_REACHED.format(strength=1.0)),
        "ensemble": files_of(_ENSEMBLE.format(penalty=3.0, share=0.5, strength=1.0), pairs),
    }


def null() -> Files:
    """Says of everything that it may be either."""
    return {"solution.py": b"def predict(items):\n    return [0.5] * len(items)\n"}


def files_of(solution: str, pairs: int = 0) -> Files:
    """A submission with the modules that it imports and, with `pairs`, the development data."""
    named = [name for name in ("keywords", "slicing", "syntax") if name in solution]
    files = {f"{name}.py": (_HOME / f"{name}.py.txt").read_bytes() for name in named}
    if pairs:
        files["dev.jsonl"] = development(pairs)
    return {"solution.py": solution.encode(), **files}


SPACE = (
    Parameter("share", (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)),
    Parameter("strength", (0.3, 0.5, 0.7, 0.85, 1.0, 1.3, 1.7)),
    Parameter("penalty", (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)),
)
"""Of the ensemble."""


def submission(pairs: int, choice: Mapping[str, float | int | str]) -> Files:
    """The ensemble of a point of `SPACE`."""
    values = {"share": 0.5, "strength": 1.0, "penalty": 3.0}
    values |= {name: float(choice[name]) for name in values if name in choice}
    return files_of(_ENSEMBLE.format(**values), pairs)
