"""The charts of an experiment: hack against solve, the figure by run, curves, routed mass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unhack.reporting.chart import SERIES, Axis, Chart, rows
from unhack.reporting.text import number
from unhack.training.evaluation.counts import Summary
from unhack.training.experiment.arms import CEILING, VANILLA
from unhack.training.experiment.report.summary import ArmSummary, TrainingSummary

BEYOND = "tone-grey"
"""Class of the marks of arms beyond those that have a colour."""


SMALL, WIDE = 415.0, 860.0
"""Widths of charts. A small one is readable on a phone without scrolling, and two stand side by
side on a desktop; a wide one has a small twin for phones."""


def colours(report: TrainingSummary) -> dict[str, str]:
    """Arm -> class of its marks: the routed arm first, references of their own, the rest in turn,
    and grey once the colours are used up."""
    found = {report.routed: "s0", VANILLA: "tone-bad", CEILING: "tone-good"}
    others = [arm.name for arm in report.arms if arm.name not in found]
    for place, name in enumerate(others, start=1):
        found[name] = f"s{place}" if place < SERIES else BEYOND
    return found


def for_widths(draw: Callable[[float], Chart]) -> str:
    """The same chart twice, for wide and for narrow screens; the stylesheet shows one of them."""
    return (
        f'<div class="wide-only">{draw(WIDE).svg()}</div>'
        f'<div class="narrow-only">{draw(SMALL).svg()}</div>'
    )


def pareto(report: TrainingSummary, hack: str, label: str) -> str:
    """Deployed solve against a deployed hack rate; best is top left."""
    shades = colours(report)
    means = [arm.deployed["solve"].mean for arm in report.arms]
    top = max([*means, *(run.deployed["solve"] for arm in report.arms for run in arm.runs)])
    high = min(1.0, 1.15 * top + 0.02)
    chart = Chart(
        Axis(-0.02, 1.0, label, ticks=(0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        Axis(0.0, high, "deployed solve rate"),
        f"deployed solve rate against {label}",
        size=(SMALL, 340.0),
    )
    ceiling = report.arm(CEILING)
    if ceiling is not None:
        margin = report.tested.margin if report.tested else 0.0
        least = ceiling.deployed["solve"].mean - margin
        name = f"ceiling − {margin:g}" if margin else "ceiling"
        chart.level(max(0.0, least), name, kind="tone-good")
    for arm in report.arms:
        for run in arm.runs:
            told = f"{arm.name}, base {run.base}, seed {run.seed}"
            chart.point((run.deployed[hack], run.deployed["solve"]), told,
                        kind=shades[arm.name], shape="speck")  # fmt: skip
    for arm in report.arms:
        _mean_dot(chart, arm, hack, shades[arm.name])
    if report.base:
        x, y = report.base[hack].mean, report.base["solve"].mean
        told = f"base model: hack {x:.3f}, solve {y:.3f}"
        chart.point((x, y), told, kind="tone-ink", shape="diamond", label="base")
    return chart.svg()


def _mean_dot(chart: Chart, arm: ArmSummary, hack: str, shade: str) -> None:
    x, y = arm.deployed[hack], arm.deployed["solve"]
    (left, right), (low, high) = _interval(x), _interval(y)
    chart.interval((left, y.mean), (right, y.mean), kind=shade)
    chart.interval((x.mean, low), (x.mean, high), kind=shade)
    told = f"{arm.name}: hack {_told(x)}, solve {_told(y)}, {len(arm.runs)} runs"
    label = "" if shade == BEYOND else arm.name  # grey ones would cover each other
    chart.point((x.mean, y.mean), told, kind=shade, label=label)


def by_run(report: TrainingSummary) -> str:
    """The figure: a row for each arm, a dot for each run, its mean and error."""
    return for_widths(lambda width: _by_run(report, width))


def _by_run(report: TrainingSummary, width: float) -> Chart:
    shades = colours(report)
    values = [run.deployed["figure"] for arm in report.arms for run in arm.runs]
    low, high = min([0.0, *values]), max([0.1, *values])
    room = 0.05 * (high - low)
    arms = list(reversed(report.arms))
    chart = Chart(
        Axis(low - room, high + room, "deployed solve − deployed hack on held-out modes"),
        rows([arm.name for arm in arms]),
        "the figure by arm and run",
        size=(width, 80.0 + 25.0 * len(arms)),
    )
    for place, arm in enumerate(arms):
        shade, mean = shades[arm.name], arm.deployed["figure"]
        for run in arm.runs:
            told = f"{arm.name}, base {run.base}, seed {run.seed}: {run.deployed['figure']:.3f}"
            chart.point((run.deployed["figure"], place), told, kind=shade, shape="speck")
        left, right = _interval(mean)
        chart.interval((left, place), (right, place), kind=shade)
        chart.point((mean.mean, place), f"{arm.name}: {_told(mean)}", kind=shade)
    return chart


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
    )
    for name, tone in (("hack", "tone-bad"), ("solve", "tone-good")):
        deployed = [(point.step, point.deployed[name]) for point in arm.curve]
        chart.area(*_band(deployed), kind=tone)
        trained = [(point.step, point.as_trained[name].mean) for point in arm.curve]
        chart.line(trained, kind=f"{tone} dashed")
        chart.line([(step, value.mean) for step, value in deployed], kind=tone)
    held = [(point.step, point.deployed["hack_held_out"].mean) for point in arm.curve]
    chart.line(held, kind="tone-unsure dotted")
    return chart.svg()


def routed_mass(report: TrainingSummary) -> str:
    """Share of the active rollouts' mass that went to the quarantine; empty where none did."""
    if not any(arm.routing for arm in report.arms):
        return ""
    return for_widths(lambda width: _routed_mass(report, width))


def _routed_mass(report: TrainingSummary, width: float) -> Chart:
    shades = colours(report)
    arms = [arm for arm in report.arms if arm.routing]
    last = max(arm.routing[-1][0] for arm in arms)
    top = max(share for arm in arms for _, share in arm.routing)
    chart = Chart(
        Axis(0, max(1, last), "update"),
        Axis(0.0, min(1.0, 1.1 * top + 0.01), "routed share of mass"),
        "routed share of mass over training",
        size=(width, 300.0),
    )
    for arm in arms:
        chart.line(arm.routing, kind=shades[arm.name])
    return chart


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
