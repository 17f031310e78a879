"""A hundred thousand mixed hostile and honest jobs while fork servers are killed at random.

    python benchmarks/soak.py [--jobs 100000] [--seed 1]

Half of the jobs are programs of the escape corpus under a limit of 0.1 s. Exit code 1 when a
verdict is missing, doubled or wrong, or when anything leaks. Run as root, it is alone in namespaces
of its own, so that whatever is left can be told.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "escape"))

from stage import launch_json

from measure import save

MOST_SECONDS_PER_JOB = 0.2
MOST_MEMORY_GROWN_BYTES = 64 << 20


def main() -> int:
    """Run, print, write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = launch_json(
        "soak_run.py",
        str(options.jobs),
        str(options.seed),
        uid=os.getuid(),
        timeout_s=60 + MOST_SECONDS_PER_JOB * options.jobs,
        show_errors=True,
    )
    whole = found["once"] and not (found["wrong"] or found["left"] or found["damage"])
    flat = found["memory_grown_bytes"] < MOST_MEMORY_GROWN_BYTES
    rate = found["jobs"] / found["seconds"]
    print(f"{found['jobs']} jobs, {rate:.0f}/s, {found['kills']} kills: {found['statuses']}")
    print(f"wrong verdicts: {found['wrong']}; left: {found['left']}; {found['faults']}")
    print(f"the host grew by {found['memory_grown_bytes'] / (1 << 20):.1f} MiB")
    command = f"python benchmarks/soak.py --jobs {options.jobs} --seed {options.seed}"
    grown = max(0, found["memory_grown_bytes"]) >> 20
    summary = (
        f"{found['jobs']:,} jobs, half of them hostile, {found['kills']} kills: {found['wrong']} "
        f"wrong verdicts, {len(found['left'])} things left, host grew by {grown} MiB"
    )
    save("soak", command, {"summary": summary, "rate": round(rate, 1), **found})
    return 0 if whole and flat else 1


if __name__ == "__main__":
    raise SystemExit(main())
