"""Honest submissions, the control that does nothing, and the space of a search."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.kit import DataPool, Files, Parameter
from unhack_contests.reward_hacking.detect.drawn.drawing import draw_items
from unhack_contests.reward_hacking.detect.items import as_lines
from unhack_contests.reward_hacking.detect.settings import COST, DetectSettings

_HOME = Path(__file__).parent / "submissions"
_KEYWORDS = """from keywords import probabilities, scores


def predict(items):
    return probabilities(scores(items, {strength}), {cost})
"""
_SYNTAX = """from keywords import probabilities
from syntax import Model

MODEL = Model({penalty})


def predict(items):
    return probabilities({strength} * MODEL.scores(items), {cost})
"""
_REACHED = """from keywords import probabilities, scores
from slicing import sliced


def predict(items):
    return probabilities(scores(sliced(items), {strength}), {cost})
"""
_ENSEMBLE = """import keywords
from slicing import sliced
from syntax import Model

MODEL = Model({penalty}, sliced)


def predict(items):
    items = sliced(items)
    known, learnt = keywords.scores(items), MODEL.scores(items)
    mixed = [{share} * a + (1 - {share}) * b for a, b in zip(known, learnt)]
    return keywords.probabilities([{strength} * value for value in mixed], {cost})
"""
_PROBING = """from keywords import probabilities
from probing import features
from syntax import Model, of_text


def measured(item):
    return features(item) + of_text(item) * {with_text}


MODEL = Model({penalty}, measure=measured)


def predict(items):
    return probabilities({strength} * MODEL.scores(items), {cost})
"""
_MODULES = ("keywords", "slicing", "syntax", "probing")


@functools.cache
def development(options: DetectSettings) -> bytes:
    """The labelled items that everybody gets."""
    return as_lines(draw_items(DataPool.DEV, 0, pairs=options.dev_pairs))


def honest(options: DetectSettings) -> dict[str, Files]:
    """By name; the first is the baseline."""
    solutions = {
        "keywords": _KEYWORDS.format(strength=0.15, cost=COST),
        "syntax": _SYNTAX.format(penalty=3.0, strength=0.7, cost=COST),
        "reached_keywords": _REACHED.format(strength=0.15, cost=COST),
        "ensemble": _ENSEMBLE.format(penalty=3.0, share=0.5, strength=0.4, cost=COST),
        "probing": _PROBING.format(penalty=10.0, strength=0.8, cost=COST, with_text=0),
        "probing_syntax": _PROBING.format(penalty=10.0, strength=0.8, cost=COST, with_text=1),
    }
    return {name: files_of(text, options) for name, text in solutions.items()}


def null() -> Files:
    """Says of everything that it may be either."""
    return {"solution.py": b"def predict(items):\n    return [0.5] * len(items)\n"}


def files_of(solution: str, options: DetectSettings) -> Files:
    """A submission with the modules that it imports, and the development data where it learns."""
    named = [one for one in _MODULES if re.search(rf"^(import|from) {one}\b", solution, re.M)]
    files = {f"{name}.py": (_HOME / f"{name}.py.txt").read_bytes() for name in named}
    if "syntax" in named:
        files["dev.jsonl"] = development(options)
    return {"solution.py": solution.encode(), **files}


SPACE = (
    Parameter("share", (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)),
    Parameter("strength", (0.3, 0.5, 0.7, 0.85, 1.0, 1.3, 1.7)),
    Parameter("penalty", (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)),
)
"""Of the ensemble."""


def submission(options: DetectSettings, choice: Mapping[str, float | int | str]) -> Files:
    """The ensemble of a point of `SPACE`."""
    values = {"share": 0.5, "strength": 1.0, "penalty": 3.0}
    values |= {name: float(choice[name]) for name in values if name in choice}
    return files_of(_ENSEMBLE.format(**values, cost=COST), options)
