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

from unhack.reporting.outcome import badge, facts
from unhack.reporting.page import card, section, table, top
from unhack.reporting.text import one_line, safe
from unhack.server.database.schema import jobs
from unhack.server.pages.view import View, as_sentence, lasting, moment, not_there, short

_HEADS = ("job", "state", "of", "came to", "asked for (UTC)", "took")
_TONES = {"done": "good", "failed": "bad", "cancelled": "grey"}
_LETTERS = 80
_CAME_TO = {"audit": ("conclusion",), "tournament": ("winner", "agent")}
"""By kind, the place in a result of the word that a list shows."""
RUN = "run"
"""The run folder in a job's folder."""


def listed_jobs(view: View, kind: str, *, most: int, skipped: int = 0) -> str:
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
    rows = [_row(view, kind, row) for row in view.rows(asked)]
    return card(table(_HEADS, rows, words=(0, 1, 2, 3, 4))) if rows else ""


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
    return view.service.jobs.folder_of(job.id, job.tenant_id) / RUN


def job_head(view: View, job: SimpleNamespace) -> str:
    """The state of a job that has no result to show."""
    words = {
        "queued": "It waits for its turn; reload this page.",
        "running": "It is at work; reload this page for news.",
        "cancelled": "It was cancelled.",
    }
    why = safe(as_sentence(job.error), most=1000) if job.error else words.get(job.state, "")
    figures = _progress(view, job)
    head = top(
        f"{str(job.kind).capitalize()} <code>{safe(job.id)}</code>",
        why=f"{why} Asked for {moment(job.created_at)} UTC.",
        figures=figures,
        word=str(job.state).capitalize(),
        tone=_TONES.get(job.state, "unsure"),
    )
    source = source_of(job.request)
    text = f'<p class="label block">source</p><pre>{safe(source)}</pre>' if source else ""
    return head + section("What was asked for", card(facts(_flat(job.request)) + text))


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


def _row(view: View, kind: str, row: SimpleNamespace) -> tuple[str, ...]:
    return (
        view.link(f"{kind}s", row.id, text=short(row.id)),
        badge(row.state, _TONES.get(row.state, "unsure")),
        f"<code>{safe(_subject(row.request), most=_LETTERS)}</code>",
        safe(row.came_to or "-", most=_LETTERS),
        moment(row.created_at),
        lasting(_took(row)),
    )


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
