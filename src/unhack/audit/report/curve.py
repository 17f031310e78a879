"""The curve of tier 5 as an inline SVG picture: shares of rollouts over updates.

Covered: any number of updates; colours follow the page's theme; the figures stand beside it as
text, so the picture is decoration for those who cannot see it. Not covered: zooming.
"""

from __future__ import annotations

from collections.abc import Sequence

from unhack.audit.report.discovery import CurvePoint

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 220, 44, 34, 12
_LINES = (("passing", "pass", "var(--low)"), ("wrong", "pass and are wrong", "var(--critical)"))


def svg(curve: Sequence[CurvePoint]) -> str:
    """The picture; empty for an empty curve."""
    if not curve:
        return ""
    last = max(1, curve[-1].step)
    parts = [_axis(share) for share in (0.0, 0.5, 1.0)]
    for field, _, colour in _LINES:
        points = " ".join(
            f"{_x(point.step, last):.1f},{_y(getattr(point, field)):.1f}" for point in curve
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
    parts += [_label(number, text, colour) for number, (_, text, colour) in enumerate(_LINES)]
    parts += [
        f'<text x="{_x(step, last):.1f}" y="{_HEIGHT - 12}" text-anchor="middle">{step}</text>'
        for step in (0, last)
    ]
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Shares of rollouts over '
        'updates" font-size="12" fill="var(--soft)" width="100%">' + "".join(parts) + "</svg>"
    )


def _x(step: int, last: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - 14) * step / last


def _y(share: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1.0 - share)


def _axis(share: float) -> str:
    height = _y(share)
    return (
        f'<line x1="{_LEFT}" x2="{_WIDTH - 14}" y1="{height:.1f}" y2="{height:.1f}" '
        f'stroke="var(--rule)"/><text x="{_LEFT - 6}" y="{height + 4:.1f}" '
        f'text-anchor="end">{share:.0%}</text>'
    )


def _label(number: int, text: str, colour: str) -> str:
    left = _LEFT + 60 + 90 * number
    return f'<text x="{left}" y="{_HEIGHT - 12}" fill="{colour}">{text}</text>'
