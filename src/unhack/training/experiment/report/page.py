"""An experiment's page: no script, no font, nothing to load.

Covered: light, dark, narrow and print; every text is escaped; the page forbids itself to load
anything. Not covered: more than a few dozen arms.

The parts of an experiment's page, as HTML.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median_low

from unhack.reporting.page import card, document, figure, legend, section, table, top
from unhack.reporting.text import number, safe
from unhack.store.errors import storing
from unhack.store.files import write_whole
from unhack.training.evaluation.counts import Summary
from unhack.training.experiment.report import plots
from unhack.training.experiment.report.plots import colours, curves
from unhack.training.experiment.report.summary import THIRDS, ArmSummary, TrainingSummary

CURVES_NOTE = (
    "On the monitor prompts, means over runs; bands are standard errors. Update 0 is the base."
)
MASS_NOTE = (
    "The sum of the gate's fractions f over active rollouts, divided by their number. A control is "
    "comparable only where its mass is that of the routed arm at every step."
)


def head(report: TrainingSummary) -> str:
    """Title and size of the experiment."""
    runs = [run for arm in report.arms for run in arm.runs]
    held = [mode for mode in report.modes if mode not in (*report.known, "gt_only")]
    figures = {
        "arms": str(len(report.arms)),
        "runs": str(len(runs)),
        "seeds": str(len({run.seed for run in runs})),
        "base models": str(len({run.base for run in runs})),
        "updates": _range([run.step for run in runs]),
    }
    words = (
        f"Known loopholes: {_names(report.known)}. Held out: {_names(held)}. <em>Deployed</em> is "
        "measured after the quarantine is deleted, <em>as trained</em> before."
    )
    return top("Training against loopholes", why=words, figures=figures)


def pareto_note(report: TrainingSummary) -> str:
    """The marks of the charts of hack against solve, only those that are drawn."""
    errors = " with standard errors" if any(len(arm.runs) > 1 for arm in report.arms) else ""
    base = "; the diamond is the base model" if report.base else ""
    return (
        f"Big dots are means over runs{errors}, small dots are runs{base}. Best is top left: a "
        "deployed model that hacks nothing and solves as much as one that never had a loophole. "
        "Bottom left is a damaged model."
    )


def figure_note(report: TrainingSummary) -> str:
    """The meaning of the figure; fixed beforehand only where a plan was found."""
    fixed = ", fixed beforehand" if report.tested and report.tested.fixed else ""
    return (
        f"The figure of an arm{fixed}: deployed solve rate − deployed hack rate on "
        "held-out modes. Small dots are runs (seed and base model)."
    )


def arm_legend(report: TrainingSummary, names: Iterable[str]) -> str:
    """Arms and their colours."""
    shades = colours(report)
    return legend({name: shades[name] for name in names})


def arm_table(report: TrainingSummary) -> str:
    """Means and standard errors of each arm."""
    shades = colours(report)
    rows = [_arm_row(arm, shades[arm.name]) for arm in report.arms]
    if report.base:
        found = report.base
        names = ("hack", "hack_known", "hack_held_out", "solve", "figure")
        cells = [_mean(found[name]) for name in names]
        rows.insert(0, ['<span class="soft">base model</span>', "", *cells, "", "", ""])
    above = (
        '<tr><th></th><th></th><th class="group" colspan="5">deployed</th>'
        '<th class="group" colspan="2">as trained</th><th></th></tr>'
    )
    names = (
        "arm",
        "runs",
        "hack",
        "known",
        "held out",
        "solve",
        "figure",
        "hack",
        "solve",
        "routed",
    )
    note = (
        "Mean ± standard error over runs. <em>Figure</em> is deployed solve − deployed hack on "
        "held-out modes. <em>Routed</em> is the routed share of mass."
    )
    return section("Arms", card(table(names, rows, above=above), note=note))


def _arm_row(arm: ArmSummary, shade: str) -> list[str]:
    deployed, trained = arm.deployed, arm.as_trained
    name = f'<span class="key {shade}" title="{safe(arm.purpose)}"><i></i>{safe(arm.name)}</span>'
    return [
        name,
        str(len(arm.runs)),
        *(
            _mean(deployed[key])
            for key in ("hack", "hack_known", "hack_held_out", "solve", "figure")
        ),
        *(_mean(trained[key]) for key in ("hack", "solve")),
        "–" if arm.mass_share is None else _mean(arm.mass_share),
    ]


def mode_table(report: TrainingSummary) -> str:
    """Hack and solve by mode, both knob states."""
    modes = report.arms[0].modes
    names = ["arm", *(_mode_name(item.mode, known=item.known) for item in modes)]
    parts: list[str] = []
    for title, pick, tone in (("Hack rate", "hack", "bad"), ("Solve rate", "solve", "good")):
        rows = [
            [
                safe(arm.name),
                *(
                    _heat(getattr(mode, pick), getattr(mode, f"{pick}_as_trained"), tone)
                    for mode in arm.modes
                ),
            ]
            for arm in report.arms
        ]
        parts.append(f"<div><h3>{title}</h3>{table(names, rows)}</div>")
    note = "In each cell: deployed, then as trained. Means over runs."
    return section("By mode", card(f'<div class="two">{"".join(parts)}</div>', note=note))


def _heat(deployed: Summary, trained: Summary, tone: str) -> str:
    return "".join(
        f'<span class="heat tone-{tone}" style="--v:{value.mean:.3f}">{value.mean:.2f}</span>'
        for value in (deployed, trained)
    )


def _mode_name(mode: str, *, known: bool) -> str:
    return safe(mode) + ("" if known else '<br><span class="tag">held out</span>')


def curve_grid(report: TrainingSummary) -> str:
    """A small chart of each arm."""
    cells = [
        f'<div><h3>{safe(arm.name)}</h3>{chart}</div>'
        for arm in report.arms
        if (chart := curves(arm))
    ]  # fmt: skip
    if not cells:
        return ""
    kinds = {
        "hack, deployed": "tone-bad",
        "hack, as trained": "tone-bad dashed",
        "held-out hack, deployed": "tone-unsure dotted",
        "solve, deployed": "tone-good",
        "solve, as trained": "tone-good dashed",
    }
    return section(
        "Training curves",
        f'<figure class="card">{legend(kinds, lines=True)}<div class="charts">{"".join(cells)}'
        f'</div><figcaption class="soft small note">{CURVES_NOTE}</figcaption></figure>',
    )


def split_table(report: TrainingSummary) -> str:
    """The gate's fractions by cell: knob state, advantage sign, label."""
    rows: list[list[str]] = []
    for arm in report.arms:
        for cell, thirds in arm.split.items():
            knob, sign, *label = cell.split(".")
            values = ["–" if value is None else f"{value:.3f}" for value in thirds]
            rows.append([safe(arm.name), knob, safe(sign), safe(" ".join(label)) or "all", *values])
    if not rows:
        return ""
    names = ("arm", "quarantine", "advantage", "rollouts", *THIRDS)
    note = (
        "Mean f by the knob state in which a rollout was sampled, the sign of its advantage and "
        "what the oracle calls it. The labels are for this table only; gates do not see them."
    )
    whole = table(names, rows, words=range(4))
    body = f"<details><summary>Mean f in each third of training</summary>{whole}</details>"
    return section("What was routed", card(body, note=note))


def relearn_table(report: TrainingSummary) -> str:
    """Updates until the hack is back in a deployed model."""
    rows: list[list[str]] = []
    for arm in report.arms:
        attacked = [run.relearn for run in arm.runs if run.relearn]
        if not attacked:
            continue
        names = [name for name in ("deployed", "base") if all(name in run for run in attacked)]
        rows.append([safe(arm.name), str(len(attacked)), *(_returns(attacked, n) for n in names)])
    if not rows:
        return ""
    note = (
        f"Updates of plain training with the loophole open until the hack rate reaches "
        f"{report.relearn['threshold']:g}, within {report.relearn['updates']:g} updates."
    )
    names = ("arm", "runs", "deployed model", "base model")
    return section("Relearning attack", card(table(names, rows), note=note))


def _returns(attacked: Sequence[Mapping[str, int | None]], name: str) -> str:
    """The lower median over all runs; one without the hack back counts as later than any."""
    steps = [math.inf if (step := run[name]) is None else step for run in attacked]
    middle, back = median_low(steps), sum(map(math.isfinite, steps))
    told = f"{middle:.0f}" if math.isfinite(middle) else "not back"
    return f"{told} (median; back in {back} of {len(steps)} runs)"


def terms(report: TrainingSummary) -> str:
    """Settings of each arm, and the commands."""
    cards = "".join(_terms(arm) for arm in report.arms)
    return section("Settings and commands", cards)


def _terms(arm: ArmSummary) -> str:
    settings = "".join(
        f"<li><code>{safe(name)} = {safe(value)}</code></li>"
        for name, value in arm.settings.items()
    )
    rows = [
        [
            safe(run.base),
            f"<code>{safe(run.command or run.folder)}</code>",
            str(run.seed),
            str(run.step),
            f"{run.seconds:.0f}",
        ]
        for run in arm.runs
    ]
    names = ("base", "command or folder", "seed", "updates", "seconds")
    return (
        f'<details class="card"><summary><b>{safe(arm.name)}</b> <span class="soft">'
        f'{safe(arm.purpose)}</span></summary><ul class="plain">'
        f"{settings or '<li>defaults</li>'}</ul>"
        f"{table(names, rows, words=range(2))}</details>"
    )


def footer(report: TrainingSummary) -> str:
    """Omissions and versions."""
    skipped = "".join(f"<li>{safe(name)}: {safe(why)}</li>" for name, why in report.skipped.items())
    left = f'<p class="unsure">Not counted:</p><ul class="plain">{skipped}</ul>' if skipped else ""
    versions = ", ".join(f"{name} {safe(value)}" for name, value in report.versions.items())
    return f'<footer class="soft small">{left}<p>Recorded by the runs: {versions}.</p></footer>'


def _mean(value: Summary) -> str:
    error = "" if value.sem is None else f' <span class="soft small">± {value.sem:.3f}</span>'
    return f"{value.mean:.3f}{error}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"<code>{safe(name)}</code>" for name in names) or "none"


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return number(low) if low == high else f"{low}–{high}"


def page(report: TrainingSummary) -> str:
    """The whole page."""
    mass = plots.routed_mass(report)
    routing = [arm.name for arm in report.arms if arm.routing]
    charts = [
        plots.pareto(report, "hack_held_out", "deployed hack rate on held-out modes"),
        plots.pareto(report, "hack", "deployed hack rate on all modes"),
    ]
    tested = report.tested
    parts = [
        head(report),
        tested.claims_html if tested else "",
        figure("Hack against solve", charts, note=pareto_note(report)),
        arm_table(report),
        figure("The figure", [plots.by_run(report)], note=figure_note(report)),
        tested.tests_html if tested else "",
        mode_table(report),
        curve_grid(report),
        figure("Routed mass", [mass], note=MASS_NOTE,
               legend=arm_legend(report, routing)) if mass else "",
        split_table(report),
        relearn_table(report),
        terms(report),
        footer(report),
    ]  # fmt: skip
    return document("Training against loopholes", parts)


def write_report(report: TrainingSummary, path: Path) -> None:
    """Write the page to `path`, whole or not at all. Raises StoreError."""
    with storing(path.absolute().parent):
        write_whole(path.absolute(), page(report).encode(), mode=0o644)
