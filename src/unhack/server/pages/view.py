"""A look at a page: who looks, at what, and whether the page is to be kept as a file.

Covered: pages are built in a thread; what the user got wrong, and a folder that is damaged, is a
page that says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode

import sqlalchemy as sa
from fastapi import APIRouter
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from unhack.server.access.caller import Caller, Grant
from unhack.server.api_route import needs
from unhack.server.http.problems import RequestRefused, invalid
from unhack.server.pages.frame import ROOM, PageContent, as_file, as_reply
from unhack.server.pages.rendering import render
from unhack.server.pages.sign_in import PageRoute
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
        """A link to a page below `ROOM` around `text`; only that in a file."""
        if self.kept:
            return text
        place = "/".join([ROOM, *(quote(str(each), safe="") for each in path)])
        address = place + ("?" + urlencode(query) if query else "")
        return Markup('<a href="{}">{}</a>').format(address, text)

    @property
    def number(self) -> int:
        """The page of a list, from 1. Raises RequestRefused."""
        return self.whole("page", default=1, least=1)

    def whole(self, name: str, *, default: int, least: int) -> int:
        """A whole number of the query. Raises RequestRefused (400) that names it."""
        text = self.query.get(name, str(default))
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= _LAST_PAGE:
            raise invalid(name, f"a whole number from {least} on", status=400)
        return int(text)

    def rows(self, query: sa.Select[*tuple[Any, ...]]) -> list[SimpleNamespace]:
        """The rows of a query, their columns as attributes."""
        return [SimpleNamespace(**row) for row in self.service.database.rows(query)]


Builder = Callable[[View], PageContent]


def page_router(grant: Grant = Grant.READ) -> APIRouter:
    """A router of pages that want a key with a scope."""
    return APIRouter(
        prefix=ROOM, route_class=PageRoute, include_in_schema=False, dependencies=needs(grant)
    )


def page(router: APIRouter, path: str, *, name: str) -> Callable[[Builder], Builder]:
    """Make a function the page at a path; `name` is what a file of it is called."""

    def add(build: Builder) -> Builder:
        async def show(request: Request) -> Response:
            return await run_in_threadpool(_reply, view_of(request), build, name)

        router.add_api_route(path, show, name=build.__name__, response_model=None)
        return build

    return add


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


def pages_of(view: View, count: int) -> Markup:
    """Links to the other pages of a list of so many rows. Raises RequestRefused (404) for a page
    behind the last."""
    last, here = max(1, -(-count // ROWS)), view.number
    if here > last:
        raise RequestRefused(404, "not_found", f"page: the last one is {last:,}", field="page")
    numbers = {"first": 1, "previous": here - 1, "next": here + 1, "last": last}
    links = {
        text: f"{quote(view.address)}?{urlencode({**view.query, 'page': number})}"
        for text, number in numbers.items()
        if 1 <= number <= last and number != here
    }
    return render("pages.html", view=view, count=count, rows=ROWS, last=last, links=links)


def not_there(name: str, value: str) -> RequestRefused:
    """The refusal of what is not there, or not this tenant's: nobody can tell which."""
    return RequestRefused(404, "not_found", f"there is no {name} {value[:100]!r}")
