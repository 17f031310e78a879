"""Training runs: the operator's run folders; one with hack and solve by knob state and by mode.

Covered: a run under way (whole lines alone are read), runs without evaluations or without rollouts
with the quarantine off. Without a script the page is the same, and a reload brings news.
Not covered: several runs in one chart; `unhack train report` writes that page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import UndefinedError
from markupsafe import Markup

from unhack.core.errors import UsageError
from unhack.reporting.chart import Axis, Chart, round_numbers
from unhack.reporting.page import figure, legend
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.rendering import lasting, render
from unhack.server.pages.run_folders import OPERATOR, changed_at, found_run, found_runs, may_see
from unhack.server.pages.view import ROWS, View, page, page_router
from unhack.training.evaluation.counts import Evaluation
from unhack.training.routing.leak import LIMIT
from unhack.training.run.folder import ALARMS, METRICS, MONITOR, RUN, read_json, read_lines

router = page_router()
_HERE = f"{ROOM}/runs"
KIND = "training"
_LAST = 12
"""Steps of the table."""
_POINTS = 80
"""Most points of a line; of a longer run, each is the mean of so many steps."""
_QUIET_S = 900.0
"""Seconds without a word after which the page asks whether a run still goes on."""
_TONES = {"finished": "good", "stopped": "bad"}
_STATES = {"deployed": "deployed", "as_trained": "as trained"}
_SHARES = {"hack": "tone-bad", "solve": "tone-good"}
_HEADS = (
    "mode", "to the gate", "prompts",
    *(f"{share} {told}" for share in _SHARES for told in _STATES.values()),
)  # fmt: skip


@page(router, "/runs", name="runs")
def all_runs(view: View) -> PageContent:
    """The list."""
    lists = {"Last changed first": latest(view, most=ROWS)}
    html = render("list.html", heading="Training runs", lists=lists, pages="")
    return PageContent("Training runs", (html,), _HERE)


def latest(view: View, *, most: int) -> Markup:
    """A table of the runs, the last changed first; where there are none, what to do."""
    runs = found_runs(view, KIND)
    shown = [
        {"name": run.name, "status": _status(run.path), "changed_at": run.changed_at}
        for run in runs[:most]
    ]
    return render(
        "run_list.html",
        view=view,
        operator="" if may_see(view) else OPERATOR,
        runs=shown,
        left=len(runs) - len(shown),
        tones=_TONES,
    )


def _status(folder: Path) -> str:
    return str(read_json(folder / RUN).get("status", "running"))


@page(router, "/runs/{run:path}", name="run")
def one_run(view: View) -> PageContent:
    """One run; it goes on while the run does."""
    run = found_run(view, KIND)
    over = has_ended(run.path)
    html = run_parts(run.path, run.name)
    if view.kept or over:
        return PageContent(f"Run {run.name}", (html,), _HERE)
    live = Markup(
        '<p class="soft small" role="status" data-said>Reload this page for news.</p>\n'
        '<div data-events="{}">{}</div>'
    ).format(f"{ROOM}/run-events/{quote(run.name)}", html)
    return PageContent(f"Run {run.name}", (live,), _HERE, live=True)


def has_ended(folder: Path) -> bool:
    """True for a run that finished or was stopped."""
    return read_json(folder / RUN).get("status") in ("finished", "stopped")


def run_parts(folder: Path, name: str) -> Markup:
    """The parts of a run's page as they are now. Raises UsageError where a log is damaged."""
    try:
        steps = read_lines(folder / METRICS)
        found = [
            (int(line["step"]), str(line["state"]), Evaluation.read(line))
            for line in read_lines(folder / MONITOR)
        ]
        return render(
            "run.html",
            name=name,
            **_head(folder, steps),
            charts=[Markup(each) for each in (_rollouts(steps), _leak(steps), _evaluations(found))],
            modes=_modes(found),
            updates=found[-1][0] if found else 0,
            by_mode=_by_mode(found),
            heads=_HEADS,
            steps=steps[: -_LAST - 1 : -1],
            alarms=read_lines(folder / ALARMS)[-_LAST:],
        )
    except (ValueError, KeyError, TypeError, AttributeError, UndefinedError) as error:
        raise UsageError(f"{name}: a log of this run is damaged: {type(error).__name__}") from None


def _head(folder: Path, steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The values of the first card."""
    about, changed = read_json(folder / RUN), changed_at(folder)
    status = _status(folder)
    quiet = status not in _TONES and time.time() - changed > _QUIET_S
    last = steps[-1] if steps else {}
    figures = {"updates": str(len(steps))}
    for field, told in (("reward", "reward"), ("hacked", "hacked"), ("solved", "solved")):
        if last.get(field) is not None:
            figures[told] = f"{last[field]:.3f}" if field == "reward" else f"{last[field]:.0%}"
    if "leak" in last:
        figures["leak score"] = f"{last['leak']:.0%}"
    if steps:
        figures["time"] = lasting(sum(step.get("seconds", 0.0) for step in steps))
    return {
        "reason": str(about.get("reason") or "") or "Figures are of the last step's rollouts.",
        "quiet_since": changed if quiet else None,
        "figures": figures,
        "status": status,
        "tone": _TONES.get(status, "unsure"),
    }


def _rollouts(steps: Sequence[dict[str, Any]]) -> str:
    if len(steps) < 2:
        return ""
    size = -(-len(steps) // _POINTS)
    lines: list[tuple[str, str, list[tuple[float, float]]]] = []
    for share, tone in (("hacked", "tone-bad"), ("solved", "tone-good")):
        for knob, style in (("on", ""), ("off", " dashed")):
            points = _means(steps, f"{share}_{knob}", size)
            if points:
                lines.append((f"{share}, quarantine {knob}", f"{tone}{style}", points))
    note = "Rollouts that training sampled, judged by the oracle; training never reads it."
    note += f" A point is the mean of {size} steps." if size > 1 else ""
    last = steps[-1]["step"]
    return _figure("Hack and solve in training", lines, "share of rollouts", last, note=note)


def _leak(steps: Sequence[dict[str, Any]]) -> str:
    """The leak alarm's score over updates, with the limit; nothing where it was not measured."""
    points = [(float(step["step"]), float(step["leak"])) for step in steps if "leak" in step]
    if not points:
        return ""
    limit = [(0.0, LIMIT), (points[-1][0], LIMIT)]
    score, line = "leak score", "limit"
    lines = [(score, "tone-bad", points), (line, "tone-unsure dashed", limit)]
    note = (
        "Share of the reward earned with the quarantine off by completions that the quarantine "
        f"would have written too; no labels are read. Above {LIMIT:.0%} the policy is said to leak."
    )
    return _figure("Leak alarm", lines, "share of reward", points[-1][0], note=note)


def _means(steps: Sequence[dict[str, Any]], name: str, size: int) -> list[tuple[float, float]]:
    """Means of steps and of a figure, over so many steps at a time."""
    found: list[tuple[float, float]] = []
    for first in range(0, len(steps), size):
        known = [step for step in steps[first : first + size] if step.get(name) is not None]
        if known:
            pairs = ((float(step["step"]), float(step[name])) for step in known)
            where, share = (sum(values) / len(known) for values in zip(*pairs, strict=True))
            found.append((where, share))
    return found


def _evaluations(found: Sequence[tuple[int, str, Evaluation]]) -> str:
    if not found:
        return ""
    lines = [
        (f"{share}, {told}", f"{tone}{'' if state == 'deployed' else ' dashed'}", [
            (float(step), float(getattr(one, share))) for step, each, one in found if each == state
        ])
        for share, tone in _SHARES.items()
        for state, told in _STATES.items()
    ]  # fmt: skip
    lines = [line for line in lines if line[2]]
    note = "Deployed is without the quarantine, as trained with it. One completion for each prompt."
    return _figure("Evaluations", lines, "share of held-out prompts", found[-1][0], note=note)


def _modes(found: Sequence[tuple[int, str, Evaluation]]) -> dict[str, Markup]:
    """A small chart for each mode: its hack rate over updates in both knob states."""
    if len({step for step, _, _ in found}) < 2:
        return {}
    charts: dict[str, Markup] = {}
    for mode in sorted({mode for _, _, one in found for mode in one.by_mode}):
        lines = [
            (share, f"{tone}{'' if state == 'deployed' else ' dashed'}", [
                (float(step), float(getattr(one.by_mode[mode], share)))
                for step, each, one in found
                if each == state and mode in one.by_mode
            ])
            for share, tone in _SHARES.items()
            for state in _STATES
        ]  # fmt: skip
        charts[mode] = Markup(_lines(lines, "", 330.0, found[-1][0], high=190.0).svg())
    return charts


def _by_mode(found: Sequence[tuple[int, str, Evaluation]]) -> list[list[str]]:
    """The rows of the last evaluation's modes."""
    states = {state: one for step, state, one in found if step == found[-1][0]}
    return [
        [
            mode,
            "known" if mode in any_one.known else "held out",
            str(tally.count),
            *(
                f"{getattr(states[state].by_mode[mode], share):.0%}" if state in states else "-"
                for share in _SHARES
                for state in _STATES
            ),
        ]
        for any_one in list(states.values())[:1]
        for mode, tally in any_one.by_mode.items()
    ]


_Line = tuple[str, str, list[tuple[float, float]]]
"""A name, its style, its points."""


def _figure(title: str, lines: Sequence[_Line], label: str, last: float, *, note: str) -> str:
    """Lines over updates up to the last, for wide screens and for narrow ones."""
    wide, narrow = (_lines(lines, label, width, last).svg() for width in (860.0, 330.0))
    charts = f'<div class="wide-only">{wide}</div><div class="narrow-only">{narrow}</div>'
    names = {name: kind for name, kind, _ in lines}
    return figure(title, [charts], note=note, legend=legend(names, lines=True))


def _lines(
    lines: Sequence[_Line],
    label: str,
    width: float,
    last: float,
    *,
    high: float = 280.0,
) -> Chart:
    chart = Chart(
        Axis(0.0, max(1.0, float(last)), "update", ticks=_whole_numbers(max(1.0, float(last)))),
        Axis(0.0, 1.0, label, ticks=(0, 0.5, 1), percent=True),
        label or "hack and solve",
        size=(width, high),
    )
    for name, kind, points in lines:
        chart.line(points, kind=kind)
        label = "" if kind.endswith(" dashed") else re.split("[ ,]", name)[0]
        if points:  # told apart by a word too, not by colour alone
            chart.point(points[-1], name, kind=kind.split()[0], shape="speck", label=label)
    return chart


def _whole_numbers(last: float) -> tuple[float, ...]:
    """Updates to be marked on an axis."""
    return tuple(mark for mark in round_numbers(0.0, last) if mark.is_integer())
