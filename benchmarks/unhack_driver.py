"""Score the peers' case (HumanEval/0, 7 tests) N times through `run_batch`; print one JSON line.

Deduplication is off. Start-up and a warm-up lie outside the timing, as for the peers. CPU seconds
are those of the whole process tree, fork servers and jobs included (`peers/peer_meter.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))

from peer_case import Case as PeerCase
from peer_case import load_case
from peer_meter import Meter, cpu_group
from unhack import Case, FunctionVerifier, Pool, Problem, Task, run_batch
from unhack.core.completion import Extraction
from unhack.sandbox.job import Isolation
from unhack.verifiers.values.compare import Compare


def make_task(case: PeerCase, *, preload: tuple[str, ...], scratch: bool) -> Task:
    """The case as a task: inputs to the candidate, expected values to the judge."""
    pairs = zip(case.inputs, case.expected, strict=True)
    verifier = FunctionVerifier(
        case.problem["entry_point"],
        tuple(Case(tuple(args), expected=expected) for args, expected in pairs),
        compare=Compare.EXACT,
        extraction=Extraction.RAW,
        preload=preload,
        scratch=scratch,
    )
    return Task(Problem(case.problem["task_id"], case.problem["prompt"]), verifier)


def main() -> None:
    """Run one cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--isolation", default="namespaces", choices=[*Isolation])
    parser.add_argument("--preload", default="")
    parser.add_argument("--scratch", action="store_true")
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args()
    case = load_case(wrong=options.wrong)
    preload = tuple(filter(None, options.preload.split(",")))
    task = make_task(case, preload=preload, scratch=options.scratch)
    with cpu_group(enabled=os.geteuid() == 0) as group:
        backend = Pool(slots=options.workers, isolation=Isolation(options.isolation))
        run_batch(task, [case.solution] * 50, backend=backend, dedupe=False)
        meter = Meter(group)
        meter.start()
        batch = run_batch(task, [case.solution] * options.n, backend=backend, dedupe=False)
        meter.stop()
        backend.close()
    print(
        json.dumps(
            {
                "peer": "unhack",
                "isolation": batch.verdicts[0].isolation,
                "workers": options.workers,
                "n": options.n,
                "passed": sum(verdict.passed for verdict in batch.verdicts),
                "wall_s": meter.wall_s,
                "cpu_s": meter.cpu_s,
                "rate": options.n / meter.wall_s,
                "cpu_source": "cpuacct" if group else "rusage",
                "load": os.getloadavg()[0],
            }
        )
    )


if __name__ == "__main__":
    main()
