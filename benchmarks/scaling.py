"""From a thousand to a hundred thousand completions: is the rate steady, is memory flat?

python benchmarks/scaling.py --items 1000 10000 100000
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))

from measure import save
from peer_case import load_case
from unhack import Pool, stream_batch
from unhack_driver import make_task


def host_kib() -> int:
    """Resident memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def worker_pss_kib(pids: list[int]) -> list[int]:
    """Proportional set size of each fork server."""
    sizes: list[int] = []
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                sizes.append(int(line.split()[1]))
    return sizes


def different(solution: str, count: int) -> Iterator[str]:
    """Completions that differ, so that none is judged for another; every tenth is wrong."""
    for number in range(count):
        body = solution if number % 10 else solution.replace("return True", "return False")
        yield f"{body}\n# {number}\n"


def main() -> int:
    """Run each size with one pool."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[1000, 10_000, 100_000])
    options = parser.parse_args()
    case = load_case(wrong=False)
    task = make_task(case, preload=(), scratch=False)
    backend = Pool(slots=2)
    rows = []
    for count in options.items:
        passed = seen = 0
        started = time.perf_counter()
        for _, verdict in stream_batch(
            task, different(case.solution, count), backend=backend, dedupe=False
        ):
            seen += 1
            passed += verdict.passed
        seconds = time.perf_counter() - started
        if seen != count or passed != count - (count + 9) // 10:
            raise SystemExit(f"{count} items: {seen} verdicts, {passed} passed")
        row = {
            "items": count,
            "rate": round(count / seconds, 1),
            "host_rss_mib": round(host_kib() / 1024, 1),
            "worker_pss_mib": [
                round(kib / 1024, 1) for kib in worker_pss_kib(backend.worker_pids())
            ],
        }
        print(row, flush=True)
        rows.append(row)
    backend.close()
    items = " ".join(map(str, options.items))
    save("scaling", f"python benchmarks/scaling.py --items {items}", {"rows": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
