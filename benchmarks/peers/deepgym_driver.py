"""DeepGym 0.6.2, local mode, isolated shape: the verifier reaches the completion only through
`load_solution`, which starts it under bwrap.

`run_batch(max_parallel=W)` is its own driver: mode `thread`. A result without a verdict is not a
pass.
"""

from __future__ import annotations

import functools
import logging
import os

from deepgym import DeepGym, Environment

from peer_case import Case
from peer_common import Peer, main

VERIFIER = """
from deepgym_solution import load_solution

CASES = {cases!r}


def verify(solution_path, test_cases_path=None):
    solution = load_solution(solution_path)
    cases = []
    for index, (args, expected) in enumerate(CASES):
        try:
            passed = solution.{entry_point}(*args) == expected
        except Exception as error:
            cases.append({{"id": str(index), "passed": False, "score": 0.0, "error": str(error)}})
            continue
        cases.append({{"id": str(index), "passed": passed, "score": float(passed)}})
    score = sum(case["score"] for case in cases) / len(cases)
    return {{
        "schema_version": "1.0", "score": score, "passed": score == 1.0, "details": "",
        "cases": cases,
    }}
"""


@functools.cache
def client() -> DeepGym:
    """One client for warm-up and timing, so that its probe of bwrap is not timed."""
    return DeepGym(mode="local")


def score(case: Case, n: int, workers: int) -> int:
    cases = list(zip(case.inputs, case.expected, strict=True))
    source = VERIFIER.format(cases=cases, entry_point=case.problem["entry_point"])
    environment = Environment(task=case.problem["prompt"], verifier_code=source)
    batch = client().run_batch(environment, [case.solution] * n, max_parallel=workers)
    missing = [result for result in batch.results if not result.has_verdict]
    if missing:
        raise SystemExit(f"{len(missing)} of {n} runs had no verdict: {missing[0]}")
    return sum(result.passed for result in batch.results)


if __name__ == "__main__":
    os.environ.pop("DEEPGYM_ALLOW_UNSANDBOXED", None)
    logging.disable(logging.INFO)
    main(Peer("deepgym", "deepgym", "bwrap, judge outside the completion's process", score))
