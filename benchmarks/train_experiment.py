"""The figures of an experiment's run folders, small enough to keep.

    python benchmarks/train_experiment.py RUNS --name train_loopholes [--note TEXT]

Writes the report over what `unhack train sweep` left to `results/NAME.json`: each arm's means and
curves, each run's deployed and as-trained rates, the tests, the claims, the plan. `--note` says on
which machine and how far the sweep came.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from measure import save


def report(runs: Path) -> dict[str, Any]:
    """What `unhack train report --json` says."""
    code = "from unhack.cli.app import main; main()"
    words = [sys.executable, "-c", code, "train", "report", str(runs), "--json"]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


def main() -> None:
    """Read, shorten, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--name", default="train_loopholes")
    parser.add_argument("--note", default="")
    chosen = parser.parse_args()
    told = report(chosen.runs)
    skipped = sorted(str(Path(path).relative_to(chosen.runs)) for path in told.pop("skipped"))
    figures = {
        "note": chosen.note,
        "plan": (chosen.runs / "plan.toml").read_text(),
        **told,
        "not_evaluated": skipped,
    }
    save(
        chosen.name, f"unhack train sweep PLAN.toml --out RUNS; {Path(__file__).name} RUNS", figures
    )


if __name__ == "__main__":
    main()
