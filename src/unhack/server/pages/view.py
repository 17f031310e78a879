"""A look at a page: who looks, at what, and whether the page is to be kept as a file.

Covered: pages are built in a thread; what the user got wrong, and a folder that is damaged, is a
page that says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode

import sqlalchemy as sa
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from unhack.core.errors import UnhackError
from unhack.reporting.page import card
from unhack.reporting.text import safe
from unhack.server.access.caller import Caller, Grant
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.problems import RequestRefused
from unhack.server.pages.frame import ROOM, PageContent, as_file, as_reply
from unhack.server.pages.sign_in import refusal
from unhack.server.service import Service, caller_of, service_of

ROWS = 50
"""Rows of a list on one page."""
_LAST_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class View:
    """A request for a page, by a caller with `Grant.READ`."""

    service: Service
    caller: Caller
    address: str
    """The path as text, without a query: quoted where it becomes an address again."""
    given: Mapping[str, str]
    """The values of the path's places."""
    query: Mapping[str, str]
    kept: bool = False
    """True where the page becomes a file: it has no links into the server then."""

    def link(self, *path: str | int, text: str, **query: str | int) -> str:
        """A link to a page below `ROOM` around `text`, which is HTML; only that in a file."""
        if self.kept:
            return text
        place = "/".join([ROOM, *(quote(str(each), safe="") for each in path)])
        return f'<a href="{safe(place + ("?" + urlencode(query) if query else ""))}">{text}</a>'

    @property
    def number(self) -> int:
        """The page of a list, from 1. Raises RequestRefused."""
        return self.whole("page", default=1, least=1)

    def whole(self, name: str, *, default: int, least: int) -> int:
        """A whole number of the query. Raises RequestRefused (400) that names it."""
        text = self.query.get(name, str(default))
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= _LAST_PAGE:
            raise RequestRefused(
                400, "invalid", f"{name}: a whole number from {least} on", field=name
            )
        return int(text)

    def rows(self, query: sa.Select[*tuple[Any, ...]]) -> list[SimpleNamespace]:
        """The rows of a query, their columns as attributes."""
        found = self.service.database.read(lambda c: list(c.execute(query).mappings()))
        return [SimpleNamespace(**row) for row in found]


Builder = Callable[[View], PageContent]


def page_route(path: str, build: Builder, summary: str, *, name: str) -> ApiRoute:
    """The route of a page; `name` is what a file of it is called."""

    async def handle(request: Request) -> Response:
        view = view_of(request)
        try:
            return await run_in_threadpool(_reply, view, build, name)
        except RequestRefused as error:
            return refusal(request, error)
        except UnhackError as error:
            return refusal(request, RequestRefused(400, "invalid", str(error)))

    return ApiRoute(
        "GET", f"{ROOM}{path}", handle, summary, Grant.READ,
        media="text/html", described=False, refused=refusal,
    )  # fmt: skip


def view_of(request: Request) -> View:
    """The look that a request is."""
    query = dict(request.query_params)
    kept = query.pop("export", "") == "1"
    given = {name: str(value) for name, value in request.path_params.items()}
    address = str(request.scope["path"])
    return View(service_of(request), caller_of(request), address, given, query, kept)


def _reply(view: View, build: Builder, name: str) -> Response:
    page = build(view)
    if view.kept:
        return as_file(page, name=name)
    return as_reply(page, export=f"{quote(view.address)}?{urlencode({**view.query, 'export': 1})}")


def empty(html: str) -> str:
    """The place of a list that has nothing yet, with what to do next."""
    return f'<div class="card empty">{html}</div>'


def pages_of(view: View, count: int) -> str:
    """Links to the other pages of a list of so many rows. Raises RequestRefused (404) for a page
    behind the last."""
    last = max(1, -(-count // ROWS))
    if view.number > last:
        raise RequestRefused(404, "not_found", f"page: the last one is {last:,}", field="page")
    if view.kept or last == 1:
        return card(f"The first {ROWS:,} of {count:,}.") if count > ROWS else ""
    here = view.number
    links = [
        (number, text)
        for number, text in (
            (1, "first"), (here - 1, "previous"), (here + 1, "next"), (last, "last"),
        )
        if 1 <= number <= last and number != here
    ]  # fmt: skip
    items = "".join(
        f'<li><a href="{quote(view.address)}?{urlencode({**view.query, "page": number})}">'
        f"{text}</a></li>"
        for number, text in links
    ).replace("&page", "&amp;page")
    return (
        f'<nav aria-label="Rows"><ul class="pages"><li class="soft">page {here:,} of {last:,}</li>'
        f"{items}</ul></nav>"
    )


def short(name: str) -> str:
    """The beginning of an id, which tells it from others of a list."""
    return f"<code>{safe(name[:10])}</code>"


def moment(seconds: float | None) -> str:
    """A time as HTML, to the second, UTC; a dash for none."""
    if seconds is None:
        return "-"
    at = datetime.fromtimestamp(seconds, UTC)
    return f'<time datetime="{at:%Y-%m-%dT%H:%M:%SZ}">{at:%Y-%m-%d %H:%M:%S}</time>'


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


def not_there(name: str, value: str) -> RequestRefused:
    """The refusal of what is not there, or not this tenant's: nobody can tell which."""
    return RequestRefused(404, "not_found", f"there is no {name} {value[:100]!r}")
