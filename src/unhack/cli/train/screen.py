"""Training on a terminal: the live line, tables and sentences; and fields, for programs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from unhack.cli import terminal
from unhack.cli.progress import CommandProgress
from unhack.cli.verdict_table import plain_table

if TYPE_CHECKING:
    from unhack.training.evaluation.counts import Evaluation, Summary
    from unhack.training.experiment.arms import Arm
    from unhack.training.experiment.report.summary import ArmSummary, TrainingSummary
    from unhack.training.experiment.sweep import RunOutcome
    from unhack.training.run.step_record import StepRecord

_STATES = {"done": "green", "failed": "red", "skipped": "yellow", "interrupted": "yellow"}
Watch = Callable[[Any], None]


@contextlib.contextmanager
def live(total: int, *, shown: bool, what: str = "training") -> Generator[Watch | None]:
    """Follow updates on stderr: a bar on a terminal, lines elsewhere; monitor evaluations and
    alarms stay above it. Until the first update, worlds and base models are made."""
    if not shown:
        yield None
        return
    progress = CommandProgress(f"preparing {total} updates (the base model is made or loaded)")
    with terminal.working(progress) as show:
        console = terminal.remarks()

        def watch(record: StepRecord) -> None:
            _remark(console, record)
            if progress.what != what:
                progress.begin(what, total=record.steps, done=record.step)
            progress.done, progress.total = record.step + 1, record.steps
            progress.note = step_line(record)
            show()
            if progress.done == record.steps:
                progress.begin("finishing (the last checkpoint is written)")

        yield watch


def step_line(record: StepRecord) -> str:
    """One step in one line."""
    parts = [f"reward {record.reward:.2f}"]
    if record.hacked is not None and record.solved is not None:
        parts += [
            f"hack {record.hacked:.2f}{_by_knob(record.hacked_on, record.hacked_off)}",
            f"solve {record.solved:.2f}{_by_knob(record.solved_on, record.solved_off)}",
        ]
    if record.detected is not None:
        parts.append(f"detected {record.detected:.2f}")
    parts += [
        f"entropy {record.entropy:.2f}",
        f"KL {record.kl:.2f}",
        f"zero-var {record.zero_variance_share:.0%}",
    ]
    return "  ".join(parts)


def run_lines(record: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The end of a run."""
    reason = f": {record['reason']}" if record.get("reason") else ""
    yield Text(f"{record['run']}: {record['status']}{reason}")
    final = record.get("final")
    if final is None:
        return
    table = plain_table(
        {f"after {final['step']} updates": "", "deployed": "whole", "as trained": "whole"}
    )
    states = ("deployed", "as_trained")
    if "reward" in final["deployed"]:
        table.add_row("reward", *(f"{final[state]['reward']:.3f}" for state in states))
    for name in ("hack", "hack_known", "hack_held_out", "solve", "parses", "detected"):
        if name in final["deployed"]:
            table.add_row(name.replace("_", " "), *(_rate(final[state][name]) for state in states))
    yield table


def curve_table(curve: Mapping[str, Any]) -> Table:
    """One row for each checkpoint, both knob states."""
    first = curve["points"][0]["deployed"]
    names = [
        name for name in ("reward", "hack", "hack_held_out", "solve", "detected") if name in first
    ]
    figures = [(state, name) for state in ("deployed", "as_trained") for name in names]
    heads = [
        f"{state.replace('_', ' ')}: {name.removeprefix('hack_').replace('_', ' ')}"
        for state, name in figures
    ]
    rows = (
        [str(point["step"]), *(_figure(point[state][name]) for state, name in figures)]
        for point in curve["points"]
    )
    return plain_table(dict.fromkeys(["updates", *heads], "right"), rows)


def report_lines(found: TrainingSummary) -> Iterator[RenderableType]:
    """The report: arms, modes, claims where they are tested, what does not count."""
    from unhack.training.experiment.report.claims import MISSING

    yield arm_rates(found.arms)
    yield Text("")
    yield mode_rates(found)
    yield Text("")
    if found.tested is None:
        yield Text(MISSING, style="dim")
    else:
        yield from found.tested.lines
    for folder, why in found.skipped.items():
        yield Text(f"not counted: {folder}: {why}", style="yellow")


def arm_rates(arms: Sequence[ArmSummary]) -> Table:
    """Mean ± standard error of each arm."""
    figures = (
        "runs", "deployed\nhack", "deployed\nheld out", "deployed\nsolve", "deployed\nfigure",
        "as trained\nhack", "as trained\nsolve", "routed",
    )  # fmt: skip
    table = plain_table({"arm": "whole", **dict.fromkeys(figures, "number")})
    for arm in arms:
        deployed, trained = arm.deployed, arm.as_trained
        cells = [deployed[name] for name in ("hack", "hack_held_out", "solve", "figure")]
        cells += [trained[name] for name in ("hack", "solve")]
        mass = "-" if arm.mass_share is None else f"{arm.mass_share.mean:.3f}"
        table.add_row(arm.name, str(len(arm.runs)), *map(mean_text, cells), mass)
    return table


def mode_rates(found: TrainingSummary) -> Table:
    """Hack rate by mode, deployed | as trained."""
    modes = [item.mode + ("" if item.known else "\n(held out)") for item in found.arms[0].modes]
    rows = (
        [arm.name, *(f"{m.hack.mean:.2f} | {m.hack_as_trained.mean:.2f}" for m in arm.modes)]
        for arm in found.arms
    )
    return plain_table(
        {"hack by mode (deployed | as trained)": "whole", **dict.fromkeys(modes, "right")}, rows
    )


def mean_text(value: Summary) -> str:
    """`0.123 ± 0.004`."""
    return f"{value.mean:.3f}" + ("" if value.sem is None else f" ± {value.sem:.3f}")


def sweep_watch(
    progress: CommandProgress, show: Callable[[], None]
) -> Callable[[Sequence[RunOutcome]], None]:
    """A function that says on stderr what changed since its last call."""
    console = terminal.remarks()
    seen: dict[str, str] = {}

    def watch(outcomes: Sequence[RunOutcome]) -> None:
        done = sum(item.state == "done" for item in outcomes)
        progress.done = sum(item.state not in ("waiting", "running") for item in outcomes)
        running = [item.run.name for item in outcomes if item.state == "running"]
        progress.note = f"running {', '.join(running)}" if running else ""
        show()
        for item in outcomes:
            if item.state == "waiting" and item.reason and seen.get(item.run.name) != item.reason:
                seen[item.run.name] = item.reason
                console.print(Text(f"{item.run.name}: {item.reason}", "yellow"), soft_wrap=True)
            if item.state in ("waiting", seen.get(item.run.name)):
                continue
            known = seen.get(item.run.name) is not None or item.state == "running"
            seen[item.run.name] = item.state
            if known or item.state != "done":
                text = f"{done}/{len(outcomes)}  {item.run.name}: {item.state}"
                reason = f": {item.reason.splitlines()[-1]}" if item.reason else ""
                style = _STATES.get(item.state, "")
                console.print(Text(text + reason, style=style), soft_wrap=True)

    return watch


def outcome_fields(item: RunOutcome) -> dict[str, Any]:
    """A run of a sweep as plain data."""
    return {
        "run": item.run.name,
        "arm": item.run.arm,
        "base_seed": item.run.base_seed,
        "seed": item.run.seed,
        "state": item.state,
        "reason": item.reason,
        "seconds": round(item.seconds, 3),
    }


def sweep_lines(outcomes: Sequence[RunOutcome]) -> Iterator[RenderableType]:
    """The end of a sweep."""
    for item in outcomes:
        if item.state != "done":
            reason = f": {item.reason}" if item.reason else ""
            yield Text(f"{item.run.name}: {item.state}{reason}", style=_STATES.get(item.state, ""))
    done = sum(item.state == "done" for item in outcomes)
    yield Text(f"{done} of {len(outcomes)} runs done")


def relearn_lines(found: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The attack: how soon the hack is back."""
    until = f"updates until hack ≥ {found['threshold']:g}"
    table = plain_table({"attacked": "whole", until: "right", "hack at the end": "right"})
    for name, points in found["curves"].items():
        steps = found["steps"][name]
        told = f"not within {points[-1]['step']}" if steps is None else str(steps)
        table.add_row(name, told, f"{points[-1]['hack']:.3f}")
    yield table
    yield Text(
        "The deployed model relearns the hack sooner than the base learns it."
        if found["sooner"]
        else "The deployed model does not relearn the hack sooner than the base learns it."
    )


def base_lines(parameters: int, found: Evaluation) -> Iterator[RenderableType]:
    """The measurements of a base model."""
    if not found.labelled:
        reward = found.record()["reward"]
        yield Text(f"{parameters:,} parameters; of {found.count} prompts: reward {reward:.3f}")
        return
    yield Text(
        f"{parameters:,} parameters; of {found.count} prompts: solve {found.solve:.3f}, "
        f"hack {found.hack:.3f}, parses {found.parses:.3f}"
    )
    table = plain_table({"mode": "", "prompts": "right", "solve": "right", "hack": "right"})
    for mode, tally in found.by_mode.items():
        table.add_row(mode, str(tally.count), f"{tally.solve:.3f}", f"{tally.hack:.3f}")
    yield table


def arm_fields(arm: Arm) -> dict[str, Any]:
    """An arm as plain data."""
    return {"overrides": dict(arm.overrides), "needs": list(arm.needs), "purpose": arm.purpose}


def arm_table(arms: Sequence[Arm]) -> Table:
    """One row for each arm."""
    table = plain_table({"arm": "whole", "settings": "fold", "replays": "fold", "purpose": "fold"})
    for arm in arms:
        settings = "\n".join(f"{name}={value}" for name, value in arm.overrides.items())
        table.add_row(*map(Text, (arm.name, settings, ", ".join(arm.needs), arm.purpose)))
    return table


def plan_table(plans: Mapping[str, Path]) -> Table:
    """One row for each plan: its name and the first lines of its file."""
    table = plain_table({"plan": "whole", "about": "fold"})
    for name, path in plans.items():
        lines = path.read_text("utf-8").splitlines()
        about = [line.removeprefix("# ") for line in lines if line.startswith("#")]
        table.add_row(name, Text(" ".join(about).partition(". ")[0]))
    return table


def _remark(console: Console, record: StepRecord) -> None:
    """Monitor evaluations and alarms, which stay on the screen."""
    if record.monitor is not None:
        told = [
            f"{state.replace('_', ' ')} {_monitored(found)}"
            for state, found in record.monitor.items()
        ]
        console.print(Text(f"{record.step:>5}  {'   '.join(told)}"), soft_wrap=True)
    for name in record.alarms:
        console.print(Text(f"{record.step:>5}  alarm: {name}", style="red"), soft_wrap=True)


def _by_knob(on: float | None, off: float | None) -> str:
    """Both knob states, where a step has both."""
    return "" if on is None or off is None else f" (on {on:.2f} off {off:.2f})"


def _monitored(found: Mapping[str, Any]) -> str:
    """The rates of one knob state; the mean reward where no oracle tells more."""
    if "hack" not in found:
        return f"reward {found['reward']:.3f}"
    return (
        f"hack {found['hack']['rate']:.3f} (held out {found['hack_held_out']['rate']:.3f}) "
        f"solve {found['solve']['rate']:.3f}"
    )


def _figure(value: Mapping[str, float] | float) -> str:
    """A rate, or a mean."""
    return f"{value['rate'] if isinstance(value, Mapping) else value:.3f}"


def _rate(found: Mapping[str, float]) -> str:
    return f"{found['rate']:.3f} [{found['low']:.3f} … {found['high']:.3f}]"
