"""The first page: counts, and the latest of everything."""

from __future__ import annotations

from unhack.reporting.page import section, top
from unhack.reporting.text import safe
from unhack.server.pages import batches, training_runs
from unhack.server.pages.audits import NO_AUDITS
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.jobs import count_jobs, listed_jobs
from unhack.server.pages.run_folders import found_runs, may_see
from unhack.server.pages.tournaments import NO_TOURNAMENTS
from unhack.server.pages.view import View, empty, page_route

_LATEST = 5


def overview(view: View) -> PageContent:
    """The page."""
    figures = {
        "batches": f"{batches.count(view):,}",
        "audits": f"{count_jobs(view, 'audit'):,}",
        "tournaments": f"{count_jobs(view, 'tournament'):,}",
    }
    if may_see(view):
        figures["training runs"] = f"{len(found_runs(view, training_runs.KIND)):,}"
    why = f"What the tenant <code>{safe(view.caller.tenant)}</code> sent to this server."
    audits = listed_jobs(view, "audit", most=_LATEST) or empty(NO_AUDITS)
    tournaments = listed_jobs(view, "tournament", most=_LATEST) or empty(NO_TOURNAMENTS)
    parts = (
        top("Overview", why=why, figures=figures),
        section("Latest batches", batches.latest(view, most=_LATEST)),
        section("Latest audits", audits),
        section("Latest tournaments", tournaments),
        section("Latest training runs", training_runs.latest(view, most=_LATEST)),
    )
    return PageContent("Overview", parts, f"{ROOM}/")


ROUTES = (page_route("/", overview, "The tenant's latest of everything.", name="overview"),)
