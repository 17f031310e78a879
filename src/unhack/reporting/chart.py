"""Charts as SVG text. Colours are classes of the stylesheet, so that light and dark both work.

Written by hand: a plotting library would draw its own fonts and colours, weigh more than all of
this package, and know nothing of the page's light and dark.

Covered: linear and logarithmic axes, axes of names, lines, areas, bands, levels, intervals, points,
labels that keep out of each other's way; every text is escaped; a value outside of the frame
stands at its edge with its number. Not covered: anything that moves or is loaded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from unhack.reporting.text import number, safe

SERIES = 9
"""Colours for things in turn: the classes s0 to s8 of the stylesheet."""
_LINE = 14.0
"""Height of a label."""
_LETTER = 7.2
"""Width of a letter of a label in a wide font, about."""
_RIGHT, _TOP = 20.0, 24.0
WIDTHS = (330, 415, 430, 860)
"""Widths of charts for which the stylesheet has bounds: 0.8 to 1.3 times the width, in which
letters stay readable. A style attribute would forbid a page a strict policy."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a chart."""

    low: float
    high: float
    label: str = ""
    ticks: tuple[float, ...] = ()
    """Places of numbers; round ones when empty."""
    log: bool = False
    percent: bool = False
    """Numbers are shares, written as percentages."""
    names: tuple[str, ...] = ()
    """Names in place of numbers, the first at 0, the next at 1."""
    letters: int = 22
    """Letters of a name; the end of a longer one is left out."""

    def share(self, value: float) -> float:
        """Place of a value along it, 0 to 1; never outside."""
        low, high, value = (self._scaled(item) for item in (self.low, self.high, value))
        return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5

    def marks(self) -> list[tuple[float, str]]:
        """Places with their numbers or names."""
        if self.names:
            return [
                (float(place), _short(name, self.letters)) for place, name in enumerate(self.names)
            ]
        places = self.ticks or round_numbers(self.low, self.high, log=self.log)
        return [(place, f"{place:.0%}" if self.percent else number(place)) for place in places]

    def _scaled(self, value: float) -> float:
        return math.log(max(value, 1e-12)) if self.log else value


@dataclass(frozen=True, slots=True)
class _Label:
    at: Point
    """Its point, in units of the picture."""
    begin: float
    up: float
    text: str
    kind: str
    end: bool = False
    """The letters reach to its right end, where they are narrower than assumed."""

    @property
    def wide(self) -> float:
        return _LETTER * len(self.text)


@dataclass(slots=True)
class Chart:
    """A frame that things are put into. `kind` is always classes of the stylesheet."""

    x: Axis
    y: Axis
    name: str
    """Title for those who cannot see it."""
    size: tuple[float, float] = (860.0, 350.0)
    _parts: list[str] = field(default_factory=list[str])
    _labels: list[_Label] = field(default_factory=list[_Label])
    _marks: list[Point] = field(default_factory=list[Point])

    def at(self, point: Point) -> Point:
        """Place of a point of the data in the picture; never outside of the frame."""
        width, _ = self.size
        across = self._left + self.x.share(point[0]) * (width - self._left - _RIGHT)
        return across, self._floor - self.y.share(point[1]) * (self._floor - _TOP)

    def line(self, points: Iterable[Point], *, kind: str) -> None:
        """Points joined in order."""
        self._parts.append(f'<polyline class="line {kind}" points="{self._path(points)}"/>')

    def area(self, low: Sequence[Point], high: Sequence[Point], *, kind: str) -> None:
        """Space between two lines."""
        path = self._path([*low, *reversed(high)])
        self._parts.append(f'<polygon class="area {kind}" points="{path}"/>')

    def band(self, low: float, high: float, *, text: str) -> None:
        """A shaded range of x, with its name above the frame."""
        left, right = (self.at((x, self.y.low))[0] for x in (low, high))
        self._parts.append(
            f'<rect class="band" x="{left:.1f}" y="{_TOP}" width="{right - left:.1f}" '
            f'height="{self._floor - _TOP:.1f}"/>'
            + _text(((left + right) / 2, _TOP - 12), text, kind="tick middle")
        )

    def level(self, y: float, text: str, *, kind: str) -> None:
        """A horizontal line with its name at the right end; nothing where it is out of range."""
        if not self.y.low <= y <= self.y.high:
            return
        (left, up), (right, _) = self.at((self.x.low, y)), self.at((self.x.high, y))
        self._parts.append(_stroke(f"level {kind}", (left, up), (right, up)))
        begin = right - _LETTER * len(text)
        self._labels.append(_Label((right, up), begin, up - 6, text, kind, end=True))

    def interval(self, low: Point, high: Point, *, kind: str) -> None:
        """A line between two points with a short stroke across each end."""
        (x1, y1), (x2, y2) = self.at(low), self.at(high)
        cap = "m-3 0h6" if abs(y2 - y1) > abs(x2 - x1) else "m0 -3v6"
        self._parts.append(
            f'<path class="interval {kind}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}{cap}'
            f'M{x1:.1f} {y1:.1f}{cap}"/>'
        )

    def bar(self, ends: Point, height: float, title: str, *, kind: str) -> None:
        """A block from the floor up between two values of x, with a title."""
        (left, floor), (right, up) = self.at((ends[0], self.y.low)), self.at((ends[1], height))
        self._parts.append(
            f'<g class="bar {kind}"><title>{safe(title)}</title><rect x="{left + 1:.1f}" '
            f'y="{up:.1f}" width="{right - left - 2:.1f}" height="{floor - up:.1f}"/></g>'
        )

    def point(self, point: Point, title: str, *, kind: str,
              shape: Literal["dot", "speck", "cross", "diamond"] = "dot",
              label: str = "") -> None:  # fmt: skip
        """A mark with a title, which is shown when pointed at, and a label beside it."""
        x, y = self.at(point)
        shapes = {
            "dot": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.8"/>',
            "speck": f'<circle class="speck" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>',
            "cross": f'<path class="cross" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>',
            "diamond": f'<path d="M{x:.1f} {y - 6.5:.1f}l6.5 6.5l-6.5 6.5l-6.5 -6.5z"/>',
        }
        self._parts.append(
            f'<g class="point {kind}"><title>{safe(title)}</title>{shapes[shape]}</g>'
        )
        if shape != "speck":
            self._marks.append((x, y))
        beyond = self._beyond(point)
        if beyond or label:
            self._beside((x, y), " ".join([*filter(None, [label]), *beyond]), kind)

    def note(self, point: Point, text: str, *, kind: str) -> None:
        """A text beside a point that needs no mark there, such as the end of a row of marks."""
        self._beside(self.at(point), text, kind)

    def _beyond(self, point: Point) -> list[str]:
        """The values of a point that lie outside of the frame, each with its direction."""
        found: list[str] = []
        for value, axis, below, above in (
            (point[1], self.y, "↓", "↑"), (point[0], self.x, "←", "→")
        ):  # fmt: skip
            if not axis.low <= value <= axis.high:
                found.append(f"{number(value)} {above if value > axis.high else below}")
        return found

    def svg(self) -> str:
        """The whole chart."""
        width, height = self.size
        return (
            f'<svg class="w{width:g}" viewBox="0 0 {width:g} {height:g}" role="img" '
            f'aria-label="{safe(self.name)}">'
            f"{self._axes()}{''.join(self._parts)}{self._placed()}</svg>"
        )

    @property
    def _left(self) -> float:
        widest = max((len(text) for _, text in self.y.marks()), default=0)
        return 12 + _LETTER * widest + (18 if self.y.label else 0)

    @property
    def _floor(self) -> float:
        return self.size[1] - (46.0 if self.x.label else 26.0)

    def _path(self, points: Iterable[Point]) -> str:
        return " ".join("{:.1f},{:.1f}".format(*self.at(point)) for point in points)

    def _beside(self, at: Point, text: str, kind: str) -> None:
        wide = _LETTER * len(text)
        end = at[0] + 10 + wide > self.size[0] - 4
        begin = at[0] - 10 - wide if end else at[0] + 10
        self._labels.append(_Label(at, begin, at[1] + 4, text, kind, end=end))

    def _axes(self) -> str:
        left, right, floor = self._left, self.size[0] - _RIGHT, self._floor
        parts: list[str] = []
        for mark, text in self.y.marks():
            up = self.at((self.x.low, mark))[1]
            if not self.y.names:
                parts.append(_stroke("grid", (left, up), (right, up)))
            parts.append(_text((left - 8, up + 4), text, kind="tick end"))
        for mark, text in self.x.marks():
            across = self.at((mark, self.y.low))[0]
            if self.y.names:
                parts.append(_stroke("grid", (across, _TOP), (across, floor)))
            parts.append(_text((across, floor + 18), text, kind="tick middle"))
        parts.append(_stroke("axis", (left, floor), (right, floor)))
        if self.x.label:
            middle = ((left + right) / 2, self.size[1] - 8)
            parts.append(_text(middle, self.x.label, kind="name middle"))
        if self.y.label:
            parts.append(
                f'<text class="name middle" transform="translate(14 {(floor + _TOP) / 2:.1f}) '
                f'rotate(-90)">{safe(self.y.label)}</text>'
            )
        return "".join(parts)

    def _placed(self) -> str:
        """Labels beside their points, moved up or down where they would cover others or marks."""
        taken: list[_Label] = []
        parts: list[str] = []
        for label in sorted(self._labels, key=lambda item: (item.at[1], item.at[0])):
            tries = (label.up + move for step in range(24) for move in (step * 5.0, -step * 5.0))
            up = next((up for up in tries if self._free(taken, label, up)), label.up)
            taken.append(replace(label, up=up))
            side = label.begin + label.wide if label.end else label.begin
            if abs(up - label.up) > 9:
                parts.append(_stroke("leader", label.at, (side + (3 if label.end else -3), up - 4)))
            kind = f"beside {label.kind}{' end' if label.end else ''}"
            parts.append(_text((side, up), label.text, kind=kind))
        return "".join(parts)

    def _free(self, taken: Sequence[_Label], label: _Label, up: float) -> bool:
        if not 12 <= up <= self._floor - 4:
            return False
        begin, end = label.begin, label.begin + label.wide
        return not any(
            abs(up - other.up) < _LINE
            and begin < other.begin + other.wide + 4
            and other.begin < end + 4
            for other in taken
        ) and not any(begin - 4 < x < end + 4 and up - 14 < y < up + 5 for x, y in self._marks)


def rows(names: Sequence[str], *, letters: int = 22) -> Axis:
    """An axis of names, from the bottom up."""
    return Axis(-0.5, len(names) - 0.5, names=tuple(names), letters=letters)


def spread(values: Iterable[float], label: str, *, log: bool = False, zero: bool = False) -> Axis:
    """An axis with a little room around values; with `zero`, from 0 where none lies below."""
    known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = (min(known), max(known)) if known else (1.0 if log else 0.0, 2.0 if log else 1.0)
    if log:
        room = max((high / low) ** 0.08, 1.05)
        return Axis(low / room, high * room, label, log=True)
    low = min(low, 0.0) if zero else low
    room = 0.08 * (high - low) or 0.1 * abs(high) or 0.5
    return Axis(low if zero and low == 0.0 else low - room, high + room, label)


def round_numbers(low: float, high: float, *, log: bool = False) -> tuple[float, ...]:
    """Two to eleven numbers from `low` to `high` that are easy to read: multiples of 1, 2 or 5
    times a power of ten, or such numbers themselves on a logarithmic axis of more than a factor 4.

    One where the range is empty. A range is wide enough where it exceeds a millionth of its ends.
    """
    if not high > low:
        return (low,)
    if log and low > 0 and high / low > 4:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        steps = (1, 2, 5) if high / low < 1000 else (1,)
        powers = range(first, last + 1, 1 + (last - first) // 10)
        found = [float(f"{step}e{power}") for power in powers for step in steps]
        return tuple(item for item in found if low <= item <= high)
    span = high - low
    power = math.floor(math.log10(span / 4))
    step = next(m for m in (1, 2, 5, 10) if m == 10 or span / (m * 10.0**power) <= 7)
    size = step * 10.0**power
    inside = range(math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9) + 1)
    return tuple(float(f"{place * step}e{power}") for place in inside)


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _stroke(kind: str, begin: Point, end: Point) -> str:
    return (
        f'<line class="{kind}" x1="{begin[0]:.1f}" y1="{begin[1]:.1f}" x2="{end[0]:.1f}" '
        f'y2="{end[1]:.1f}"/>'
    )


def _text(at: Point, text: str, *, kind: str) -> str:
    return f'<text class="{kind}" x="{at[0]:.1f}" y="{at[1]:.1f}">{safe(text)}</text>'
