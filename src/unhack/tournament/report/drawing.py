"""Charts as SVG text: axes with round numbers, points, lines, whiskers. Colours are CSS variables.

Covered: linear and logarithmic axes, values outside the frame shown at its edge with their number.
Not covered: anything that moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from unhack.audit.report.wording import visible

_MOST = 600
WIDTH, HEIGHT = 860.0, 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 24.0, 18.0, 46.0


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a chart."""

    low: float
    high: float
    label: str
    """Without one, no numbers are written."""
    log: bool = False
    ticks: tuple[float, ...] = ()
    """Where to write numbers; chosen when empty."""

    def share(self, value: float) -> float:
        """How far along it a value lies, 0 to 1 inside."""
        low, high, value = (self._scaled(item) for item in (self.low, self.high, value))
        return (value - low) / (high - low) if high > low else 0.5

    def marks(self) -> tuple[float, ...]:
        """Numbers to write."""
        return self.ticks or round_numbers(self.low, self.high, log=self.log)

    def _scaled(self, value: float) -> float:
        return math.log(max(value, 1e-12)) if self.log else value


@dataclass(slots=True)
class Chart:
    """A frame that things are put into."""

    x: Axis
    y: Axis
    name: str
    """What it shows, for those who cannot see it."""
    height: float = HEIGHT
    _parts: list[str] = field(default_factory=list[str])

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the data lies; never outside of the frame."""
        across = _LEFT + self._within(self.x.share(x)) * (WIDTH - _LEFT - _RIGHT)
        up = self._within(self.y.share(y)) * (self.height - _TOP - _BOTTOM)
        return across, self.height - _BOTTOM - up

    def band(self, low: float, high: float, *, text: str = "") -> None:
        """A shaded range of x."""
        left, right = self.at(low, self.y.low)[0], self.at(high, self.y.low)[0]
        height = self.height - _TOP - _BOTTOM
        self._parts.append(
            f'<rect class="band" x="{left:.1f}" y="{_TOP}" width="{right - left:.1f}" '
            f'height="{height:.1f}"/>'
        )
        self.text((left + right) / 2, _TOP + 14, text, kind="soft")

    def level(self, y: float, text: str, *, kind: str) -> None:
        """A horizontal line with its name."""
        if not self.y.low <= y <= self.y.high:
            return
        height = self.at(self.x.low, y)[1]
        self._parts.append(
            f'<line class="level {kind}" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{height:.1f}" '
            f'y2="{height:.1f}"/>'
        )
        self.text(WIDTH - _RIGHT - 4, height - 6, text, kind=f"{kind} end")

    def line(self, points: Sequence[tuple[float, float]], *, kind: str) -> None:
        """Points joined in order."""
        path = " ".join("{:.1f},{:.1f}".format(*self.at(*point)) for point in points)
        self._parts.append(f'<polyline class="line {kind}" points="{path}"/>')

    def whisker(self, x: float, low: float, high: float, *, kind: str) -> None:
        """A vertical interval."""
        across, bottom = self.at(x, low)
        top = self.at(x, high)[1]
        self._parts.append(
            f'<path class="whisker {kind}" d="M{across:.1f} {bottom:.1f}V{top:.1f}'
            f'M{across - 3:.1f} {bottom:.1f}h6M{across - 3:.1f} {top:.1f}h6"/>'
        )

    def point(self, x: float, y: float, title: str, *, kind: str, cross: bool = False) -> None:
        """A dot, or a cross; its title is shown when pointed at."""
        across, up = self.at(x, y)
        shape = (
            f'<path class="cross" d="M{across - 5:.1f} {up - 5:.1f}l10 10m0 -10l-10 10"/>'
            if cross
            else f'<circle cx="{across:.1f}" cy="{up:.1f}" r="4.5"/>'
        )
        self._parts.append(f'<g class="dot {kind}"><title>{safe(title)}</title>{shape}</g>')
        if y > self.y.high:
            self.text(across + 8, up + 4, f"{y:.3g} ↑", kind="soft")

    def text(self, x: float, y: float, text: str, *, kind: str = "") -> None:
        """Words at a place of the page."""
        self._parts.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{safe(text)}</text>')

    def svg(self) -> str:
        """The whole chart."""
        return (
            f'<svg viewBox="0 0 {WIDTH:g} {self.height:g}" role="img" '
            f'aria-label="{safe(self.name)}">{self._axes()}{"".join(self._parts)}</svg>'
        )

    def _axes(self) -> str:
        bottom = self.height - _BOTTOM
        parts: list[str] = []
        for mark in self.y.marks() if self.y.label else ():
            up = self.at(self.x.low, mark)[1]
            parts.append(
                f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{up:.1f}" '
                f'y2="{up:.1f}"/><text class="tick end" x="{_LEFT - 8}" y="{up + 4:.1f}">'
                f"{number(mark)}</text>"
            )
        for mark in self.x.marks():
            across = self.at(mark, self.y.low)[0]
            parts.append(
                f'<text class="tick middle" x="{across:.1f}" y="{bottom + 18:.1f}">'
                f"{number(mark)}</text>"
            )
        middle = (_LEFT + WIDTH - _RIGHT) / 2
        parts.append(
            f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{bottom}" y2="{bottom}"/>'
            f'<text class="name middle" x="{middle:.1f}" y="{self.height - 8:.1f}">'
            f"{safe(self.x.label)}</text>"
            f'<text class="name middle" transform="translate(14 {(bottom + _TOP) / 2:.1f}) '
            f'rotate(-90)">{safe(self.y.label)}</text>'
        )
        return "".join(parts)

    def _within(self, share: float) -> float:
        return min(1.0, max(0.0, share))


def safe(text: str) -> str:
    """Escaped, without invisible characters; the middle of a long text is left out."""
    return escape(visible(text, most=_MOST))


def number(value: float) -> str:
    """Short, without a useless zero."""
    if value and (abs(value) >= 1e6 or abs(value) < 1e-3):
        return f"{value:.3g}"
    return f"{value:.4g}"


def spread(values: Iterable[float], label: str, *, log: bool = False, zero: bool = False) -> Axis:
    """An axis with a little room around values."""
    known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = (min(known), max(known)) if known else (1.0 if log else 0.0, 2.0 if log else 1.0)
    if log:
        room = max((high / low) ** 0.08, 1.05)
        return Axis(low / room, high * room, label, log=True)
    low = min(low, 0.0) if zero else low
    room = 0.08 * (high - low) or 0.1 * abs(high) or 0.5
    return Axis(low if zero and low == 0.0 else low - room, high + room, label)


def round_numbers(low: float, high: float, *, log: bool = False) -> tuple[float, ...]:
    """Four to eight numbers that are easy to read."""
    if log and low > 0 and high / low > 4:
        steps = (1, 2, 5) if high / low < 1000 else (1,)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [step * 10.0**power for power in powers for step in steps]
        return tuple(item for item in found if low <= item <= high)
    span = high - low
    if not span > 0:
        return (low,)
    step = 10.0 ** math.floor(math.log10(span / 4))
    step *= next((m for m in (1, 2, 5, 10) if span / (step * m) <= 7), 10)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(round(n * step, 12) for n in range(first, last + 1))
