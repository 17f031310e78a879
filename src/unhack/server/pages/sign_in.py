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

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unhack.reporting.page import card
from unhack.reporting.text import safe
from unhack.server.access.caller import Grant
from unhack.server.guard import COOKIE
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.bodies import read_bytes
from unhack.server.http.problems import RequestRefused
from unhack.server.pages.frame import ROOM, PageContent, as_reply
from unhack.server.service import service_of

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


def check_own(request: Request) -> None:
    """Raises RequestRefused (403) for a form that a page of another site sent."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site is not None:  # the browser's own word, true also where a proxy changes Host
        own = site in ("none", "same-origin")
    else:
        own = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not own:
        raise RequestRefused(
            403, "foreign_form", "this form was sent by a page of another site; open this one anew"
        )


async def _show(request: Request) -> Response:
    return as_reply(_form(request.query_params.get("next", ""), status=200))


async def _sign_in(request: Request) -> Response:
    try:
        check_own(request)
        body = await read_bytes(request, most=_MOST_BYTES)
    except RequestRefused as error:
        return refusal(request, error)
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


async def _sign_out(request: Request) -> Response:
    try:
        check_own(request)
    except RequestRefused as error:
        return refusal(request, error)
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
    said = f'<p class="bad" role="alert">{safe(wrong)}</p>' if wrong else ""
    html = (
        f"<h1>Sign in</h1><p>These pages want a key with the scope <code>{Grant.READ.value}</code>."
        f'</p>{said}<form method="post" action="{ROOM}/login">'
        '<label for="key">Key</label>'
        '<input id="key" name="key" type="password" autocomplete="current-password" required '
        'spellcheck="false" maxlength="200">'
        f'<input type="hidden" name="next" value="{safe(_own(after))}">'
        "<button>Sign in</button></form>"
    )
    note = "The first start of <code>unhack serve</code> printed one; <code>unhack serve keys add"
    note += "</code> makes another. It stays in this browser for a week, or until you sign out."
    parts = (f'<div class="sign-in">{card(html, note=note)}</div>',)
    return PageContent("Sign in", parts, status=status)


def _said(error: RequestRefused, *, here: str) -> PageContent:
    back = f'<p class="block"><a href="{ROOM}/">To the overview</a></p>'
    again = f'<p class="block"><a href="{ROOM}/login">Sign in with another key</a></p>'
    text = safe(error.message[:1].upper() + error.message[1:])
    html = f"<h1>{error.status}</h1><p>{text}.</p>{back if here else again}"
    return PageContent(str(error.status), (card(html),), here, status=error.status)


async def _first(_: Request) -> Response:
    return RedirectResponse(quote(f"{ROOM}/"), 307)


ROUTES = (
    ApiRoute("GET", f"{ROOM}/login", _show, "The form for a key.", None,
             open=True, media="text/html", described=False),
    ApiRoute("POST", f"{ROOM}/login", _sign_in, "Take a key into a cookie.", None,
             open=True, media="text/html", status=303, described=False),
    ApiRoute("POST", f"{ROOM}/logout", _sign_out, "Forget the cookie.", None,
             open=True, media="text/html", status=303, described=False),
    ApiRoute("GET", "/", _first, "To the pages.", None,
             open=True, media="text/html", status=307, described=False),
)  # fmt: skip
