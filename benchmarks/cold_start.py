"""From the start of a fresh interpreter's `import unhack` to the first sealed verdict.

python benchmarks/cold_start.py --rounds 15
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from measure import save, show, spread

PROGRAM = """
import json, time
start = time.perf_counter()
import unhack
verifier = unhack.FunctionVerifier("f", (unhack.Case((2,), expected=4),))
task = unhack.Task(unhack.Problem("double", "Double it."), verifier)
batch = unhack.run_batch(task, ["def f(x):\\n    return 2 * x\\n"])
seconds = time.perf_counter() - start
print(json.dumps([seconds, batch.verdicts[0].passed, batch.verdicts[0].isolation]))
"""


def main() -> int:
    """Start fresh interpreters one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    seconds: list[float] = []
    for _ in range(options.rounds):
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        taken, passed, isolation = json.loads(done.stdout)
        if not passed:
            raise SystemExit("the first verdict is wrong")
        seconds.append(taken)
    print(show(f"first verdict ({isolation})", seconds, unit="s", digits=3))
    save(
        "cold_start",
        f"python benchmarks/cold_start.py --rounds {options.rounds}",
        {"first_verdict_s": spread(seconds), "isolation": isolation},
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
