"""Completions judged in this process against the same on a Ray of this machine, interleaved.

python benchmarks/ray_overhead.py --items 10000 --rounds 3

Both have the same number of workers. Ray's own processes run on the same cores, so their cost is in
the figure. CPU seconds are those of this process alone, without its workers.
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))

import ray

from measure import save
from peer_case import load_case
from scaling import different
from unhack import Pool, Task, run_batch
from unhack.tasks.execution.driver import LocalExecutor
from unhack.tasks.execution.executor import Executor
from unhack.tasks.execution.ray.executor import RayExecutor
from unhack_driver import make_task


def measured(task: Task, texts: list[str], executor: Executor) -> dict[str, float]:
    """Seconds and this process's CPU time of one batch, every verdict checked."""
    cpu, started = time.process_time(), time.perf_counter()
    batch = run_batch(task, texts, executor=executor, dedupe=False)
    seconds = time.perf_counter() - started
    passed = sum(verdict.passed for verdict in batch.verdicts)
    expected = len(texts) - (len(texts) + 9) // 10
    if len(batch.verdicts) != len(texts) or passed != expected:
        raise SystemExit(f"{len(batch.verdicts)} verdicts, {passed} passed, not {expected}")
    return {
        "seconds": round(seconds, 2),
        "rate": round(len(texts) / seconds, 1),
        "driver_cpu_ms_per_verdict": round((time.process_time() - cpu) / len(texts) * 1000, 3),
        "load": round(os.getloadavg()[0], 2),
    }


def main() -> int:
    """Run the rounds and save them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=2)
    options = parser.parse_args()
    case = load_case(wrong=False)
    task = make_task(case, preload=(), scratch=False)
    texts = list(different(case.solution, options.items))
    ray.init(num_cpus=options.slots, include_dashboard=False, log_to_driver=False)
    there = RayExecutor(slots=options.slots)
    pool = Pool(slots=options.slots)
    arms: dict[str, Executor] = {"local": LocalExecutor(pool), "ray": there}
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in arms}
    verdict = run_batch(task, texts[1:2], executor=there).verdicts[0]
    run_batch(task, texts[1:2], executor=arms["local"])
    for number in range(options.rounds):
        for name in sorted(arms, reverse=number % 2 == 1):
            rows[name].append(measured(task, texts, arms[name]))
            print(number, name, rows[name][-1], flush=True)
    shares = [
        there_row["seconds"] / here["seconds"] - 1
        for here, there_row in zip(rows["local"], rows["ray"], strict=True)
    ]
    result = {
        "items": options.items,
        "slots": options.slots,
        "ray": ray.__version__,
        "rows": rows,
        "overhead_percent": [round(100 * share, 1) for share in shares],
        "overhead_percent_median": round(100 * statistics.median(shares), 1),
        "completion_bytes": round(statistics.mean(len(text.encode()) for text in texts)),
        "verdict_bytes": len(pickle.dumps((1, verdict))),
    }
    print(f"overhead {result['overhead_percent_median']} %: {result['overhead_percent']}")
    command = f"python benchmarks/ray_overhead.py --items {options.items}"
    save("ray_overhead", f"{command} --rounds {options.rounds} --slots {options.slots}", result)
    there.close()
    pool.close()
    ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
