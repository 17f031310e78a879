"""Tournaments: those that ran as jobs, and the operator's run folders; one as it stands.

Covered: a tournament under way shows the rounds that are stored. Not covered: whether files of the
folder were changed since; `unhack tournament show` and `replay` check that.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from unhack.core.errors import UnhackError, UsageError
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.jobs import all_jobs, folder_of, job_head, one_job
from unhack.server.pages.run_folders import found_run
from unhack.server.pages.view import View, page, page_router
from unhack.store.ledger import Ledger
from unhack.tournament.record.archive import Archive
from unhack.tournament.record.records import TournamentRecord
from unhack.tournament.report.page import contents, title_of

router = page_router()
_HERE = f"{ROOM}/tournaments"
_KIND = "tournament"
_READ = TypeAdapter(TournamentRecord)


@page(router, "/tournaments", name="tournaments")
def all_tournaments(view: View) -> PageContent:
    """The list."""
    return all_jobs(view, _KIND)


@page(router, "/tournaments/{job}", name="tournament")
def one_tournament(view: View) -> PageContent:
    """A tournament that ran, or runs, as a job."""
    job = one_job(view, _KIND)
    if job.result is None:
        try:
            played = _shown(_stored(folder_of(view, job))).parts
        except UnhackError:  # its folder is not there yet
            played = ()
        shown = [f'<div class="next">{part}</div>' for part in played[:1]] + list(played[1:])
        return PageContent(f"Tournament {job.id}", (job_head(view, job), *shown), _HERE)
    values: dict[str, Any] = json.loads(job.result)
    values.pop("winner", None)  # it follows from the rest
    try:
        return _shown(_READ.validate_python(values))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise UsageError(f"the result of this job cannot be shown: {field}") from None


@page(router, "/tournament-runs/{run:path}", name="tournament")
def one_folder(view: View) -> PageContent:
    """A tournament in a run folder."""
    return _shown(_stored(found_run(view, _KIND).path))


def _stored(folder: Path) -> TournamentRecord:
    with Archive(Ledger(folder, read_only=True)) as archive:
        return archive.record()


def _shown(record: TournamentRecord) -> PageContent:
    return PageContent(title_of(record), tuple(contents(record)), _HERE)
