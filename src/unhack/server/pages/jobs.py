"""The jobs of a tenant on pages: lists, and the head of one that has no result yet.

Covered: the progress of a job that runs in this server. Not covered: results as a whole; a list
asks the database for one word of each.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import sqlalchemy as sa
from markupsafe import Markup

from unhack.reporting.text import one_line
from unhack.server.database.schema import jobs
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.rendering import lasting, render
from unhack.server.pages.run_folders import found_runs
from unhack.server.pages.view import ROWS, View, not_there, pages_of

_TONES = {"done": "good", "failed": "bad", "cancelled": "grey"}
_CAME_TO = {"audit": ("conclusion",), "tournament": ("winner", "agent")}
"""By kind, the place in a result of the word that a list shows."""
RUN = "run"
"""The run folder in a job's folder."""


def listed_jobs(view: View, kind: str, *, most: int, skipped: int = 0) -> Markup:
    """A table of the tenant's jobs of a kind, the newest first; empty where there are none."""
    asked = (
        sa.select(
            jobs.c.id, jobs.c.state, jobs.c.request, jobs.c.created_at,
            jobs.c.started_at, jobs.c.finished_at, _word(view, *_CAME_TO[kind]).label("came_to"),
        )
        .where(jobs.c.tenant_id == view.caller.tenant_id, jobs.c.kind == kind)
        .order_by(jobs.c.created_at.desc(), jobs.c.id)
        .limit(most)
        .offset(skipped)
    )  # fmt: skip
    rows = [
        {**vars(row), "subject": _subject(row.request), "took": _took(row)}
        for row in view.rows(asked)
    ]
    return render("jobs.html", view=view, kind=kind, rows=rows, tones=_TONES) if rows else Markup()


def no_jobs(kind: str) -> Markup:
    """The text in place of a list of jobs, with what to do next."""
    return render("no_jobs.html", kind=kind)


def all_jobs(view: View, kind: str) -> PageContent:
    """The page of a kind: its jobs, and the operator's run folders."""
    listed = listed_jobs(view, kind, most=ROWS, skipped=(view.number - 1) * ROWS)
    folders = found_runs(view, kind)[:ROWS]
    lists: dict[str, Markup] = {}
    if listed or not folders:
        lists["Jobs"] = listed or no_jobs(kind)
    if folders:
        lists["Run folders"] = render("run_folders.html", view=view, kind=kind, runs=folders)
    pages = pages_of(view, count_jobs(view, kind)) if "Jobs" in lists else ""
    heading = f"{kind.capitalize()}s"
    html = render("list.html", heading=heading, lists=lists, pages=pages)
    return PageContent(heading, (html,), f"{ROOM}/{kind}s")


def count_jobs(view: View, kind: str) -> int:
    """The tenant's jobs of a kind."""
    asked = sa.select(sa.func.count()).where(
        jobs.c.tenant_id == view.caller.tenant_id, jobs.c.kind == kind
    )
    return int(view.service.database.scalar(asked))


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
    return view.service.jobs.folder_of(job.id, job.tenant_id) / RUN


def job_head(view: View, job: SimpleNamespace) -> Markup:
    """The state of a job that has no result to show."""
    return render(
        "job.html",
        job=job,
        figures=_progress(view, job),
        tone=_TONES.get(job.state, "unsure"),
        asked=_flat(job.request),
        source=source_of(job.request),
    )


def source_of(request: str) -> str:
    """The source of the reward that a request brought; empty where it brought none."""
    reward = _values(request).get("reward")
    return str(cast("dict[str, Any]", reward).get("source", "")) if reward else ""


def _progress(view: View, job: SimpleNamespace) -> dict[str, str]:
    """The figures of a job without a result."""
    if job.state != "running":
        took = _took(job)
        return {} if took is None else {"took": lasting(took)}
    figures = {"runs since": lasting(time.time() - (job.started_at or job.created_at))}
    now = view.service.jobs.progress(job.id)
    if now is not None:
        figures |= {"stage": now.stage, "done": f"{now.done:,} of {now.total:,}"}
        figures |= {"news": now.note} if now.note else {}
    return figures


def _word(view: View, *path: str) -> sa.ColumnElement[str]:
    """A text of a result. PostgreSQL reads no NUL and no lone surrogate: there, escapes become
    `/u0000`."""
    if view.service.database.engine.dialect.name == "sqlite":
        return sa.func.json_extract(jobs.c.result, "$." + ".".join(path))
    plain = sa.cast(sa.func.replace(jobs.c.result, "\\u", "/u"), sa.JSON)
    return sa.func.json_extract_path_text(plain, *path)


def _took(job: SimpleNamespace) -> float | None:
    return job.finished_at - job.started_at if job.finished_at and job.started_at else None


def _subject(request: str) -> str:
    """A few words of the thing that a request is about."""
    values = _flat(request)
    named = (values[name] for name in ("task", "contest", "reward entry") if values.get(name))
    return next(named, "a reward's source" if source_of(request) else "-")


def _flat(request: str) -> dict[str, str]:
    """Names and texts of what was asked for, without the source and the rows of a reward."""
    found = _values(request)
    reward = cast("dict[str, Any]", found.pop("reward", None) or {})
    rows = reward.get("rows")
    found |= {f"reward {name}": reward.get(name) for name in ("entry", "signature")}
    found["reward rows"] = f"{len(rows):,}" if rows else None
    return {
        name: one_line(_told(value), most=300)
        for name, value in found.items()
        if value not in (None, {}, [])
    }


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_told, cast("list[Any]", value)))
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return ", ".join(f"{name} {_told(each)}" for name, each in pairs)
    return value if isinstance(value, str) else json.dumps(value)


def _values(request: str) -> dict[str, Any]:
    try:
        values: Any = json.loads(request)
    except ValueError:
        return {}
    return cast("dict[str, Any]", values) if isinstance(values, dict) else {}
