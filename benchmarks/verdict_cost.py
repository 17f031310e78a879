"""CPU per verdict of two checkouts, in turns: function, stdio, sealed script, sealed pytest suite.

The CPU of a verdict is that of the whole process tree, host and sandbox: a process judges a few and
then one that judges many, and the difference is divided by the difference of their numbers, so that
start-up and imports fall out. Scripts and suites make fifty calls each, so that calls count.

    git worktree add /tmp/before REVISION
    python benchmarks/verdict_cost.py --before /tmp/before/src --rounds 5
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from measure import save, show, spread

SOURCE = str(Path(__file__).resolve().parents[1] / "src")
KINDS = {"function": (60, 2460), "stdio": (60, 860), "script": (20, 260), "pytest": (10, 110)}
"""How many verdicts the short and the long process of a kind give."""
PROGRAM = """
import sys; sys.path.insert(0, {source!r})
from unhack import (
    Case, FunctionVerifier, Problem, PytestVerifier, ScriptVerifier, StdioVerifier, Task, run_batch
)
from unhack.verifiers.stdio import StdioCase
calls = "\\n".join(
    f"    assert solution.solve({{n}}, [1, 2, {{n}}]) == [{{n}} + 1, 3 + {{n}}]" for n in range(50)
)
program = "def solve(n, xs):\\n    return [n + 1, sum(xs)]\\n"
verifiers = {{
    "function": lambda: FunctionVerifier(
        "solve", tuple(Case((n, [1, 2, n]), expected=[n + 1, 3 + n]) for n in range(10))
    ),
    "stdio": lambda: StdioVerifier(
        tuple(StdioCase(f"{{n}}\\n", f"{{n * n}}\\n") for n in range(4))
    ),
    "script": lambda: ScriptVerifier(
        "import solution\\ndef verify(solution_path, cases_path):\\n" + calls
        + "\\n    return True\\n"
    ),
    "pytest": lambda: PytestVerifier(
        {{"test_it.py": "import solution\\ndef test_calls():\\n" + calls + "\\n"}}
    ),
}}
if {kind!r} == "stdio":
    program = "n = int(input())\\nprint(n * n)\\n"
task = Task(Problem("cost", "cost"), verifiers[{kind!r}]())
batch = run_batch(task, [program + f"# {{place}}\\n" for place in range({count})])
assert all(verdict.passed for verdict in batch.verdicts), batch.verdicts[0]
import os
parents, ticks = {{}}, {{}}
for name in filter(str.isdigit, os.listdir("/proc")):
    try:
        fields = open(f"/proc/{{name}}/stat").read().rpartition(")")[2].split()
    except OSError:
        continue
    parents[int(name)], ticks[int(name)] = int(fields[1]), sum(map(int, fields[11:15]))
tree = {{os.getpid()}}
while more := {{pid for pid, parent in parents.items() if parent in tree}} - tree:
    tree |= more
print(sum(ticks.get(pid, 0) for pid in tree) / os.sysconf("SC_CLK_TCK"), len(tree))
"""


def cpu_s(source: str, kind: str, count: int) -> float:
    """CPU seconds of a process that gives `count` verdicts, and of everything that it started and
    that has ended or still runs."""
    program = PROGRAM.format(source=source, kind=kind, count=count)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    seconds, processes = done.stdout.split()
    if int(processes) < 3:
        raise SystemExit("no worker is among the processes that were counted")
    return float(seconds)


def cost_ms(source: str, kind: str) -> float:
    """CPU milliseconds of one more verdict."""
    few, many = KINDS[kind]
    return (cpu_s(source, kind, many) - cpu_s(source, kind, few)) / (many - few) * 1e3


def main() -> int:
    """Alternate the checkouts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", required=True, metavar="SRC")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    cells: dict[str, dict[str, dict[str, float]]] = {}
    for kind in options.kinds.split(","):
        before: list[float] = []
        after: list[float] = []
        for turn in range(options.rounds):
            order = [(options.before, before), (SOURCE, after)]
            for source, values in order if turn % 2 == 0 else reversed(order):
                values.append(cost_ms(source, kind))
        ratios = [new / old for old, new in zip(before, after, strict=True)]
        print(show(f"{kind}, before", before, unit="ms CPU", digits=2))
        print(show(f"{kind}, after", after, unit="ms CPU", digits=2))
        print(show(f"{kind}, ratio", ratios, unit="", digits=3), flush=True)
        cells[kind] = {
            "before_ms": spread(before), "after_ms": spread(after), "ratio": spread(ratios)
        }  # fmt: skip
    text = "; ".join(f"{kind} {json.dumps(cell['ratio'])}" for kind, cell in cells.items())
    command = f"python benchmarks/verdict_cost.py --before SRC --rounds {options.rounds}"
    save("verdict_cost", command, {"cells": cells, "summary": text})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
