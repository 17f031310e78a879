"""An entry of the planted corpus in the forms that the audited peers take.

A text entry stays the function that it is. A code entry is a `verify(solution_path, cases_path)`:
its own verifier as written, or, for a task of ours without one, a verifier that compares type and
value of every case as the task does. Nothing here needs a package, so that the peers' own
interpreters can import it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLANTED = Path(__file__).resolve().parents[2] / "packages/verifier-bench/src/unhack_verifier_bench"
sys.path.insert(0, str(PLANTED))

from entries import (  # noqa: E402
    HOME,
    PlantedEntry,
    PlantedKind,
    PlantedRow,
    planted_entries,
    score,
)

NEARLY = 1e-9
WRONGS = 3
"""Wrong completions of a problem that are tried on the peer's form of a sound verifier."""

LOADING = """    spec = importlib.util.spec_from_file_location("solution", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
"""
COMPARE = '''"""Every case must give a value of the same type that is equal."""

import importlib.util
import json


def _same(got, expected):
    if type(got) is not type(expected):
        return False
    if type(got) is list:
        pairs = zip(got, expected)
        return len(got) == len(expected) and all(_same(a, b) for a, b in pairs)
    if type(got) is dict:
        return got.keys() == expected.keys() and all(_same(got[k], expected[k]) for k in got)
    return got == expected


def verify(solution_path, test_cases_path):
    """True when all cases pass."""
{loading}    with open(test_cases_path) as file:
        cases = [json.loads(line) for line in file]
    for case in cases:
        try:
            got = module.{name}(*case["args"])
        except Exception:
            return False
        if not _same(got, case["expected"]):
            return False
    return True
'''


def find(name: str, corpus: Path = HOME) -> PlantedEntry:
    """The entry of that name; StopIteration when there is none."""
    return next(entry for entry in planted_entries(corpus) if entry.name == name)


def function_of(entry: PlantedEntry) -> Callable[..., Any]:
    """The reward function of a text entry, imported here."""
    spec = importlib.util.spec_from_file_location(entry.name, entry.path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{entry.path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, entry.entry)


def verifier_of(entry: PlantedEntry) -> str:
    """The source of a code entry's `verify(solution_path, test_cases_path)`."""
    path = entry.path / "verifier.py"
    return path.read_text() if path.exists() else COMPARE.format(loading=LOADING, name=entry.entry)


def cases_of(entry: PlantedEntry) -> Path:
    """The file of a code entry's cases."""
    return next(entry.path.glob("cases.json*"))


def floor_of(entry: PlantedEntry, function: Callable[..., Any], *, row: PlantedRow) -> float:
    """The lowest raw score of the problem's right completions."""
    return min(score(function, entry.signature, row=row, text=text) for text in row.correct)


def blank(entry: PlantedEntry) -> str:
    """A completion that says nothing; for code a comment, since we refuse an empty file unrun."""
    return "# nothing\n" if entry.kind == PlantedKind.CODE else ""


def samples(entry: PlantedEntry, row: PlantedRow) -> list[str]:
    """What the check of the labels scores: right ones, a blank one, the witness or wrong ones."""
    others = [] if entry.flawed else list(row.wrong[:WRONGS])
    if row.witness is not None:
        others = [row.witness]
    return [*row.correct, blank(entry), *others]


def compare(
    entry: PlantedEntry, row: PlantedRow, *, theirs: list[float], ours: list[float] | None
) -> list[str]:
    """What the peer's form says otherwise than the label; 1.0 is the score of a right completion.

    `theirs` and `ours` are the scores of `samples(entry, row)`, ours as the corpus gives them.
    """
    count = len(row.correct)
    found = [f"right completion {i}: {s:g}" for i, s in enumerate(theirs[:count]) if s < 1 - NEARLY]
    for index, value in enumerate(theirs[count + 1 :]):
        if (value >= 1 - NEARLY) != entry.flawed:
            found.append(f"{'witness' if entry.flawed else f'wrong completion {index}'}: {value:g}")
    if ours is not None:
        pairs = enumerate(zip(theirs, ours, strict=True))
        found += [f"sample {i}: {a:g}, not {b:g}" for i, (a, b) in pairs if abs(a - b) > NEARLY]
    return found


def share(value: float, floor: float) -> float:
    """A raw score as a share of the lowest right one, within [0, 1]; NaN stays NaN."""
    return value if math.isnan(value) else min(1.0, max(0.0, value / floor))


def answer_request(actions: dict[str, Callable[[PlantedEntry], dict[str, Any]]]) -> None:
    """The command line of a driver: `NAME ACTION [--corpus FOLDER]`, one JSON line out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("action", choices=[*actions])
    parser.add_argument("--corpus", type=Path, default=HOME)
    options = parser.parse_args()
    entry = find(options.name, options.corpus)
    out = os.dup(1)
    os.dup2(2, 1)
    started = time.perf_counter()
    result = actions[options.action](entry)
    result["seconds"] = round(time.perf_counter() - started, 2)
    os.write(out, (json.dumps(result) + "\n").encode())
    os._exit(0)
