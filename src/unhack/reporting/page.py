"""One page of HTML that needs nothing else: no font, no picture, nothing to load, and no script but
that of `sorting`.

Covered: the frame with its style, and the parts that reports share. The page forbids itself to
load anything. A title, a name, a word, names and values of figures and of legends are text and
escaped here; `html`, `why`, `note`, heads and cells of tables are HTML already, escaped by whoever
wrote it.
Not covered: which parts a report has; each product has its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from html import unescape
from importlib.resources import files
from string import Template

from unhack.reporting.text import safe

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The page forbids itself to load or run anything."""
_TAG = re.compile("<[^>]*>")


def document(
    title: str, parts: Iterable[str], *, head: str = "", foot: str = "", policy: str = POLICY
) -> str:
    """The whole page of parts that are HTML; `head` and `foot` stand around its main part."""
    body = "\n".join(part for part in parts if part)
    return Template(_asset("page.html")).substitute(
        title=safe(title), style=stylesheet(), body=body, head=head, foot=foot, policy=policy
    )


def stylesheet() -> str:
    """The text of the style element: `style-src` of a policy may name its hash."""
    return "\n" + _asset("stylesheet.css")


@cache
def _asset(name: str) -> str:
    return files("unhack.reporting").joinpath(name).read_text(encoding="utf-8")


def sorting() -> tuple[str, str]:
    """A policy, and the one script that it allows: a click on a heading sorts a table by it, and a
    choice in `select[data-filter]` shows only the rows whose text has the chosen word."""
    script = _asset("sort.js")
    return f"{POLICY}; script-src {hash_of(script)}", script


def hash_of(text: str) -> str:
    """The hash of a script or a style as a policy names it."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def top(html: str, *, why: str, figures: Mapping[str, str], word: str = "", tone: str = "") -> str:
    """The first card: a heading and a sentence, both HTML, a verdict in a word, and figures."""
    kind = f"card top verdict tone-{tone}" if word else "card top"
    verdict = f'<p class="word">{safe(word)}</p>' if word else ""
    cells = "".join(
        f"<div><dt>{safe(name)}</dt><dd>{safe(text)}</dd></div>" for name, text in figures.items()
    )
    return (
        f'<section class="{kind}"><h1>{html}</h1>{verdict}<p class="why">{why}</p>'
        f'<dl class="figures">{cells}</dl></section>'
    )


def section(name: str, html: str) -> str:
    """A part with its heading."""
    return f"<section><h2>{safe(name)}</h2>{html}</section>"


def card(html: str, *, note: str = "") -> str:
    """A box; `note` is HTML below its content."""
    words = f'<p class="soft small note">{note}</p>' if note else ""
    return f'<div class="card">{html}{words}</div>'


def figure(name: str, charts: Sequence[str], *, note: str, legend: str = "") -> str:
    """A part with charts side by side where there is room; legend and `note` are HTML."""
    side = "".join(scrolling(chart) for chart in charts)
    kind = ' class="two"' if len(charts) > 1 else ""
    return section(
        name,
        f'<figure class="card">{legend}<div{kind}>{side}</div>'
        f'<figcaption class="soft small note">{note}</figcaption></figure>',
    )


def legend(kinds: Mapping[str, str], *, lines: bool = False) -> str:
    """Names and the classes of their colours; with `lines`, as strokes in place of dots."""
    items = "".join(f'<li class="{kind}"><i></i>{safe(name)}</li>' for name, kind in kinds.items())
    return f'<ul class="legend{" lines" if lines else ""}">{items}</ul>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, words: Container[int] = (0,),
          above: str = "") -> str:  # fmt: skip
    """Rows of cells below heads and, above those, a row of HTML; columns in `words` are words, the
    others numbers."""
    top_row = "".join(_cell("th", place, head, words) for place, head in enumerate(heads))
    body = "".join(
        "<tr>"
        + "".join(_cell("td", place, cell, words) for place, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    head = f"<thead>{above}<tr>{top_row}</tr></thead>" if heads else ""
    words_of = ", ".join(filter(None, (unescape(_TAG.sub("", each)).strip() for each in heads)))
    name = f"table: {words_of}" if words_of else "table"
    return scrolling(f"<table>{head}<tbody>{body}</tbody></table>", name=name)


def scrolling(html: str, *, name: str = "chart") -> str:
    """A part that scrolls sideways by itself where it is too wide, by keyboard too; a screen reader
    that stops there says its `name`."""
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{safe(name)}">{html}</div>'


def _cell(tag: str, place: int, html: str, words: Container[int]) -> str:
    kind = "" if place in words else ' class="n"'
    return f"<{tag}{kind}>{html}</{tag}>"
