"""CPU per verdict of two checkouts: function, stdio, sealed script, sealed pytest suite.

The CPU of a verdict is that of the whole process tree, host and sandbox. A pair is a process of
each checkout; both stay, on one core each, and take turns of half a second, so that what slows a
shared machine for a while slows both. The first turn of each, with start-up and imports, does not
count. Scripts and suites make fifty calls each, so that calls count.

    git worktree add /tmp/before REVISION
    python benchmarks/verdict_cost.py --before /tmp/before/src --pairs 5
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

from measure import save, show, spread
from unhack.core.statistics import student_t

SOURCE = str(Path(__file__).resolve().parents[1] / "src")
KINDS = {"function": 120, "stdio": 40, "script": 20, "pytest": 10}
"""Verdicts in a turn of a kind."""
TURNS = 10
PROGRAM = """
import os, sys, time; sys.path.insert(0, {source!r}); os.sched_setaffinity(0, {{{core}}})
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

def children_s():
    parents, ticks = {{}}, {{}}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{{name}}/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)], ticks[int(name)] = int(fields[1]), sum(map(int, fields[11:15]))
    tree = {{pid for pid, parent in parents.items() if parent == os.getpid()}}
    assert tree, "no worker is among the processes that are counted"
    while more := {{pid for pid, parent in parents.items() if parent in tree}} - tree:
        tree |= more
    return sum(ticks[pid] for pid in tree) / os.sysconf("SC_CLK_TCK")

for turn, _ in enumerate(sys.stdin):
    texts = [program + f"# {{turn}} {{place}}\\n" for place in range({count})]
    before = children_s() if turn else 0.0
    own = time.process_time()
    batch = run_batch(task, texts)
    own = time.process_time() - own
    print(own + children_s() - before, flush=True)
    assert all(verdict.passed for verdict in batch.verdicts), batch.verdicts[0]
"""


class Side:
    """A process of one checkout on one core, which judges when it is told."""

    def __init__(self, source: str, kind: str, core: int) -> None:
        program = PROGRAM.format(source=source, kind=kind, count=KINDS[kind], core=core)
        command = [sys.executable, "-c", program]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def turn_s(self) -> float:
        """CPU seconds of one turn. Raises ValueError when the process ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def pair_ms(sources: tuple[str, str], kind: str, cores: tuple[int, int]) -> list[float]:
    """CPU milliseconds of a verdict of each checkout on its core."""
    sides = [Side(source, kind, core) for source, core in zip(sources, cores, strict=True)]
    spent = [0.0, 0.0]
    for turn in range(TURNS + 1):
        for at in (0, 1) if turn % 2 else (1, 0):
            used = sides[at].turn_s()
            spent[at] += used if turn else 0.0
    for side in sides:
        side.close()
    return [total / TURNS / KINDS[kind] * 1e3 for total in spent]


def mean_ratio(ratios: list[float]) -> tuple[float, float, float]:
    """The geometric mean, and the ends of its 95 % interval by Student's t."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    half = student_t(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def main() -> int:
    """Let the checkouts take turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", required=True, metavar="SRC")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    one, other, *_ = sorted(os.sched_getaffinity(0))
    cells: dict[str, dict[str, dict[str, float]]] = {}
    for kind in options.kinds.split(","):
        before: list[float] = []
        after: list[float] = []
        ratios: list[float] = []
        for turn in range(options.pairs):
            cores = (one, other) if turn % 2 == 0 else (other, one)
            old, new = pair_ms((options.before, SOURCE), kind, cores)
            before.append(old)
            after.append(new)
            ratios.append(new / old)
        print(show(f"{kind}, before", before, unit="ms CPU", digits=2))
        print(show(f"{kind}, after", after, unit="ms CPU", digits=2))
        print(show(f"{kind}, ratio", ratios, unit="", digits=3))
        mean, low, high = mean_ratio(ratios)
        print(f"{kind}: mean ratio {mean:.3f}, 95 % interval {low:.3f} to {high:.3f}", flush=True)
        cells[kind] = {
            "before_ms": spread(before), "after_ms": spread(after),
            "ratio": spread(ratios) | {"mean": mean, "low": low, "high": high},
        }  # fmt: skip
    text = "; ".join(f"{kind} {json.dumps(cell['ratio'])}" for kind, cell in cells.items())
    command = f"python benchmarks/verdict_cost.py --before SRC --pairs {options.pairs}"
    save("verdict_cost", command, {"cells": cells, "summary": text})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
