"""Charts as SVG text. Colours are classes of the page, so that light and dark both work.

Covered: linear axes, lines, bands, points with intervals, labels that keep out of each other's
way, text escaped. Not covered: anything that moves or is loaded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

_LINE = 14.0
"""Height of a label."""
_LETTER = 6.6
"""Width of a letter of a label, about."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a chart."""

    low: float
    high: float
    label: str = ""
    ticks: tuple[float, ...] = ()

    def share(self, value: float) -> float:
        """Position of a value along it, 0 to 1; never outside."""
        span = self.high - self.low
        return min(1.0, max(0.0, (value - self.low) / span)) if span > 0 else 0.5

    def marks(self) -> tuple[float, ...]:
        """Numbers to write: those given, else four to eight round ones."""
        return self.ticks or round_numbers(self.low, self.high)


@dataclass(slots=True)
class Chart:
    """A frame that things are put into."""

    x: Axis
    y: Axis
    name: str
    """Description for those who cannot see it."""
    size: tuple[float, float] = (860.0, 380.0)
    left: float = 58.0
    grid: bool = True
    _parts: list[str] = field(default_factory=list[str])
    _labels: list[tuple[float, float, str, str]] = field(
        default_factory=list[tuple[float, float, str, str]]
    )

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Position of a data point on the page."""
        width, height = self.size
        across = self.left + self.x.share(x) * (width - self.left - 18)
        return across, height - self._bottom - self.y.share(y) * (height - self._bottom - 14)

    def line(self, points: Sequence[tuple[float, float]], *, kind: str) -> None:
        """Points joined in order."""
        path = " ".join("{:.1f},{:.1f}".format(*self.at(*point)) for point in points)
        self._parts.append(f'<polyline class="line {kind}" points="{path}"/>')

    def area(self, low: Sequence[tuple[float, float]], high: Sequence[tuple[float, float]], *,
             kind: str) -> None:  # fmt: skip
        """The area between two lines."""
        corners = [*low, *reversed(high)]
        path = " ".join("{:.1f},{:.1f}".format(*self.at(*point)) for point in corners)
        self._parts.append(f'<polygon class="area {kind}" points="{path}"/>')

    def level(self, y: float, text: str, *, kind: str) -> None:
        """A horizontal line with its name at the right end."""
        (left, up), (right, _) = self.at(self.x.low, y), self.at(self.x.high, y)
        self._parts.append(
            f'<line class="level {kind}" x1="{left:.1f}" x2="{right:.1f}" y1="{up:.1f}" '
            f'y2="{up:.1f}"/>'
        )
        if text:
            self._labels.append((right - _LETTER * len(text) - 10, up - 8, text, kind))

    def whisker(self, x: tuple[float, float], y: tuple[float, float], *, kind: str) -> None:
        """An interval from one point to another."""
        (x1, y1), (x2, y2) = self.at(x[0], y[0]), self.at(x[1], y[1])
        self._parts.append(
            f'<line class="whisker {kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
            f'y2="{y2:.1f}"/>'
        )

    def dot(self, x: float, y: float, title: str, *, kind: str, label: str = "") -> None:
        """A point with a title, which is shown when pointed at."""
        across, up = self.at(x, y)
        small = "faint" in kind.split()
        shape = (
            f'<path d="M{across:.1f} {up - 6.5:.1f}l6.5 6.5l-6.5 6.5l-6.5 -6.5z"/>'
            if "mark" in kind.split()
            else f'<circle cx="{across:.1f}" cy="{up:.1f}" r="{2.6 if small else 5}"/>'
        )
        self._parts.append(f'<g class="dot {kind}"><title>{safe(title)}</title>{shape}</g>')
        if label:
            self._labels.append((across, up, label, kind))

    def text(self, x: float, y: float, words: str, *, kind: str = "") -> None:
        """Words at a place of the page."""
        self._parts.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{safe(words)}</text>')

    def svg(self) -> str:
        """The whole chart."""
        width, height = self.size
        return (
            f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{safe(self.name)}">'
            f"{''.join(self._axes())}{''.join(self._parts)}{''.join(self._placed())}</svg>"
        )

    @property
    def _bottom(self) -> float:
        return 46.0 if self.x.label else 26.0

    def _axes(self) -> list[str]:
        width, height = self.size
        bottom, right = height - self._bottom, width - 18
        parts: list[str] = []
        for mark in self.y.marks() if self.grid else ():
            up = self.at(self.x.low, mark)[1]
            parts.append(
                f'<line class="grid" x1="{self.left}" x2="{right}" y1="{up:.1f}" y2="{up:.1f}"/>'
                f'<text class="tick end" x="{self.left - 7}" y="{up + 4:.1f}">{number(mark)}</text>'
            )
        for mark in self.x.marks():
            across = self.at(mark, self.y.low)[0]
            parts.append(
                f'<text class="tick middle" x="{across:.1f}" y="{bottom + 17:.1f}">'
                f"{number(mark)}</text>"
            )
            if not self.grid:
                parts.append(
                    f'<line class="grid" x1="{across:.1f}" x2="{across:.1f}" y1="14" '
                    f'y2="{bottom:.1f}"/>'
                )
        parts.append(
            f'<line class="axis" x1="{self.left}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
        )
        middle = (self.left + right) / 2
        if self.x.label:
            parts.append(
                f'<text class="name middle" x="{middle:.1f}" y="{height - 8:.1f}">'
                f"{safe(self.x.label)}</text>"
            )
        if self.y.label:
            parts.append(
                f'<text class="name middle" transform="translate(14 {(bottom + 14) / 2:.1f}) '
                f'rotate(-90)">{safe(self.y.label)}</text>'
            )
        return parts

    def _placed(self) -> list[str]:
        """Labels beside their points, moved up or down where they would cover another."""
        taken: list[tuple[float, float, float]] = []
        parts: list[str] = []
        for x, y, text, kind in sorted(self._labels, key=lambda item: (item[1], item[0])):
            wide = _LETTER * len(text)
            begin = x + 10 if x + 10 + wide <= self.size[0] - 4 else x - 10 - wide
            up = next(
                (
                    y + 4 + move
                    for step in range(24)
                    for move in (step * 5.0, -step * 5.0)
                    if self._free(taken, begin, y + 4 + move, wide)
                ),
                y + 4,
            )
            taken.append((begin, up, wide))
            if abs(up - y - 4) > 9:
                end = begin - 3 if begin > x else begin + wide + 3
                parts.append(
                    f'<line class="leader" x1="{x:.1f}" y1="{y:.1f}" x2="{end:.1f}" '
                    f'y2="{up - 4:.1f}"/>'
                )
            parts.append(
                f'<text class="label {kind}" x="{begin:.1f}" y="{up:.1f}">{safe(text)}</text>'
            )
        return parts

    def _free(
        self, taken: Sequence[tuple[float, float, float]], x: float, y: float, wide: float
    ) -> bool:
        if not 16 <= y <= self.size[1] - self._bottom - 4:
            return False
        return not any(
            abs(y - up) < _LINE and x < begin + width + 4 and begin < x + wide + 4
            for begin, up, width in taken
        )


def safe(text: str) -> str:
    """Escaped, without control characters."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))


def number(value: float) -> str:
    """Short, without a useless zero."""
    return f"{value:.4g}" if abs(value) >= 1e-3 or not value else f"{value:.1e}"


def round_numbers(low: float, high: float) -> tuple[float, ...]:
    """Four to eight numbers that are easy to read."""
    span = high - low
    if not span > 0:
        return (low,)
    step = 10.0 ** math.floor(math.log10(span / 4))
    step *= next((m for m in (1, 2, 5, 10) if span / (step * m) <= 7), 10)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(round(n * step, 12) for n in range(first, last + 1))
