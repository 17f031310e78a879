"""Charts of the reports as one file that stands by itself: an SVG with its own style, for pages.

Covered: charts in columns with a heading each; light and dark by the reader's setting; the colours
of the stylesheet. Not covered: titles of single marks, which an image does not show.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from unhack.reporting.chart import Chart
from unhack.reporting.page import stylesheet
from unhack.reporting.text import safe

Panel = tuple[str, Chart]
"""A heading and its chart."""
_PAD, _HEAD, _TITLE = 16.0, 26.0, 40.0


def standalone(panels: Sequence[Panel], *, title: str, about: str, columns: int = 2) -> str:
    """An SVG of the panels, row by row; `about` says in words what they show."""
    placed: list[str] = []
    up, width = _TITLE, 0.0
    for first in range(0, len(panels), columns):
        row = panels[first : first + columns]
        left, tallest = _PAD, 0.0
        for heading, chart in row:
            placed.append(
                f'<text class="heading" x="{left:g}" y="{up + 16:g}">{safe(heading)}</text>'
            )
            placed.append(_at(chart, left, up + _HEAD))
            left += chart.size[0] + _PAD
            tallest = max(tallest, chart.size[1])
        width, up = max(width, left), up + _HEAD + tallest + _PAD
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {up:g}" role="img" '
        'aria-labelledby="title desc" font-family="system-ui, -apple-system, \'Segoe UI\', '
        "'DejaVu Sans', Helvetica, Arial, sans-serif\">\n"
        f'<title id="title">{safe(title)}</title>\n<desc id="desc">{safe(about)}</desc>\n'
        f"<style>{_style()}</style>\n"
        f'<rect class="sheet" x="0.5" y="0.5" width="{width - 1:g}" height="{up - 1:g}" rx="10"/>\n'
        f'<text class="heading" x="{_PAD:g}" y="26">{safe(title)}</text>\n'
        + "\n".join(placed)
        + "\n</svg>\n"
    )


def _at(chart: Chart, left: float, up: float) -> str:
    """A chart as a picture within another, without what only a page shows."""
    body = _together(re.sub(r"<title>.*?</title>", "", chart.svg()))
    place = f'<svg x="{left:g}" y="{up:g}" width="{chart.size[0]:g}" height="{chart.size[1]:g}" '
    return re.sub(r'^<svg class="[^"]*" ', place, body).replace('role="img" ', "", 1)


def _together(body: str) -> str:
    """Marks of one kind that follow each other as one group: a file of hundreds stays small."""
    found: list[str] = []
    kind = ""
    for part in re.split(r'(<g class="point [\w-]+">.*?</g>)', body):
        mark = re.fullmatch(r'<g class="(point [\w-]+)">(.*)</g>', part)
        if mark and mark[1] == kind:
            found[-1] = f"{found[-1].removesuffix('</g>')}{mark[2]}</g>"
        elif part.strip():
            found.append(part)
            kind = mark[1] if mark else ""
    return "".join(found)


def _style() -> str:
    """The part of the stylesheet that charts need."""
    text = stylesheet()
    colours = re.findall(
        r"^(?::root|@media \(prefers-color-scheme: dark\)) \{.*?^\}", text, re.M | re.S
    )
    tones = re.findall(r"^\.(?:tone-|s\d).*$", text, re.MULTILINE)
    marks = text[text.index("svg text {") : text.index(".legend {")]
    own = (
        ".sheet { fill: var(--card); stroke: var(--rule); }\n"
        ".heading { font-weight: 600; font-size: 14px !important; }"
    )
    return "\n".join([*colours, *tones, marks.rstrip(), own])
