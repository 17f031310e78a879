"""One completion of a group of 16 loops for ever: how much later do the other 15 verdicts come?

Rounds alternate between a clean group and one with a looping completion. The others each compute
for about 30 ms.

    python benchmarks/straggler.py --rounds 15
"""

from __future__ import annotations

import argparse
import time

from measure import save, show, spread
from unhack import Case, FunctionVerifier, Limits, Pool, Problem, Task, stream_batch

WORK = "def solve(n):\n    t = 0\n    for i in range(n):\n        t += i * i\n    return t\n"
LOOP = "def solve(n):\n    while True:\n        pass\n"
SLICE_S = 0.1
N = 400_000


def last_of_fifteen(task: Task, backend: Pool, *, loop: bool) -> float:
    """Seconds until the 15 honest verdicts of a group are there."""
    group = [f"{WORK}# {number}\n" for number in range(15)]
    group.insert(3, LOOP if loop else f"{WORK}# other\n")
    started = time.perf_counter()
    honest = 0
    stream = stream_batch(task, group, backend=backend)
    for index, verdict in stream:
        if index != 3:
            honest += verdict.passed
        if honest == 15:
            break
    seconds = time.perf_counter() - started
    stream.close()
    return seconds


def main() -> int:
    """Alternate clean groups and groups with a straggler."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    limits = Limits(wall_s=5.0, cpu_s=5.0, soft_slice_s=SLICE_S)
    expected = sum(i * i for i in range(N))
    verifier = FunctionVerifier("solve", (Case((N,), expected=expected),), limits=limits)
    task = Task(Problem("sum-of-squares", "Sum of squares below n."), verifier)
    backend = Pool(slots=2)
    last_of_fifteen(task, backend, loop=False)
    clean, looping = [], []
    for _ in range(options.rounds):
        clean.append(last_of_fifteen(task, backend, loop=False))
        looping.append(last_of_fifteen(task, backend, loop=True))
    backend.close()
    late = [b - a for a, b in zip(clean, looping, strict=True)]
    allowed = spread(clean)["median"] * 0.10 + SLICE_S
    print(show("clean group of 16", clean, unit="s", digits=3))
    print(show("15 of a group with a loop", looping, unit="s", digits=3))
    print(show("later by", late, unit="s", digits=3), f"; allowed {allowed:.3f} s")
    save(
        "straggler",
        f"python benchmarks/straggler.py --rounds {options.rounds}",
        {
            "clean_s": spread(clean),
            "looping_s": spread(looping),
            "later_s": spread(late),
            "allowed_s": allowed,
            "slice_s": SLICE_S,
        },
    )
    return int(spread(late)["median"] > allowed)


if __name__ == "__main__":
    raise SystemExit(main())
