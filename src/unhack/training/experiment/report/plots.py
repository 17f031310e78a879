"""The charts of an experiment: hack against solve, the figure by run, curves, routed mass."""

from __future__ import annotations

from collections.abc import Sequence

from unhack.reporting.chart import Axis, Chart, number
from unhack.training.evaluation.statistics import Summary
from unhack.training.experiment.claims import CEILING, VANILLA
from unhack.training.experiment.report.summary import ArmSummary, Report

_COLOURS = 8


def colours(report: Report) -> dict[str, str]:
    """Arm -> class of its marks: the routed arm first, references of their own, the rest in turn,
    and grey once the colours are used up."""
    found = {report.rules.arm: "routed", VANILLA: "vanilla", CEILING: "ceiling"}
    others = [arm.name for arm in report.arms if arm.name not in found]
    for place, name in enumerate(others):
        found[name] = f"s{place}" if place < _COLOURS else "other"
    return found


def pareto(report: Report, hack: str, label: str) -> str:
    """Deployed solve against a deployed hack rate; best is top left."""
    shades = colours(report)
    means = [arm.deployed["solve"].mean for arm in report.arms]
    top = max([*means, *(run.deployed["solve"] for arm in report.arms for run in arm.runs)])
    high = min(1.0, 1.15 * top + 0.02)
    chart = Chart(
        Axis(-0.02, 1.0, label, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        Axis(0.0, high, "deployed solve rate"),
        f"deployed solve rate against {label}",
        size=(640.0, 430.0),
    )
    ceiling = report.arm(CEILING)
    if ceiling is not None:
        least = ceiling.deployed["solve"].mean - report.rules.margin
        chart.level(max(0.0, least), f"ceiling − {report.rules.margin:g}", kind="bound")
    for arm in report.arms:
        for run in arm.runs:
            told = f"{arm.name}, base {run.base}, seed {run.seed}"
            chart.dot(run.deployed[hack], run.deployed["solve"], told,
                      kind=f"faint {shades[arm.name]}")  # fmt: skip
    for arm in report.arms:
        _mean_dot(chart, arm, hack, shades[arm.name])
    if report.base:
        x, y = report.base[hack].mean, report.base["solve"].mean
        told = f"base model: hack {x:.3f}, solve {y:.3f}"
        chart.dot(x, y, told, kind="mark base", label="base")
    return chart.svg()


def _mean_dot(chart: Chart, arm: ArmSummary, hack: str, shade: str) -> None:
    x, y = arm.deployed[hack], arm.deployed["solve"]
    chart.whisker(_interval(x), (y.mean, y.mean), kind=shade)
    chart.whisker((x.mean, x.mean), _interval(y), kind=shade)
    told = f"{arm.name}: hack {_told(x)}, solve {_told(y)}, {len(arm.runs)} runs"
    label = "" if shade == "other" else arm.name  # grey ones would cover each other
    chart.dot(x.mean, y.mean, told, kind=shade, label=label)


def by_run(report: Report) -> str:
    """The pre-registered figure: a row for each arm, a dot for each run, its mean and error."""
    shades = colours(report)
    values = [run.deployed["figure"] for arm in report.arms for run in arm.runs]
    low, high = min([0.0, *values]), max([0.1, *values])
    room = 0.05 * (high - low)
    rows = len(report.arms)
    chart = Chart(
        Axis(low - room, high + room, "deployed solve − deployed hack on held-out modes"),
        Axis(-0.5, rows - 0.5),
        "the pre-registered figure by arm and run",
        size=(860.0, 76.0 + 25.0 * rows),
        left=128.0,
        grid=False,
    )
    for place, arm in enumerate(reversed(report.arms)):
        shade, mean = shades[arm.name], arm.deployed["figure"]
        _, up = chart.at(0, place)
        chart.text(118, up + 4, arm.name, kind="end")
        for run in arm.runs:
            told = f"{arm.name}, base {run.base}, seed {run.seed}: {run.deployed['figure']:.3f}"
            chart.dot(run.deployed["figure"], place, told, kind=f"faint {shade}")
        chart.whisker(_interval(mean), (place, place), kind=f"wide {shade}")
        chart.dot(mean.mean, place, f"{arm.name}: {_told(mean)}", kind=shade)
    return chart.svg()


def curves(arm: ArmSummary) -> str:
    """Hack and solve over training, deployed and as trained; empty without a curve."""
    if len(arm.curve) < 2:
        return ""
    last = arm.curve[-1].step
    chart = Chart(
        Axis(0, last, ticks=_steps(last)),
        Axis(0.0, 1.0, ticks=(0, 0.5, 1.0)),
        f"{arm.name}: hack and solve rate over training",
        size=(330.0, 190.0),
        left=34.0,
    )
    for name in ("hack", "solve"):
        deployed = [(point.step, point.deployed[name]) for point in arm.curve]
        chart.area(*_band(deployed), kind=name)
        trained = [(point.step, point.as_trained[name].mean) for point in arm.curve]
        chart.line(trained, kind=f"{name} trained")
        chart.line([(step, value.mean) for step, value in deployed], kind=name)
    held = [(point.step, point.deployed["hack_held_out"].mean) for point in arm.curve]
    chart.line(held, kind="heldout")
    return chart.svg()


def routed_mass(report: Report) -> str:
    """Share of the active rollouts' mass that went to the quarantine; empty where none did."""
    shades = colours(report)
    arms = [arm for arm in report.arms if arm.routing]
    if not arms:
        return ""
    last = max(arm.routing[-1][0] for arm in arms)
    top = max(share for arm in arms for _, share in arm.routing)
    chart = Chart(
        Axis(0, max(1, last), "update"),
        Axis(0.0, min(1.0, 1.1 * top + 0.01), "routed share of mass"),
        "routed share of mass over training",
        size=(860.0, 320.0),
    )
    for arm in arms:
        chart.line(arm.routing, kind=shades[arm.name])
    return chart.svg()


def _interval(value: Summary) -> tuple[float, float]:
    sem = value.sem or 0.0
    return value.mean - sem, value.mean + sem


def _band(
    points: Sequence[tuple[int, Summary]],
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    ends = [(step, _interval(value)) for step, value in points]
    return [(step, low) for step, (low, _) in ends], [(step, high) for step, (_, high) in ends]


def _steps(last: int) -> tuple[float, ...]:
    return (0.0, last / 2, float(last)) if last % 2 == 0 else (0.0, float(last))


def _told(value: Summary) -> str:
    return number(round(value.mean, 4)) + ("" if value.sem is None else f" ± {value.sem:.3f}")
