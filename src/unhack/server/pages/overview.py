"""The first page: counts, and the latest of everything."""

from __future__ import annotations

from unhack.server.pages import batches, training_runs
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.jobs import count_jobs, listed_jobs, no_jobs
from unhack.server.pages.rendering import render
from unhack.server.pages.run_folders import found_runs, may_see
from unhack.server.pages.view import View, page, page_router

router = page_router()
_LATEST = 5


@page(router, "/", name="overview")
def overview(view: View) -> PageContent:
    """The page."""
    figures = {
        "batches": f"{batches.count(view):,}",
        "audits": f"{count_jobs(view, 'audit'):,}",
        "tournaments": f"{count_jobs(view, 'tournament'):,}",
    }
    if may_see(view):
        figures["training runs"] = f"{len(found_runs(view, training_runs.KIND)):,}"
    lists = {
        "Latest batches": batches.latest(view, most=_LATEST),
        "Latest audits": listed_jobs(view, "audit", most=_LATEST) or no_jobs("audit"),
        "Latest tournaments": (
            listed_jobs(view, "tournament", most=_LATEST) or no_jobs("tournament")
        ),
        "Latest training runs": training_runs.latest(view, most=_LATEST),
    }
    html = render("overview.html", tenant=view.caller.tenant, figures=figures, lists=lists)
    return PageContent("Overview", (html,), f"{ROOM}/")
