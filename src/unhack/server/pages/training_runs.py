"""Training runs: the operator's run folders; one with hack and solve by knob state and by mode.

Covered: a run under way (whole lines alone are read), runs without evaluations or without rollouts
with the quarantine off. Without a script the page is the same, and a reload brings news.
Not covered: several runs in one chart; `unhack train report` writes that page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from unhack.core.errors import UsageError
from unhack.reporting.chart import Axis, Chart, round_numbers
from unhack.reporting.outcome import badge
from unhack.reporting.page import card, figure, legend, section, table, top
from unhack.reporting.text import number, safe
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.run_folders import OPERATOR, changed_at, found_run, found_runs, may_see
from unhack.server.pages.view import ROWS, View, empty, lasting, moment, page_route
from unhack.training.evaluation.counts import Evaluation
from unhack.training.routing.leak import LIMIT
from unhack.training.run.folder import ALARMS, METRICS, MONITOR, RUN, read_json, read_lines

_HERE = f"{ROOM}/runs"
KIND = "training"
_LAST = 12
"""Steps of the table."""
_POINTS = 80
"""Most points of a line; of a longer run, each is the mean of so many steps."""
_TRAINING = "Hack and solve in training"
_QUIET_S = 900.0
"""Seconds without a word after which the page asks whether a run still goes on."""
_TONES = {"finished": "good", "stopped": "bad"}
_STATES = {"deployed": "deployed", "as_trained": "as trained"}
_SHARES = {"hack": "tone-bad", "solve": "tone-good"}
_FIRST = (
    "<p><b>No training runs yet.</b> Run <code>unhack train run CONFIG.toml --out DIR/NAME"
    "</code> and start the server with <code>--runs DIR</code>.</p>"
)
_OTHERS = (
    f"<p>Run folders belong to the operator of this server: keys of the tenant <code>{OPERATOR}"
    "</code> see them. Ask the operator for the page as a file.</p>"
)


def all_runs(view: View) -> PageContent:
    """The list."""
    return PageContent(
        "Training runs",
        ("<h1>Training runs</h1>", section("Last changed first", latest(view, most=ROWS))),
        _HERE,
    )


def latest(view: View, *, most: int) -> str:
    """A table of the runs, the last changed first; where there are none, what to do."""
    if not may_see(view):
        return empty(_OTHERS)
    runs = found_runs(view, KIND)
    if not runs:
        return empty(_FIRST)
    rows = [
        (
            view.link("runs", *run.name.split("/"), text=f"<code>{safe(run.name)}</code>"),
            _status(run.path),
            moment(run.changed_at),
        )
        for run in runs[:most]
    ]
    left = len(runs) - len(rows)
    note = f"{left:,} older ones are left out." if left else ""
    return card(table(("run", "status", "changed (UTC)"), rows, words=(0, 1, 2)), note=note)


def _status(folder: Path) -> str:
    status = str(read_json(folder / RUN).get("status", "running"))
    return badge(status, _TONES.get(status, "unsure"))


def one_run(view: View) -> PageContent:
    """One run; it goes on while the run does."""
    run = found_run(view, KIND)
    over = has_ended(run.path)
    html = run_parts(run.path, run.name)
    if view.kept or over:
        return PageContent(f"Run {run.name}", (html,), _HERE)
    events = safe(f"{ROOM}/run-events/{quote(run.name)}")
    parts = (
        '<p class="soft small" role="status" data-said>Reload this page for news.</p>',
        f'<div data-events="{events}">{html}</div>',
    )
    return PageContent(f"Run {run.name}", parts, _HERE, live=True)


def has_ended(folder: Path) -> bool:
    """True for a run that finished or was stopped."""
    return read_json(folder / RUN).get("status") in ("finished", "stopped")


def run_parts(folder: Path, name: str) -> str:
    """The parts of a run's page as they are now. Raises UsageError where a log is damaged."""
    try:
        steps = read_lines(folder / METRICS)
        found = [
            (int(line["step"]), str(line["state"]), Evaluation.read(line))
            for line in read_lines(folder / MONITOR)
        ]
        parts = (
            _head(folder, name, steps),
            _rollouts(steps),
            _leak(steps),
            _evaluations(found),
            _modes(found),
            _by_mode(found),
            _last_steps(steps),
            _alarms(folder),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{name}: a log of this run is damaged: {type(error).__name__}") from None
    return "\n".join(part for part in parts if part)


def _head(folder: Path, name: str, steps: Sequence[dict[str, Any]]) -> str:
    about = read_json(folder / RUN)
    status = str(about.get("status", "running"))
    last = steps[-1] if steps else {}
    figures = {"updates": str(len(steps))}
    for field, told in (("reward", "reward"), ("hacked", "hacked"), ("solved", "solved")):
        if last.get(field) is not None:
            figures[told] = f"{last[field]:.3f}" if field == "reward" else f"{last[field]:.0%}"
    if "leak" in last:
        figures["leak score"] = f"{last['leak']:.0%}"
    if steps:
        figures["time"] = lasting(sum(step.get("seconds", 0.0) for step in steps))
    why = safe(str(about.get("reason") or "")) or "Figures are of the last step's rollouts."
    if status not in _TONES and time.time() - changed_at(folder) > _QUIET_S:
        why += f" Nothing was written since {moment(changed_at(folder))} UTC: it may be over."
    word, tone = status.capitalize(), _TONES.get(status, "unsure")
    head = f"Training run <code>{safe(name)}</code>"
    return top(head, why=why, figures=figures, word=word, tone=tone)


def _rollouts(steps: Sequence[dict[str, Any]]) -> str:
    if len(steps) < 2:
        return section(_TRAINING, empty("<p>Charts begin with the second update.</p>"))
    size = -(-len(steps) // _POINTS)
    lines: list[tuple[str, str, list[tuple[float, float]]]] = []
    for share, tone in (("hacked", "tone-bad"), ("solved", "tone-good")):
        for knob, style in (("on", ""), ("off", " dashed")):
            points = _means(steps, f"{share}_{knob}", size)
            if points:
                lines.append((f"{share}, quarantine {knob}", f"{tone}{style}", points))
    charts = _wide(lambda width: _lines(lines, "share of rollouts", width, steps[-1]["step"]))
    note = "Rollouts that training sampled, judged by the oracle; training never reads it."
    note += f" A point is the mean of {size} steps." if size > 1 else ""
    names = {name: kind for name, kind, _ in lines}
    return figure(_TRAINING, [charts], note=note, legend=legend(names, lines=True))


def _leak(steps: Sequence[dict[str, Any]]) -> str:
    """The leak alarm's score over updates, with the limit; nothing where it was not measured."""
    points = [(float(step["step"]), float(step["leak"])) for step in steps if "leak" in step]
    if not points:
        return ""
    limit = [(0.0, LIMIT), (points[-1][0], LIMIT)]
    score, line = "leak score", "limit"
    lines = [(score, "tone-bad", points), (line, "tone-unsure dashed", limit)]
    charts = _wide(lambda width: _lines(lines, "share of reward", width, points[-1][0]))
    note = (
        "Share of the reward earned with the quarantine off by completions that the quarantine "
        f"would have written too; no labels are read. Above {LIMIT:.0%} the policy is said to leak."
    )
    names = {name: kind for name, kind, _ in lines}
    return figure("Leak alarm", [charts], note=note, legend=legend(names, lines=True))


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
    charts = _wide(lambda width: _lines(lines, "share of held-out prompts", width, found[-1][0]))
    note = "Deployed is without the quarantine, as trained with it. One completion for each prompt."
    names = {name: kind for name, kind, _ in lines}
    return figure("Evaluations", [charts], note=note, legend=legend(names, lines=True))


def _modes(found: Sequence[tuple[int, str, Evaluation]]) -> str:
    """A small chart for each mode: its hack rate over updates in both knob states."""
    modes = sorted({mode for _, _, one in found for mode in one.by_mode})
    if len({step for step, _, _ in found}) < 2:
        return ""
    charts: list[str] = []
    for mode in modes:
        lines = [
            (share, f"{tone}{'' if state == 'deployed' else ' dashed'}", [
                (float(step), float(getattr(one.by_mode[mode], share)))
                for step, each, one in found
                if each == state and mode in one.by_mode
            ])
            for share, tone in _SHARES.items()
            for state in _STATES
        ]  # fmt: skip
        chart = _lines(lines, "", 330.0, found[-1][0], high=190.0)
        charts.append(f"<div><h3>{safe(mode)}</h3>{chart.svg()}</div>")
    note = '<p class="soft small note">Red is hack, green is solve; dashed is as trained.</p>'
    return section(
        "By mode over updates",
        f'<div class="card"><div class="charts">{"".join(charts)}</div>{note}</div>',
    )


def _by_mode(found: Sequence[tuple[int, str, Evaluation]]) -> str:
    if not found:
        return ""
    last = found[-1][0]
    states = {state: one for step, state, one in found if step == last}
    any_one = next(iter(states.values()))
    rows = [
        (
            f"<code>{safe(mode)}</code>",
            "known" if mode in any_one.known else "held out",
            str(tally.count),
            *(
                f"{getattr(states[state].by_mode[mode], share):.0%}" if state in states else "-"
                for share in _SHARES
                for state in _STATES
            ),
        )
        for mode, tally in any_one.by_mode.items()
    ]
    heads = ("mode", "to the gate", "prompts")
    heads += tuple(f"{share} {told}" for share in _SHARES for told in _STATES.values())
    return section(f"By mode after {last} updates", card(table(heads, rows, words=(0, 1))))


def _last_steps(steps: Sequence[dict[str, Any]]) -> str:
    if not steps:
        return ""
    fields = ("reward", "hacked", "solved", "entropy", "kl", "routed_mass", "seconds")
    rows = [
        (
            str(step["step"]),
            *("-" if step.get(name) is None else number(float(step[name])) for name in fields),
            safe(", ".join(step.get("alarms", ()))) or "-",
        )
        for step in reversed(steps[-_LAST:])
    ]
    heads = ("step", "reward", "hacked", "solved", "entropy", "KL", "routed", "seconds", "alarms")
    return section("Last steps", card(table(heads, rows, words=(8,))))


def _alarms(folder: Path) -> str:
    lines = read_lines(folder / ALARMS)
    rows = [
        (
            str(line.get("step", "-")),
            safe(str(line.get("name", ""))),
            safe(str(line.get("text", ""))),
        )
        for line in lines[-_LAST:]
    ]
    return section("Alarms", card(table(("step", "alarm", ""), rows, words=(1, 2)))) if rows else ""


def _wide(draw: Callable[[float], Chart]) -> str:
    return (
        f'<div class="wide-only">{draw(860.0).svg()}</div>'
        f'<div class="narrow-only">{draw(330.0).svg()}</div>'
    )


def _lines(
    lines: Sequence[tuple[str, str, list[tuple[float, float]]]],
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


ROUTES = (
    page_route("/runs", all_runs, "The operator's training runs.", name="runs"),
    page_route("/runs/{run:path}", one_run, "One training run.", name="run"),
)
