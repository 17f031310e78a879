"""Batches: all of a tenant's, and one with its groups, rewards, reasons and slowest items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa
from markupsafe import Markup

from unhack.core.verdict import Status
from unhack.reporting.chart import Axis, Chart
from unhack.reporting.outcome import TONES
from unhack.reporting.page import figure
from unhack.server.database.schema import batches, items
from unhack.server.http.problems import invalid
from unhack.server.pages.batch_figures import BINS, BatchFigures, FigureCache
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.rendering import lasting, render, share
from unhack.server.pages.view import ROWS, View, not_there, page, page_router, pages_of
from unhack.server.scoring.batch_store import RECEIVING

router = page_router()
_HERE = f"{ROOM}/batches"
_MOST_REASONS = 20
_TONES = {"done": "good", "failed": "bad", "expired": "bad", "cancelled": "grey"}
_figures = FigureCache()


def latest(view: View, *, most: int, skipped: int = 0) -> Markup:
    """A table of the tenant's batches, the newest first; where there are none, what to do."""
    rows = view.rows(
        sa.select(batches)
        .where(*_told(view))
        .order_by(batches.c.created_at.desc(), batches.c.id)
        .limit(most)
        .offset(skipped)
    )
    return render("batch_list.html", view=view, rows=rows, tones=_TONES)


def count(view: View) -> int:
    """The tenant's batches."""
    asked = sa.select(sa.func.count()).where(*_told(view))
    return int(view.service.database.scalar(asked))


def _told(view: View) -> tuple[sa.ColumnElement[bool], ...]:
    """The tenant's batches, but those that were not accepted: the API knows none of them."""
    return batches.c.tenant_id == view.caller.tenant_id, batches.c.state != RECEIVING


@page(router, "/batches", name="batches")
def all_batches(view: View) -> PageContent:
    """The list."""
    number = count(view)
    listed = latest(view, most=ROWS, skipped=(view.number - 1) * ROWS)
    html = render(
        "list.html", heading="Batches", lists={"Newest first": listed}, pages=pages_of(view, number)
    )
    return PageContent("Batches", (html,), _HERE)


def batch_of(view: View) -> SimpleNamespace:
    """The row of the batch that the address names. Raises RequestRefused (404)."""
    wanted = view.given["batch"]
    rows = view.rows(sa.select(batches).where(*_told(view), batches.c.id == wanted))
    if not rows:
        raise not_there("batch", wanted)
    return rows[0]


@page(router, "/batches/{batch}", name="batch")
def one_batch(view: View) -> PageContent:
    """One batch."""
    batch = batch_of(view)
    found = _figures.figures(view.service.database, batch)
    wanted, waiting = _wanted(view), batch.count - found.judged
    ended = f"; the batch is {batch.state}." if batch.finished_at else " yet; reload for news."
    html = render(
        "batch.html",
        view=view,
        batch=batch,
        found=found,
        figures=_summary(batch, found),
        tone=_TONES.get(batch.state, "unsure"),
        histogram=_histogram(found),
        statuses=[(each, found.statuses[each]) for each in TONES if found.statuses.get(each)],
        waiting=f"{waiting:,} items have no verdict{ended}" if waiting else "",
        most_reasons=_MOST_REASONS,
        wanted=wanted,
        items=_items(view, batch, wanted),
        pages=pages_of(view, batch.count if wanted is None else found.statuses.get(wanted, 0)),
    )
    return PageContent(f"Batch {batch.id}", (html,), _HERE)


def _summary(batch: SimpleNamespace, found: BatchFigures) -> dict[str, str]:
    scored = found.judged - found.statuses.get(Status.UNSCORED, 0)
    figures = {
        "items": f"{batch.count:,}",
        "judged": f"{found.judged:,}",
        "pass rate": share(found.statuses.get(Status.PASSED, 0), scored),
        "mean reward": "-" if found.mean is None else f"{found.mean:.3f}",
    }
    if found.groups is not None:
        every = found.groups
        figures |= {
            "groups": f"{every.groups:,}",
            "all pass": share(every.all_pass, every.groups),
            "all fail": share(every.all_fail, every.groups),
        }
    if batch.finished_at is not None:
        figures["took"] = lasting(batch.finished_at - batch.created_at)
    return figures


def _histogram(found: BatchFigures) -> Markup:
    if not sum(found.histogram):
        return Markup()
    most = max(found.histogram)
    ticks = tuple(place / 5 for place in range(6))
    charts: list[str] = []
    for kind, width in (("wide-only", 860.0), ("narrow-only", 330.0)):
        chart = Chart(
            Axis(0.0, 1.0, "reward", ticks=ticks),
            Axis(0.0, 1.05 * most, "items", ticks=tuple({0.0, float(most // 2), float(most)})),
            "items by reward",
            size=(width, 240.0),
        )
        for place, number in enumerate(found.histogram):
            low, high = place / BINS, (place + 1) / BINS
            chart.bar((low, high), number, f"{low:g} to {high:g}: {number:,} items", kind="s0")
        charts.append(f'<div class="{kind}">{chart.svg()}</div>')
    note = "A reward of 1 is in the last bar. Unscored items have no reward."
    return Markup(figure("Rewards", ["".join(charts)], note=note))


def _items(view: View, batch: SimpleNamespace, wanted: Status | None) -> list[dict[str, Any]]:
    """The items of this part of the list."""
    asked = sa.select(
        items.c.position, items.c.task, items.c.status, items.c.reward, items.c.judged_at
    ).where(items.c.batch_id == batch.id, items.c.tenant_id == view.caller.tenant_id)
    skipped = (view.number - 1) * ROWS
    if wanted is None:  # positions have no gaps: nothing is walked over
        asked = asked.where(items.c.position >= skipped)
    else:
        asked = asked.where(items.c.status == wanted.value).offset(skipped)
    return [
        {
            "position": row.position,
            "task": _task_name(row.task),
            "status": Status(row.status) if row.status else None,
            "reward": row.reward,
        }
        for row in view.rows(asked.order_by(items.c.position).limit(ROWS))
    ]


def _wanted(view: View) -> Status | None:
    text = view.query.get("status", "")
    if not text:
        return None
    valid: Mapping[str, Status] = {status.value: status for status in Status}
    if text not in valid:
        raise invalid("status", f"one of {', '.join(valid)}", status=400)
    return valid[text]


def _task_name(stored: str) -> str:
    """The name of a task as the API tells it."""
    named = json.loads(stored)
    return named if isinstance(named, str) else f"inline/{named['inline'][:12]}"
