"""Every page of the server."""

from __future__ import annotations

from unhack.server.pages import (
    audits,
    batches,
    overview,
    run_events,
    sign_in,
    tournaments,
    training_runs,
    verdicts,
)

ROUTES = (
    *sign_in.ROUTES,
    *overview.ROUTES,
    *batches.ROUTES,
    *verdicts.ROUTES,
    *audits.ROUTES,
    *tournaments.ROUTES,
    *training_runs.ROUTES,
    *run_events.ROUTES,
)
