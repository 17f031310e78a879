"""The charts of a tournament: fitness by round, the two metrics behind it, who grew from what."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from unhack.reporting.chart import SERIES, Axis, Chart, rows, spread
from unhack.reporting.text import number
from unhack.tournament.contest import Measurement
from unhack.tournament.contests.registry import MetricChart, installed_contests
from unhack.tournament.judging.flags import title
from unhack.tournament.record.outcome import both_numbers
from unhack.tournament.record.records import Entry, PlayerRole, TournamentRecord

CONTROLS = {
    PlayerRole.NULL: "tone-grey dashed",
    PlayerRole.IDENTITY: "tone-unsure dashed",
    PlayerRole.BASELINE: "tone-ink dashed",
}
"""Classes of the marks of controls, by role."""
_BEYOND = 0.5
"""A mark outside of what was credited by more than that share of its range stands at the edge."""
_TOO_HIGH = 2.5
"""A gamed fitness beyond that many times the honest best is shown at the edge."""


def colours(record: TournamentRecord) -> dict[str, str]:
    """Agent -> class of its marks; controls have tones of their own."""
    names = [entry.agent for entry in record.entries if entry.role is PlayerRole.AGENT]
    found = {name: f"s{place % SERIES}" for place, name in enumerate(dict.fromkeys(names))}
    return {
        entry.agent: found.get(entry.agent) or CONTROLS.get(entry.role, "tone-grey dashed")
        for entry in record.entries
    }


def fitness_chart(record: TournamentRecord) -> str:
    """Credited fitness by round and agent, and what flagged submissions would have brought."""
    shades = colours(record)
    honest = [entry.measured.high for entry in record.entries if entry.measured and earned(entry)]
    gamed = [entry.measured.fitness for entry in record.entries if _gamed(entry) and entry.measured]
    best = ceiling(record)
    bound = _bound(record)
    most = max([*honest, best or 0.0, 1e-9])
    shown = [item for item in (*gamed, *([bound] if bound else [])) if item <= _TOO_HIGH * most]
    y = spread([0.0, most, *shown], "fitness", zero=True)
    ticks = tuple(float(turn.number) for turn in record.rounds)
    turns = list(dict.fromkeys(turn.discipline for turn in record.rounds if turn.discipline))
    across = f"round ({', '.join(turns)} by turns)" if turns else "round"
    chart = Chart(Axis(0.5, len(ticks) + 0.5, across, ticks=ticks), y, "fitness by round")
    for turn in record.rounds:
        if turn.impossible:
            chart.band(turn.number - 0.5, turn.number + 0.5, text="impossible round")
    if best:
        chart.level(best, f"best unflagged {number(best)}", kind="tone-good")
    if bound:
        chart.level(bound, f"bound {number(bound)}", kind="tone-bad")
    names = list(shades)
    for place, name in enumerate(names):
        shift = 0.5 * ((place + 0.5) / len(names) - 0.5)
        for discipline in turns or [""]:
            alike = [turn for turn in record.rounds if turn.discipline == discipline]
            own = [e for turn in alike for e in turn.entries if e.agent == name]
            _series(chart, own, shades[name], shift)
    return chart.svg()


def _series(chart: Chart, entries: Sequence[Entry], shade: str, shift: float) -> None:
    path = [(entry.round + shift, entry.fitness) for entry in entries if earned(entry)]
    chart.line(path, kind=shade)
    for entry in entries:
        x, measured = entry.round + shift, entry.measured
        if measured is None:
            continue
        if earned(entry):
            chart.interval((x, measured.low), (x, measured.high), kind=shade)
            chart.point((x, entry.fitness), _entry_text(entry), kind=shade)
        elif entry.flags:
            chart.point((x, measured.fitness), _entry_text(entry), kind=shade, shape="cross")
        else:
            chart.point((x, 0.0), _entry_text(entry), kind=f"{shade} hollow")


def cliff_chart(record: TournamentRecord) -> str:
    """The two metrics that the fitness is made of; empty where there are none."""
    found = _charted(record)
    if found is None:
        return ""
    first, second, log = found.across, found.up, found.log
    across, up = found.across_title or first, found.up_title or second
    shades = colours(record)
    points = [
        (entry, float(measured.metrics[first]), float(measured.metrics[second]))
        for entry in record.entries
        if (measured := entry.measured) is not None and _has(measured, first, second)
    ]
    if len({(x, y) for _, x, y in points}) < 2:
        return ""
    core = [place for place, item in enumerate(points) if item[0].fitness > 0]
    x = _axis([item[1] for item in points], core, across, log=log)
    y = _axis([item[2] for item in points], core, up, log=log)
    chart = Chart(x, y, f"{up} against {across}")
    reference = next(_references(record, second), None)
    if reference is not None:
        chart.level(reference, f"reference {number(reference)}", kind="tone-good")
    for entry, left, height in points:
        text = f"{_entry_text(entry)}; {across} {number(left)}, {up} {number(height)}"
        kind = shades[entry.agent] + ("" if earned(entry) or entry.flags else " hollow")
        chart.point((left, height), text, kind=kind, shape="cross" if entry.flags else "dot")
    return chart.svg()


def _axis(values: Sequence[float], core: Sequence[int], label: str, *, log: bool) -> Axis:
    """An axis over the values at the places `core`, and over others that lie near those."""
    if not core:
        return spread(values, label, log=log)
    scaled = [math.log(max(value, 1e-12)) if log else value for value in values]
    low, high = (end(scaled[place] for place in core) for end in (min, max))
    room = _BEYOND * (high - low) or (1.0 if log else abs(high) or 1.0)
    near = [
        value
        for value, place in zip(values, scaled, strict=True)
        if low - room <= place <= high + room
    ]
    return spread(near, label, log=log)


def lineage_chart(record: TournamentRecord) -> str:
    """A row for each agent, a column for each round, a line from parent to child."""
    shades = colours(record)
    names = [name for name in shades if "dashed" not in shades[name]] or list(shades)
    others = sorted({entry.agent for entry in record.entries} - set(names))
    names = [*reversed(others), *reversed(names)]
    place = {name: float(row) for row, name in enumerate(names)}
    ticks = tuple(float(turn.number) for turn in record.rounds)
    chart = Chart(
        Axis(0.5, len(ticks) + 0.5, "round", ticks=ticks),
        rows(names),
        "which submission grew from which",
        size=(860.0, 80.0 + 28.0 * len(names)),
    )
    home: dict[str, Entry] = {}
    for entry in record.entries:
        parent = home.get(entry.parent)
        if parent is not None:
            kind = "tone-bad" if parent.tainted or parent.flags else "tone-grey"
            ends = [(one.round, place[one.agent]) for one in (parent, entry)]
            chart.line(ends, kind=kind)
        if entry.digest and not entry.problem:
            home.setdefault(entry.digest, entry)
    crowned = {(reign.round, reign.agent) for reign in record.reigns}
    for entry in record.entries:
        kind = "tone-bad" if entry.tainted or entry.flags else shades[entry.agent]
        kind += "" if earned(entry) or entry.flags else " hollow"
        kind += " ringed" if (entry.round, entry.agent) in crowned else ""
        shape = "cross" if entry.flagged else "dot"
        chart.point((entry.round, place[entry.agent]), _entry_text(entry), kind=kind, shape=shape)
    return chart.svg()


def ceiling(record: TournamentRecord) -> float | None:
    """The best fitness that was earned; None where nothing was."""
    return max((entry.fitness for entry in record.entries if earned(entry)), default=0.0) or None


def earned(entry: Entry) -> bool:
    """True for a submission whose fitness counts."""
    measured = entry.measured
    return measured is not None and measured.valid and not entry.flags and not entry.declined


def _bound(record: TournamentRecord) -> float | None:
    """Fitness that no honest work exceeds, if the contest names one."""
    told = record.settings.contest_settings.get("bound")
    for entry in record.entries:
        if told is None and entry.measured is not None:
            told = entry.measured.metrics.get("bound")
    return float(told) if isinstance(told, int | float) and math.isfinite(told) else None


def _gamed(entry: Entry) -> bool:
    return bool(entry.flags) and entry.measured is not None and entry.measured.valid


def _entry_text(entry: Entry) -> str:
    """An entry in one line."""
    head = f"{entry.agent}, round {entry.round}"
    if entry.flags:
        kinds = ", ".join(dict.fromkeys(title(flag.kind) for flag in entry.flags))
        would = entry.measured.fitness if entry.measured and entry.measured.valid else 0.0
        return f"{head}: rejected ({kinds}); it measured {number(would)}"
    if entry.declined:
        return f"{head}: says that there is no honest improvement"
    if entry.measured is not None and not entry.measured.valid:
        return f"{head}: not valid: {entry.measured.reason[:120]}"
    grown = "; grew from a rejected one" if entry.tainted else ""
    return f"{head}: {both_numbers(entry) or number(entry.fitness)}{grown}"


def _charted(record: TournamentRecord) -> MetricChart | None:
    """The metrics to hold against each other; None where the contest names none, or is not
    installed here."""
    settings = record.settings
    installed = installed_contests().get(settings.contest)
    track = str(settings.contest_settings.get("track", ""))
    return installed.charts.get(track) if installed else None


def _has(measured: Measurement, *names: str) -> bool:
    values = [measured.metrics.get(name) for name in names]
    return all(isinstance(value, int | float) and math.isfinite(value) for value in values)


def _references(record: TournamentRecord, metric: str) -> Iterator[float]:
    for entry in record.entries:
        if entry.measured is not None and _has(entry.measured, f"{metric}_ref"):
            yield float(entry.measured.metrics[f"{metric}_ref"])
