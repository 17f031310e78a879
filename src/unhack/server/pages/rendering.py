"""The templates of pages. What they print is escaped, and its invisible characters made visible,
unless it is HTML already (`Markup`).

Covered: texts of completions, tasks, names and errors. Not covered: parts of reports, which escape
their own texts (`unhack.reporting`).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unhack.reporting.outcome import badge, explained, facts, status_badge
from unhack.reporting.page import top
from unhack.reporting.text import MAX_LETTERS, number, one_line, safe, visible


def render(template: str, /, **values: Any) -> Markup:
    """A template with its values, as HTML."""
    return Markup(_environment().get_template(template).render(**values))


def moment(seconds: float | None) -> Markup:
    """A time to the second, UTC; a dash for none."""
    if seconds is None:
        return Markup("-")
    at = datetime.fromtimestamp(seconds, UTC)
    html = f'<time datetime="{at:%Y-%m-%dT%H:%M:%SZ}">{at:%Y-%m-%d %H:%M:%S}</time>'
    return Markup(html)


def lasting(seconds: float | None) -> str:
    """A span of time for people; a dash for none."""
    if seconds is None:
        return "-"
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def as_sentence(words: str) -> str:
    """Words with their full stop, so that more may follow."""
    words = words.rstrip(" :;,")
    return words if words.endswith((".", "!", "?", "…")) else f"{words}."


def share(part: int, whole: int) -> str:
    """A part of a whole in percent; a dash for a part of nothing."""
    return f"{part / whole:.1%}" if whole else "-"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("unhack.server.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "cut": _cut,
        "lasting": lasting,
        "moment": moment,
        "number": _number,
        "one_line": _one_line,
        "sentence": as_sentence,
        "share": share,
        "thousands": "{:,}".format,
    }
    names: dict[str, Any] = {
        "badge": _as_html(badge),
        "explained": _as_html(explained),
        "facts": _as_html(facts),
        "status_badge": _as_html(status_badge),
        "top": _top,
    }
    made.filters.update(filters)
    made.globals.update(names)
    return made


def _cut(text: str, most: int) -> str:
    return visible(text, most=most)


def _one_line(text: str, most: int) -> str:
    return one_line(text, most=most)


def _number(value: Any) -> str:
    return number(float(value))


def _visible(value: Any) -> Any:
    return value if isinstance(value, Markup) else visible(str(value), most=MAX_LETTERS)


def _as_html(part: Callable[..., str]) -> Callable[..., Markup]:
    """A part of reports, which has escaped its texts."""
    return lambda *given, **more: Markup(part(*given, **more))


def _top(html: str, *, why: str, **more: Any) -> Markup:
    """The first card of a page; its heading and its sentence are texts unless they are HTML."""
    return Markup(top(_html(html), why=_html(why), **more))


def _html(text: str) -> str:
    return text if isinstance(text, Markup) else safe(text)
