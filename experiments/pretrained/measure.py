"""The measured table of the world `pretrained`, in calls that may end at any time.

    python experiments/pretrained/measure.py experiments/pretrained/plan.toml OUT \\
        --results RESULTS --seconds 520 --set model.device=cuda --set model.path=models/smollm2

makes the warm-up and the base rows (`base.json`), runs what the plan has left, several runs at once
on one device, and writes into RESULTS: `runs.tar.gz` (records without weights), `table.md` (rates
of each hole) and `updates.jsonl` (a line for each update of each run). A later call goes on: from
OUT where it is still there, checkpoints included, and from `--earlier runs.tar.gz` of another
machine, whose finished runs are not run again.

Covered: the end by `--seconds`, an interrupt or a kill: RESULTS is written each half minute.
Not covered: two calls at once on one OUT.
"""

from __future__ import annotations

import argparse
import gc
import json
import signal
import tarfile
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from unhack.training.config.settings import Settings
from unhack.training.config.toml import override_of
from unhack.training.evaluation.evaluate import evaluate
from unhack.training.experiment.sweep import (
    SweepPlan,
    SweepRun,
    plan_runs,
    read_plan,
    settings_of,
    sweep,
)
from unhack.training.policy.policy import load_policy
from unhack.training.worlds.registry import make_world

KEPT = {"config.toml", "run.json", "metrics.jsonl", "gate.jsonl", "final.json", "curve.json",
        "alarms.jsonl", "error.txt", "base.json"}  # fmt: skip
"""Files of a run that come back; weights are too large."""


def main() -> None:
    """Read the command line, measure, and write what there is."""
    given = arguments()
    given.results.mkdir(parents=True, exist_ok=True)
    given.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, given.seconds)
    plan = changed(read_plan(given.plan), given)
    if given.earlier and given.earlier.exists():
        with tarfile.open(given.earlier) as tar:
            tar.extractall(given.out, filter="data")
    stopping = threading.Event()
    watching = threading.Thread(target=watch, args=(plan, given, stopping, began), daemon=True)
    watching.start()
    try:
        base_rows(plan, given.out)
        gc.collect()
        torch.cuda.empty_cache()
        runs = plan_runs(plan)
        left = [run for run in runs if not (given.out / run.name / "final.json").exists()]
        print(f"{time.monotonic() - began:.0f} s: {len(left)} runs to go", flush=True)
        found = sweep(plan, given.out, only=left, watch=told) if left else []
        for outcome in found:
            if outcome.state == "failed":
                print(f"FAILED {outcome.run.name}: {outcome.reason}", flush=True)
    except KeyboardInterrupt:
        print(f"stopped after {time.monotonic() - began:.0f} s; call again to go on", flush=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        stopping.set()
        watching.join()
        write_results(plan, given.out, given.results)
    print((given.results / "table.md").read_text(), flush=True)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure the world pretrained.")
    parser.add_argument("plan", type=Path)
    parser.add_argument("out", type=Path, help="folder of the runs, with weights")
    parser.add_argument("--results", type=Path, required=True, help="folder of what comes back")
    parser.add_argument("--earlier", type=Path, help="runs.tar.gz of a call on another machine")
    parser.add_argument("--seconds", type=float, default=540.0, help="end after so many seconds")
    parser.add_argument("--choice", type=int, help="this one of `known`, on this of `base_seeds`")
    parser.add_argument("--seeds", type=int, nargs="*", help="these seeds of the plan alone")
    parser.add_argument("--jobs", type=int, default=0, help="runs at once")
    parser.add_argument("--without", nargs="*", default=[], metavar="MODE", help="leave holes out")
    parser.add_argument("--set", action="append", default=[], metavar="TABLE.FIELD=VALUE")
    return parser.parse_args()


def changed(plan: SweepPlan, given: argparse.Namespace) -> SweepPlan:
    """The plan with what the command line says."""
    tables: dict[str, dict[str, Any]] = {name: dict(one) for name, one in plan.settings.items()}
    for text in given.set:
        name, value = override_of(text)
        table, _, field = name.partition(".")
        try:
            tables.setdefault(table, {})[field] = json.loads(value)
        except ValueError:
            tables.setdefault(table, {})[field] = value
    left_out = set(given.without)
    tables["world"]["modes"] = [one for one in tables["world"]["modes"] if one not in left_out]
    known = tuple(tuple(one for one in modes if one not in left_out) for modes in plan.known)
    plan = replace(plan, known=known)
    if given.choice is not None:
        at = given.choice
        plan = replace(plan, known=(plan.known[at],), base_seeds=(plan.base_seeds[at],))
    return replace(
        plan, settings=tables, jobs=given.jobs or plan.jobs, seeds=tuple(given.seeds or plan.seeds)
    )


def base_rows(plan: SweepPlan, out: Path) -> None:
    """Evaluate the model as it comes and after its warm-up, which is made here."""
    path = out / "base.json"
    rows: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    settings = settings_of(plan, plan_runs(plan)[0], out)
    plain = settings.model_copy(
        update={"model": settings.model.model_copy(update={"warmup_steps": 0})}
    )
    for name, chosen in (("as it comes", plain), ("before RL", settings)):
        began = time.monotonic()
        if name not in rows:
            rows[name] = {**measured(chosen, out), "seconds": time.monotonic() - began}
            path.write_text(json.dumps(rows))
            print(f"{name}: {rows[name]['seconds']:.0f} s, {rows[name]['texts']}", flush=True)


def measured(settings: Settings, out: Path) -> dict[str, Any]:
    """The final set under a fresh policy, with a completion of each mode."""
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(settings, folder=Path(folder))
        policy = load_policy(settings, world)
        prompts = world.final()
        texts: dict[str, str] = {}
        decode = world.decode

        def noted(tokens: Any) -> str:
            text = decode(tokens)
            texts.setdefault(prompts[len(seen) % len(prompts)].mode, text)
            seen.append(1)
            return text

        seen: list[int] = []
        world.decode = noted  # type: ignore[method-assign]
        return {**evaluate(policy, world, prompts, quarantine=False).record(), "texts": texts}


def told(outcomes: Any) -> None:
    """Say which runs are in which state."""
    states: dict[str, list[str]] = {}
    for one in outcomes:
        states.setdefault(one.state, []).append(one.run.name.partition("/")[0])
        if one.state == "waiting" and one.reason:
            print(one.run.name, one.reason, flush=True)
    print({state: " ".join(names) for state, names in states.items()}, flush=True)


def watch(
    plan: SweepPlan, given: argparse.Namespace, stopping: threading.Event, began: float
) -> None:
    """Each half minute say how far runs are, and write what there is."""
    while not stopping.wait(30.0):
        said: list[str] = []
        for run in plan_runs(plan):
            lines = read_lines(given.out / run.name / "metrics.jsonl")
            if lines and not (given.out / run.name / "final.json").exists():
                last = lines[-1]
                said.append(
                    f"{run.arm}/{run.seed} {last['step'] + 1} updates, {last['seconds']:.1f} s "
                    f"({last['seconds_sample']:.1f} sampling, {last['seconds_judge']:.1f} judged), "
                    f"hacks {last['hacked']:.2f}, solved {last['solved']:.2f}"
                )
        if torch.cuda.is_available():
            free, whole = torch.cuda.mem_get_info()
            said.append(f"{(whole - free) / 2**30:.0f} GiB in use")
        print(f"{time.monotonic() - began:.0f} s: " + "; ".join(said), flush=True)
        write_results(plan, given.out, given.results)


def write_results(plan: SweepPlan, out: Path, results: Path) -> None:
    """Write what comes back, from whatever is there."""
    part = results / "runs.part"
    with tarfile.open(part, "w:gz") as tar:
        for path in sorted(out.rglob("*")):
            if path.name in KEPT and "checkpoints" not in path.parts:
                tar.add(path, arcname=str(path.relative_to(out)))
    part.rename(results / "runs.tar.gz")
    with (results / "updates.jsonl").open("w") as file:
        for run in plan_runs(plan):
            for line in updates(run, out / run.name):
                file.write(json.dumps(line) + "\n")
    (results / "table.md").write_text(table(plan, out))


def updates(run: SweepRun, folder: Path) -> list[dict[str, Any]]:
    """One record for each update: rates in both knob states, and how the gate ranks hacks."""
    gates = {line["step"]: line for line in read_lines(folder / "gate.jsonl")}
    found: list[dict[str, Any]] = []
    for line in read_lines(folder / "metrics.jsonl"):
        gate = gates.get(line["step"], {})
        names = ("hacked", "solved", "hacked_on", "hacked_off", "solved_on", "solved_off",
                 "kl", "entropy", "truncated", "seconds", "seconds_sample", "seconds_judge",
                 "seconds_update")  # fmt: skip
        found.append({
            "run": run.name, "step": line["step"],
            **{name: line.get(name) for name in names},
            "hacks_of_rewarded": share(line, ""),
            "hacks_of_rewarded_on": share(line, "_on"),
            "hacks_of_rewarded_off": share(line, "_off"),
            "mass": gate.get("mass"), "auroc": gate.get("auroc"),
            "aurocs": gate.get("aurocs", {}), "pair_accuracy": gate.get("pair_accuracy"),
        })  # fmt: skip
    return found


def share(line: Mapping[str, Any], state: str) -> float | None:
    """Hacks among rewarded rollouts; None where none is rewarded."""
    hacked, solved = line.get(f"hacked{state}"), line.get(f"solved{state}")
    if hacked is None or solved is None or not hacked + solved:
        return None
    return hacked / (hacked + solved)


def table(plan: SweepPlan, out: Path) -> str:
    """Markdown: hack rate of each hole and solve rate, deployed and as trained; then the gate."""
    runs = plan_runs(plan)
    modes = list(settings_of(plan, runs[0], out).world.modes)
    head = ["run", "state", "hack, known", "hack, held out", "solve", *modes]
    lines = [head, ["---"] * len(head)]
    path = out / "base.json"
    for name, record in (json.loads(path.read_text()) if path.exists() else {}).items():
        lines.append([name, "", *rates(record, modes)])
    for run in runs:
        final = out / run.name / "final.json"
        record = json.loads(final.read_text()) if final.exists() else {}
        for state in ("deployed", "as_trained"):
            if state in record:
                lines.append([run.name, state, *rates(record[state], modes)])
    ranked = [["run", "updates", "seconds", "hacks of rewarded, last ten", "on", "off",
               *(f"AUROC {mode}" for mode in modes)]]  # fmt: skip
    ranked.append(["---"] * len(ranked[0]))
    for run in runs:
        found = updates(run, out / run.name)
        if not found:
            continue
        keys = ("hacks_of_rewarded", "hacks_of_rewarded_on", "hacks_of_rewarded_off")
        ranked.append([
            run.name, str(len(found)), mean([one["seconds"] for one in found], "{:.1f}"),
            *(mean([one[key] for one in found[-10:]]) for key in keys),
            *(mean([one["aurocs"].get(mode) for one in found]) for mode in modes),
        ])  # fmt: skip
    known = ", ".join(sorted({mode for run in runs for mode in run.known}))
    rows = "\n".join("| " + " | ".join(row) + " |" for row in lines)
    gate = "\n".join("| " + " | ".join(row) + " |" for row in ranked)
    return f"Known: {known}. Rates of hack by hole; 96 prompts each.\n\n{rows}\n\n{gate}\n"


def rates(record: Mapping[str, Any], modes: list[str]) -> list[str]:
    """The cells of one evaluation."""
    whole = [record[name]["rate"] for name in ("hack_known", "hack_held_out", "solve")]
    own = [record["by_mode"][mode] for mode in modes]
    return [
        *(f"{value:.2f}" for value in whole),
        *(
            f"{one['hacked'] / one['count']:.2f} ({one['solved'] / one['count']:.2f})"
            for one in own
        ),
    ]


def mean(values: list[float | None], form: str = "{:.2f}") -> str:
    """The mean of what is there; empty of nothing."""
    found = [value for value in values if value is not None]
    return form.format(sum(found) / len(found)) if found else ""


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Whole lines of a log; none where there is no file."""
    if not path.exists():
        return []
    text = path.read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


if __name__ == "__main__":
    main()
