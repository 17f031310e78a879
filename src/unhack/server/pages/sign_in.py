"""Signing in: a browser hands its key over once, in a form, and keeps it in a cookie.

Covered: the cookie is out of reach of scripts (HttpOnly), is sent by no other site's page
(SameSite=Strict) and to nothing but the pages (Path); the key stands in no address. A form that
another site's page sent is refused too, by what the browser says of it, else by its Origin. Where
to go after is a page of this server.
Not covered: who can read the browser's files. Signing out ends nothing but this browser's copy;
`unhack serve keys revoke` ends the key.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, urlsplit

from fastapi import APIRouter
from sqlalchemy.exc import OperationalError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unhack.core.errors import UnhackError
from unhack.server.access.caller import Grant
from unhack.server.api_route import ApiRoute, Handler
from unhack.server.http.bodies import read_bytes
from unhack.server.http.problems import RequestRefused, refusal_of
from unhack.server.pages.frame import ROOM, PageContent, as_reply
from unhack.server.pages.rendering import render
from unhack.server.service import service_of

COOKIE = "unhack_key"
"""The cookie of a browser that signed in; routes of pages alone look at it."""
_DAYS = 7
_MOST_BYTES = 4096
_OWN = re.compile(rf"{ROOM}/[A-Za-z0-9/_.%~-]*(\?[A-Za-z0-9=&_.%+-]*)?")


def refusal(request: Request, error: RequestRefused) -> Response:
    """The reply of a browser's request that is refused: the form where a key is missing."""
    if error.status == 401:
        here = quote(str(request.scope["path"]))
        if request.url.query:
            here += f"?{request.url.query}"
        wrong = "This key is not valid any more." if COOKIE in request.cookies else ""
        page = _form(here, wrong=wrong)
    else:
        here = ROOM if error.status != 403 else ""
        page = _said(error, here=here)
    reply = as_reply(page)
    reply.headers.update(error.headers)
    return reply


class PageRoute(ApiRoute):
    """A route whose key may come in a cookie, and whose refusals are pages."""

    def key_in(self, request: Request) -> str:
        """The key that a request carries; empty where there is none."""
        return super().key_in(request) or request.cookies.get(COOKIE, "")

    def get_route_handler(self) -> Handler:
        """The handler of an `ApiRoute`, its errors as pages."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except (RequestRefused, OperationalError) as error:
                return refusal(request, refusal_of(error))
            except UnhackError as error:
                return refusal(request, RequestRefused(400, "invalid", str(error)))

        return handle


router = APIRouter(route_class=PageRoute, include_in_schema=False)


def check_own(request: Request) -> None:
    """Raises RequestRefused (403) for a form that a page of another site sent."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site is not None:  # the browser's own word, true also where a proxy changes Host
        own = site in ("none", "same-origin")
    else:
        own = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not own:
        words = "this form was sent by a page of another site; open this one anew"
        raise RequestRefused(403, "foreign_form", words)


@router.get(f"{ROOM}/login")
async def show_form(request: Request) -> Response:
    """The form for a key."""
    return as_reply(_form(request.query_params.get("next", ""), status=200))


@router.post(f"{ROOM}/login")
async def sign_in(request: Request) -> Response:
    """Take a key into a cookie."""
    check_own(request)
    body = await read_bytes(request, most=_MOST_BYTES)
    fields = parse_qs(body.decode("utf-8", "replace"))
    key = fields.get("key", [""])[0].strip()
    after = fields.get("next", [""])[0]
    caller = await service_of(request).callers.find(key)
    if caller is None:
        return as_reply(_form(after, wrong="There is no such key, or it was revoked.", status=401))
    if Grant.READ not in caller.scopes:
        wrong = f"This key lacks the scope {Grant.READ.value!r}, which pages ask for."
        return as_reply(_form(after, wrong=wrong, status=403))
    reply = RedirectResponse(_own(after), 303)
    reply.set_cookie(
        COOKIE, key, path=ROOM, max_age=_DAYS * 86400, httponly=True, samesite="strict",
        secure=_by_https(request),
    )  # fmt: skip
    return reply


@router.post(f"{ROOM}/logout")
async def sign_out(request: Request) -> Response:
    """Forget the cookie."""
    check_own(request)
    reply = RedirectResponse(f"{ROOM}/login", 303)
    reply.delete_cookie(COOKIE, path=ROOM, httponly=True, samesite="strict")
    return reply


def _by_https(request: Request) -> bool:
    """True behind any proxy that says so: who makes the header up restricts a cookie of theirs."""
    said = request.headers.get("x-forwarded-proto", "").rpartition(",")[2].strip()
    return "https" in (request.url.scheme, said)


def _own(address: str) -> str:
    """The address where it is one of these pages, else the first page."""
    found = _OWN.fullmatch(address) and "//" not in address and ".." not in address
    return address if found and not address.startswith(f"{ROOM}/log") else f"{ROOM}/"


def _form(after: str, *, wrong: str = "", status: int = 401) -> PageContent:
    html = render("sign_in.html", wrong=wrong, after=_own(after))
    return PageContent("Sign in", (html,), status=status)


def _said(error: RequestRefused, *, here: str) -> PageContent:
    html = render("refusal.html", error=error, here=here)
    return PageContent(str(error.status), (html,), here, status=error.status)


@router.get("/")
async def first() -> Response:
    """To the pages."""
    return RedirectResponse(quote(f"{ROOM}/"), 307)
