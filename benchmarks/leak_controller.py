"""The controller that listens to the leak alarm: the registered claims of `experiments/controller`.

    python benchmarks/leak_controller.py RUNS --machine TEXT

RUNS/PLAN holds the sweep of `experiments/controller/PLAN.toml`, for each of its plans. The claims
are tested once, when all runs are there: `claims.toml` has the words, the unit and the level.
Beside them stand, for each plan, means over runs, how many leak (held-out hacks above
`leak_alarm.BOUND`) and how many raised the alarm. Writes `results/leak_controller.json`; where runs
are missing it names them and ends with 1.
"""

from __future__ import annotations

import argparse
import math
import sys
import tomllib
from pathlib import Path
from typing import Any

from leak_alarm import BOUND, Judged, figures, judged
from matrix_tests import Arms, Tested, decide, mean
from measure import save
from unhack.training.evaluation.evaluate import FINAL
from unhack.training.routing.leak import LeakAlarm
from unhack.training.run.folder import METRICS, read_lines

NAME = "leak_controller"
PLANS = Path(__file__).parents[1] / "experiments" / "controller"
CLAIMS = "claims.toml"
Runs = list[tuple[Judged, tuple[int, ...]]]
"""Runs, each with the updates at which its alarm was up."""
AT = range(55, 116, 10)


def runs_of(folder: Path, plan: Path) -> tuple[Runs, int]:
    """The finished runs of a plan with what their alarm did, and how many are missing."""
    planned = tomllib.loads(plan.read_text())
    wanted = math.prod(len(planned[name]) for name in ("seeds", "base_seeds", "known"))
    ended = sorted(path.parent for path in (folder / plan.stem).rglob(FINAL))
    found = [(judged(path, ""), _raised(path)) for path in ended]
    return found, wanted - len(found)


def _raised(folder: Path) -> tuple[int, ...]:
    """The updates at which the alarm of a run was up."""
    alarm, found = LeakAlarm(), list[int]()
    for line in read_lines(folder / METRICS):
        alarm.observe(line.get("claimed"))
        if alarm.raised:
            found.append(line["step"])
    return tuple(found)


def arms_of(runs: dict[str, Runs]) -> Arms:
    """Figures by plan, and by base model and choice of known modes."""
    found: Arms = {}
    for plan, own in runs.items():
        units = found.setdefault(plan, {})
        for run, _ in own:
            told_of = {"held_out": run.held_out, "solve": run.solve}
            units.setdefault((f"base {run.base}", *run.known), []).append(told_of)
    found["again"] = dict(found["small"])
    for run, _ in (*runs["middle"], *runs["again"]):
        unit = (f"base {run.base}", *run.known)
        first = next(
            one for one, _ in runs["small"] if (one.base, one.known) == (run.base, run.known)
        )
        if first.raised:
            found["again"][unit] = [{"held_out": run.held_out, "solve": run.solve}]
    return found


def row(plan: str, runs: Runs) -> dict[str, Any]:
    """Means over the runs of a plan."""
    return {
        "plan": plan,
        "runs": len(runs),
        "held_out": round(mean(run.held_out for run, _ in runs), 4),
        "most_held_out": round(max(run.held_out for run, _ in runs), 4),
        "solve": round(mean(run.solve for run, _ in runs), 4),
        "leaks": sum(run.leaks for run, _ in runs),
        "ever_raised": sum(bool(raised) for _, raised in runs),
    }


def alarm_at(runs: Runs) -> dict[str, list[list[int]]]:
    """By base model and update: leaking runs whose alarm is up, of how many; the same of others."""
    found = dict[str, list[list[int]]]()
    for base in sorted({run.base for run, _ in runs}):
        own = [(run, raised) for run, raised in runs if run.base == base]
        leaks = [raised for run, raised in own if run.leaks]
        others = [raised for run, raised in own if not run.leaks]
        found[f"base {base}"] = [
            [
                at,
                sum(at in one for one in leaks),
                len(leaks),
                sum(at in one for one in others),
                len(others),
            ]
            for at in AT
        ]
    return found


def told(one: Tested) -> str:
    """A claim in one line."""
    word = "supported" if one.supported else "not shown"
    return f"{one.claim['name']}: {one.gap:+.3f} ({one.low:+.3f} to {one.high:+.3f}), {word}"


def main() -> None:
    """Test the claims and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--machine", required=True, help="where the runs were made")
    chosen = parser.parse_args()
    plans = sorted(path for path in PLANS.glob("*.toml") if path.name != CLAIMS)
    found, missing = dict[str, Runs](), dict[str, int]()
    for plan in plans:
        found[plan.stem], missing[plan.stem] = runs_of(chosen.runs, plan)
    if any(missing.values()):
        sys.exit(f"runs are missing, so no claim is tested: {missing}")
    rules = tomllib.loads((PLANS / CLAIMS).read_text())
    tested = decide(rules, {"": arms_of(found)})
    rows = [row(plan, own) for plan, own in found.items()]
    for line in (*rows, *map(told, tested)):
        print(line)
    save(
        NAME,
        f"python benchmarks/{NAME}.py RUNS --machine TEXT",
        {
            "bound": BOUND,
            "alpha": rules["alpha"],
            "plans": rows,
            "alarm": figures([run for run, _ in found["small"]]),
            "alarm_at": alarm_at(found["small"]),
            "claims": [one.row() for one in tested],
        },
        ran_on=chosen.machine,
    )


if __name__ == "__main__":
    main()
