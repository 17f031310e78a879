"""The jobs of a tenant on pages: lists, and the head of one that has no result yet."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import sqlalchemy as sa

from unhack.reporting.outcome import facts
from unhack.reporting.page import card, section, table, top
from unhack.reporting.text import one_line, safe
from unhack.server.database.schema import jobs
from unhack.server.pages.run_folders import JOBS
from unhack.server.pages.view import View, lasting, moment, not_there, short

_HEADS = ("job", "state", "of", "asked for (UTC)", "took")
_TONES = {"done": "good", "failed": "bad", "cancelled": "grey"}
_LETTERS = 80


def listed_jobs(view: View, kind: str, *, most: int, skipped: int = 0) -> str:
    """A table of the tenant's jobs of a kind, the newest first; empty where there are none."""
    asked = (
        sa.select(
            jobs.c.id, jobs.c.state, jobs.c.request, jobs.c.created_at,
            jobs.c.started_at, jobs.c.finished_at,
        )
        .where(jobs.c.tenant_id == view.caller.tenant_id, jobs.c.kind == kind)
        .order_by(jobs.c.created_at.desc(), jobs.c.id)
        .limit(most)
        .offset(skipped)
    )  # fmt: skip
    rows = [_row(view, kind, row) for row in view.rows(asked)]
    return card(table(_HEADS, rows, words=(0, 1, 2, 3))) if rows else ""


def count_jobs(view: View, kind: str) -> int:
    """The tenant's jobs of a kind."""
    asked = sa.select(sa.func.count()).where(
        jobs.c.tenant_id == view.caller.tenant_id, jobs.c.kind == kind
    )
    return int(view.service.database.read(lambda c: c.execute(asked).scalar_one()))


def one_job(view: View, kind: str) -> SimpleNamespace:
    """The job that the address names. Raises RequestRefused (404)."""
    wanted = view.given["job"]
    rows = view.rows(
        sa.select(jobs).where(
            jobs.c.tenant_id == view.caller.tenant_id, jobs.c.kind == kind, jobs.c.id == wanted
        )
    )
    if not rows:
        raise not_there(kind, wanted)
    return rows[0]


def folder_of(view: View, job: SimpleNamespace) -> Path:
    """The run folder of a job, which may not be there yet."""
    return view.service.settings.data / JOBS / str(job.id) / "run"


def job_head(job: SimpleNamespace) -> str:
    """The state of a job that has no result to show."""
    words = {
        "queued": "It waits for its turn; reload this page.",
        "running": "It is at work; reload this page for news.",
        "cancelled": "It was cancelled.",
    }
    why = safe(job.error, most=1000) if job.error else words.get(job.state, "")
    figures = {"took": lasting(_took(job))}
    head = top(
        f"{str(job.kind).capitalize()} <code>{safe(job.id)}</code>",
        why=f"{why} Asked for {moment(job.created_at)} UTC.",
        figures=figures,
        word=str(job.state).capitalize(),
        tone=_TONES.get(job.state, "unsure"),
    )
    return head + section("What was asked for", card(facts(_flat(job.request))))


def _row(view: View, kind: str, row: SimpleNamespace) -> tuple[str, ...]:
    return (
        view.link(f"{kind}s", row.id, text=short(row.id)),
        safe(row.state),
        f"<code>{safe(_subject(row.request), most=_LETTERS)}</code>",
        moment(row.created_at),
        lasting(_took(row)),
    )


def _took(job: SimpleNamespace) -> float | None:
    return job.finished_at - job.started_at if job.finished_at and job.started_at else None


def _subject(request: str) -> str:
    """A few words of the thing that a request is about."""
    values = _flat(request)
    return next((values[name] for name in ("task", "contest", "entry") if values.get(name)), "-")


def _flat(request: str) -> dict[str, str]:
    try:
        values: Any = json.loads(request)
    except ValueError:
        return {}
    if not isinstance(values, dict):
        return {}
    found = cast("dict[str, Any]", values)
    return {
        name: one_line(value if isinstance(value, str) else json.dumps(value), most=300)
        for name, value in found.items()
        if value is not None
    }
