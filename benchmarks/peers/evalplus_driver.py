"""evalplus 0.3.1, `untrusted_check`: a forked process per completion, results in shared memory.

Its own `evaluate` drives it with a process pool: mode `process` is its documented one. Only
`evalplus.eval` is imported, so forks are cheaper here than under `evalplus.evaluate`, which also
loads the model back ends.
"""

from __future__ import annotations

from evalplus.eval import PASS, untrusted_check

from peer_case import Case
from peer_common import Peer, in_threads, main

REFERENCE_TIME_S = 0.001


def score(case: Case, n: int, workers: int) -> int:
    def one() -> bool:
        status, _ = untrusted_check(
            "humaneval",
            case.solution,
            case.inputs,
            case.problem["entry_point"],
            expected=case.expected,
            atol=0,
            ref_time=[REFERENCE_TIME_S] * len(case.inputs),
            fast_check=True,
        )
        return status == PASS

    return in_threads(one, n, workers=workers)


if __name__ == "__main__":
    main(Peer("evalplus", "evalplus", "none: forked process + guard + rlimits", score))
