"""The figures of an experiment's run folders, small enough to keep.

    python benchmarks/train_experiment.py RUNS --name train_loopholes --machine TEXT [--note TEXT]

Writes the report over what `unhack train sweep` left: to `results/NAME.json` each arm's means, the
tests and the claims; to `results/full/NAME.json` each run's rates, curves and the plan too.
`--machine` names the machines that the runs were made on, `--note` says how far the sweep came.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from measure import save, table


def report(runs: Path) -> dict[str, Any]:
    """What `unhack train report --json` says."""
    code = "from unhack.cli.app import main; main()"
    words = [sys.executable, "-c", code, "train", "report", str(runs), "--json"]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


RATES = ("hack", "hack_held_out", "solve")


def arm_row(arm: dict[str, Any]) -> dict[str, Any]:
    """Means of one arm over its runs, deployed with their standard errors, and as trained."""
    row: dict[str, Any] = {"arm": arm["name"], "runs": arm["deployed"]["solve"]["count"]}
    for rate in RATES:
        row[rate] = arm["deployed"][rate]["mean"]
        row[f"{rate}_sem"] = arm["deployed"][rate]["sem"]
    row |= {f"as_trained_{rate}": arm["as_trained"][rate]["mean"] for rate in RATES}
    row["mass_share"] = (arm["mass_share"] or {}).get("mean")
    return row


def short(told: dict[str, Any]) -> dict[str, Any]:
    """A report without runs, curves and the plan's text."""
    arms = [arm_row(arm) for arm in told["arms"]]
    solved = told["base"].get("solve")
    tests = [{**test, **test["test"]} for test in told["tests"]]
    columns = ("arm", "mean", "low", "high", "p", "p_holm", "p_seeds", "count", "matched")
    return {
        "note": told["note"],
        "versions": told["versions"],
        "known": told["known"],
        "held_out": [mode for mode in told["modes"] if mode not in told["known"]],
        "base_solve": round(solved["mean"], 4) if solved else None,
        "rules": told["rules"],
        "arms": table(arms, tuple(arms[0])),
        "tests": table(tests, columns),
        "claims": [
            {key: claim[key] for key in ("name", "verdict", "reason")} for claim in told["claims"]
        ],
        "not_evaluated": len(told["not_evaluated"]),
    }


def main() -> None:
    """Read, shorten, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--name", default="train_loopholes")
    parser.add_argument("--machine", required=True, help="where the runs were made")
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
    command = f"unhack train sweep PLAN.toml --out RUNS; {Path(__file__).name} RUNS"
    save(chosen.name, command, short(figures), records=figures, ran_on=chosen.machine)


if __name__ == "__main__":
    main()
