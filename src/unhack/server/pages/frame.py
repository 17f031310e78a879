"""The frame of every page: the way around, a policy that names what may run by its hash, and the
same page as one file.

Covered: no page loads anything; the one script, of live pages, is allowed by its hash, and so is
the style; a file made for keeping has no script, no form, and no link that leads into nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from starlette.responses import Response

from unhack.reporting.page import document, hash_of, stylesheet
from unhack.server.pages.rendering import render

ROOM = "/ui"
"""The path below which every page lies; the cookie goes nowhere else."""
PLACES: Mapping[str, str] = MappingProxyType(
    {
        f"{ROOM}/": "Overview",
        f"{ROOM}/batches": "Batches",
        f"{ROOM}/audits": "Audits",
        f"{ROOM}/tournaments": "Tournaments",
        f"{ROOM}/runs": "Training",
    }
)


@dataclass(frozen=True, slots=True)
class PageContent:
    """A page before it has its frame."""

    title: str
    parts: tuple[str, ...]
    """HTML."""
    here: str = ""
    """The place of `PLACES` that it belongs to; empty where nobody is signed in."""
    live: bool = False
    """True where the page's script follows a stream of events."""
    status: int = 200


def as_reply(page: PageContent, *, export: str = "") -> Response:
    """The page as a reply; `export` is the address of the same page as one file."""
    script = _script() if page.live else ""
    policy = _policy(live=page.live)
    text = document(
        f"{page.title} · unhack",
        page.parts,
        head=render("head.html", here=page.here, export=export, places=PLACES),
        foot=f"<script>{script}</script>\n" if script else "",
        policy=policy,
    )
    guarded = f"{policy}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    return Response(
        text.encode("utf-8", "backslashreplace"),
        page.status,
        {**_HEADERS, "Content-Security-Policy": guarded},
        "text/html",
    )


def as_file(page: PageContent, *, name: str) -> Response:
    """The page as one file that opens from a disk and asks for nothing."""
    text = document(f"{page.title} · unhack", page.parts, policy=_policy(live=False))
    headers = {
        **_HEADERS,
        "Content-Security-Policy": f"{_policy(live=False)}; sandbox",
        "Content-Disposition": f'attachment; filename="{name}.html"',
    }
    return Response(text.encode("utf-8", "backslashreplace"), 200, headers, "text/html")


_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


@cache
def _policy(*, live: bool) -> str:
    may = f"default-src 'none'; style-src {hash_of(stylesheet())}"
    return f"{may}; script-src {hash_of(_script())}; connect-src 'self'" if live else may


@cache
def _script() -> str:
    return files("unhack.server.pages").joinpath("live.js").read_text(encoding="utf-8")
