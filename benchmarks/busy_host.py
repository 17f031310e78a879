"""Limits of time beside busy loops: right programs near their CPU limit, and the time of a loop.

Two checkouts in turns. Right programs compute for nine tenths of `cpu_s`, several at once, and
sealed solutions for seven tenths of `wall_s`; a loop has `wall_s`, and in the newer checkout
`wall_hard_s` besides.

    git worktree add /tmp/before REVISION
    python benchmarks/busy_host.py --before /tmp/before/src --rounds 3
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

SOURCE = str(Path(__file__).resolve().parents[1] / "src")
BUSY = "while True: pass"
LIMIT_S, SHARE, SEALED_SHARE, PROGRAMS = 3.0, 0.9, 0.7, 6
PROGRAM = """
import json, sys
sys.path.insert(0, {source!r})
from unhack import Limits, Pool, Problem, ScriptVerifier, StdioVerifier, Task, run_batch
from unhack.verifiers.stdio import StdioCase

limits = Limits(wall_s={limit}, cpu_s={limit})
near = "import time\\nn = int(input())\\nwhile time.process_time() < {near}: pass\\nprint(n * n)\\n"
loop = "while True: pass\\n"
script = "import solution\\ndef verify(a, b):\\n    return solution.f(3) == 9\\n"
called = (
    "import time\\ndef f(n):\\n    while time.process_time() < {called}: pass\\n"
    "    return n * n\\n"
)

def judge(limits, texts):
    verifier = StdioVerifier((StdioCase("3\\n", "9\\n"),), limits=limits)
    return run_batch(Task(Problem("square", ""), verifier), texts, backend=pool).verdicts

pool = Pool(slots=2)
found = judge(limits, [near + f"# {{place}}\\n" for place in range({count})])
pool.close()
pool = Pool(slots=2)  # second runs have an account for each pool
task = Task(Problem("sealed", ""), ScriptVerifier(script, limits=limits))
texts = [called + f"# {{place}}\\n" for place in range({count})]
sealed = run_batch(task, texts, backend=pool).verdicts
[looped] = judge(limits, [loop])
hard = None
if hasattr(limits, "wall_hard_s"):
    [ended] = judge(limits.with_(wall_hard_s={limit}), [loop])
    hard = [ended.usage.wall_s, ended.reason]
pool.close()
print(json.dumps({{
    "right": sum(verdict.passed for verdict in found),
    "sealed_right": sum(verdict.passed for verdict in sealed),
    "reasons": sorted({{verdict.reason for verdict in found if not verdict.passed}}),
    "cpu_s": [round(verdict.usage.cpu_s, 2) for verdict in found],
    "loop_s": looped.usage.wall_s,
    "hard": hard,
}}))
"""


def measure(source: str) -> dict[str, object]:
    """What one checkout makes of the programs and of the loops."""
    text = PROGRAM.format(source=source, limit=LIMIT_S, near=SHARE * LIMIT_S,
                          called=SEALED_SHARE * LIMIT_S, count=PROGRAMS)  # fmt: skip
    done = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main() -> int:
    """Measure both checkouts in turns, beside busy loops."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", required=True, help="the `src` of the older checkout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--loops", type=int, default=4)
    options = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(options.loops)]
    try:
        for _ in range(options.rounds):
            for name, source in (("before", options.before), ("after", SOURCE)):
                found = measure(source)
                print(
                    f"{name}: {found['right']} of {PROGRAMS} right", json.dumps(found), flush=True
                )
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
