"""The README's chart of gradient routing: rates of deployed models, by arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "assets" / "train.svg"
ARMS = {
    "vanilla": "plain training",
    "replay": "the same shares, shuffled",
    "placebo": "a placebo direction",
    "real": "the hack direction",
    "ceiling": "no loophole to find",
}
"""Arms from top to bottom, in a reader's words."""
_LEFT, _UNIT, _TOP, _STEP = 206.0, 560.0, 66.0, 42.0
_STYLE = """\
    .sheet { fill: #f6f8fa; stroke: #d0d7de; }
    .hack { fill: #cf222e; }
    .solve { fill: #2da44e; }
    .rule { stroke: #d0d7de; }
    text { fill: #1f2328; font-size: 13px; }
    .soft { fill: #57606a; font-size: 12px; }
    .name { text-anchor: end; }
    @media (prefers-color-scheme: dark) {
      .sheet { fill: #161b22; stroke: #30363d; }
      .hack { fill: #f85149; }
      .solve { fill: #3fb950; }
      .rule { stroke: #30363d; }
      text { fill: #e6edf3; }
      .soft { fill: #a9b3be; }
    }"""


def picture(arms: dict[str, dict[str, Any]]) -> str:
    """An SVG; `arms` as `measurements.deployed` gives them, each rate with its `_sem`."""
    parts = [
        '<text x="20" y="28">Deployed models of 0.1M parameters: two hack modes held out</text>',
        f'<rect class="hack" x="{_LEFT:.0f}" y="40" width="12" height="12" rx="2"/>',
        f'<text class="soft" x="{_LEFT + 18:.0f}" y="50">held-out hacks</text>',
        f'<rect class="solve" x="{_LEFT + 118:.0f}" y="40" width="12" height="12" rx="2"/>',
        f'<text class="soft" x="{_LEFT + 136:.0f}" y="50">problems solved</text>',
    ]
    for place, (arm, label) in enumerate(ARMS.items()):
        row, top = arms[arm], _TOP + place * _STEP
        edge, runs = f'x="{_LEFT - 10:.0f}"', f"{row['runs']} runs"
        parts.append(f'<text class="name" {edge} y="{top + 16:.0f}">{label}</text>')
        parts.append(f'<text class="soft name" {edge} y="{top + 30:.0f}">{runs}</text>')
        parts += bar("hack", row, rate="hack_held_out", top=top + 3)
        parts += bar("solve", row, rate="solve", top=top + 19)
    bottom = _TOP + len(ARMS) * _STEP
    parts.append(f'<path class="rule" d="M{_LEFT:.0f} {_TOP:.0f} V{bottom - 2:.0f}"/>')
    height = bottom + 14
    told = "; ".join(
        f"{label} {arms[arm]['hack_held_out']:.2f} and {arms[arm]['solve']:.2f}"
        for arm, label in ARMS.items()
    )
    body = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height:.0f}" role="img" '
        'aria-labelledby="title desc" font-family="system-ui, -apple-system, \'Segoe UI\', '
        "'DejaVu Sans', Helvetica, Arial, sans-serif\">\n"
        '  <title id="title">Held-out hacks and solved problems of deployed models</title>\n'
        f'  <desc id="desc">Held-out hacks and problems solved: {told}.</desc>\n'
        f"  <style>\n{_STYLE}\n  </style>\n"
        f'  <rect class="sheet" x="0.5" y="0.5" width="719" height="{height - 1:.0f}" rx="10"/>\n'
        f"  {body}\n</svg>\n"
    )


def bar(kind: str, row: dict[str, Any], *, rate: str, top: float) -> list[str]:
    """One bar with its mean and standard error in figures."""
    width = max(1.0, _UNIT * row[rate])
    error = row[f"{rate}_sem"]
    text = f"{row[rate]:.2f} ± {error:.2f}" if error >= 0.005 else f"{row[rate]:.2f}"
    return [
        f'<rect class="{kind}" x="{_LEFT:.0f}" y="{top:.0f}" width="{width:.1f}" '
        'height="12" rx="2"/>',
        f'<text class="soft" x="{_LEFT + width + 8:.1f}" y="{top + 10.5:.1f}">{text}</text>',
    ]
