"""Batches: all of a tenant's, and one with its groups, rewards, reasons and slowest items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace

import sqlalchemy as sa

from unhack.core.verdict import Status
from unhack.reporting.chart import Axis, Chart
from unhack.reporting.outcome import TONES, badge, status_badge
from unhack.reporting.page import card, figure, section, table, top
from unhack.reporting.text import one_line, safe
from unhack.server.database.schema import batches, items
from unhack.server.http.problems import RequestRefused
from unhack.server.pages.batch_figures import BINS, BatchFigures, FigureCache
from unhack.server.pages.frame import ROOM, PageContent
from unhack.server.pages.view import (
    ROWS,
    View,
    empty,
    lasting,
    moment,
    not_there,
    page_route,
    pages_of,
    short,
)
from unhack.server.scoring.batch_store import RECEIVING

_HERE = f"{ROOM}/batches"
_MOST_REASONS = 20
_LETTERS = 200
_HEADS = ("batch", "state", "by", "accepted (UTC)", "items", "groups of", "took")
_TONES = {"done": "good", "failed": "bad", "expired": "bad", "cancelled": "grey"}
_FIRST = (
    "<p><b>No batches yet.</b> Send completions to this server, and they are listed here: "
    "<code>POST /v1/batches</code>, or one URL changed in a trainer that calls a SandboxFusion or "
    "an OpenRLHF reward service.</p>"
)
_figures = FigureCache()


def latest(view: View, *, most: int, skipped: int = 0) -> str:
    """A table of the tenant's batches, the newest first; where there are none, what to do."""
    rows = view.rows(
        sa.select(batches)
        .where(*_told(view))
        .order_by(batches.c.created_at.desc(), batches.c.id)
        .limit(most)
        .offset(skipped)
    )
    if not rows:
        return empty(_FIRST)
    return card(table(_HEADS, [_row(view, row) for row in rows], words=(0, 1, 2, 3)))


def _row(view: View, row: SimpleNamespace) -> tuple[str, ...]:
    took = None if row.finished_at is None else row.finished_at - row.created_at
    return (
        view.link("batches", row.id, text=short(row.id)),
        badge(row.state, _TONES.get(row.state, "unsure")),
        safe(row.origin),
        moment(row.created_at),
        f"{row.count:,}",
        str(row.group_size or "-"),
        lasting(took),
    )


def count(view: View) -> int:
    """The tenant's batches."""
    asked = sa.select(sa.func.count()).where(*_told(view))
    return int(view.service.database.read(lambda c: c.execute(asked).scalar_one()))


def _told(view: View) -> tuple[sa.ColumnElement[bool], ...]:
    """The tenant's batches, but those that were not accepted: the API knows none of them."""
    return batches.c.tenant_id == view.caller.tenant_id, batches.c.state != RECEIVING


def all_batches(view: View) -> PageContent:
    """The list."""
    number = count(view)
    listed = latest(view, most=ROWS, skipped=(view.number - 1) * ROWS)
    parts = ("<h1>Batches</h1>", section("Newest first", listed), pages_of(view, number))
    return PageContent("Batches", parts, _HERE)


def batch_of(view: View) -> SimpleNamespace:
    """The row of the batch that the address names. Raises RequestRefused (404)."""
    wanted = view.given["batch"]
    rows = view.rows(sa.select(batches).where(*_told(view), batches.c.id == wanted))
    if not rows:
        raise not_there("batch", wanted)
    return rows[0]


def one_batch(view: View) -> PageContent:
    """One batch."""
    batch = batch_of(view)
    found = _figures.figures(view.service.database, batch)
    parts = (
        _summary(batch, found),
        _histogram(found),
        _statuses(view, batch, found),
        _reasons(found),
        _slowest(view, batch, found),
        _items(view, batch, found),
    )
    return PageContent(f"Batch {batch.id}", parts, _HERE)


def _summary(batch: SimpleNamespace, found: BatchFigures) -> str:
    scored = found.judged - found.statuses.get(Status.UNSCORED, 0)
    figures = {
        "items": f"{batch.count:,}",
        "judged": f"{found.judged:,}",
        "pass rate": _share(found.statuses.get(Status.PASSED, 0), scored),
        "mean reward": "-" if found.mean is None else f"{found.mean:.3f}",
    }
    why = f"Accepted {moment(batch.created_at)} UTC by <code>{safe(batch.origin)}</code>."
    if found.groups is not None:
        every = found.groups
        figures |= {
            "groups": f"{every.groups:,}",
            "all pass": _share(every.all_pass, every.groups),
            "all fail": _share(every.all_fail, every.groups),
        }
        same = _share(every.no_signal, every.groups)
        why += f" {same} of the groups of {batch.group_size} have equal rewards: they give a "
        why += "policy no gradient."
    if batch.error:
        why += f' <b class="bad">{safe(batch.error, most=_LETTERS)}</b>'
    took = "" if batch.finished_at is None else lasting(batch.finished_at - batch.created_at)
    if took:
        figures["took"] = took
    return top(
        f"Batch <code>{safe(batch.id)}</code>",
        why=why,
        figures=figures,
        word=str(batch.state).capitalize(),
        tone=_TONES.get(batch.state, "unsure"),
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _histogram(found: BatchFigures) -> str:
    if not sum(found.histogram):
        return ""
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
    return figure("Rewards", ["".join(charts)], note=note)


def _statuses(view: View, batch: SimpleNamespace, found: BatchFigures) -> str:
    rows = [
        (
            status_badge(status),
            view.link("batches", batch.id, text=f"{number:,}", status=status.value),
            _share(number, found.judged),
        )
        for status, number in ((each, found.statuses.get(each, 0)) for each in TONES)
        if number
    ]
    waiting = batch.count - found.judged
    ended = batch.finished_at is not None
    words = f"; the batch is {batch.state}." if ended else " yet; reload for news."
    note = f"{waiting:,} items have no verdict{words}" if waiting else ""
    if not rows:
        return section("Outcomes", empty(f"<p>{note or 'This batch has no items.'}</p>"))
    return section("Outcomes", card(table(("outcome", "items", "share"), rows), note=note))


def _reasons(found: BatchFigures) -> str:
    if not found.reasons:
        return ""
    rows = [
        (status_badge(status), safe(one_line(text or "-", most=_LETTERS)), f"{number:,}")
        for status, text, number in found.reasons[:_MOST_REASONS]
    ]
    left = len(found.reasons) - len(rows)
    note = f"{left:,} rarer reasons are left out." if left else ""
    heads = ("outcome", "reason", "items")
    return section("Why items did not pass", card(table(heads, rows, words=(0, 1)), note=note))


def _slowest(view: View, batch: SimpleNamespace, found: BatchFigures) -> str:
    if not any(slow.wall_s for slow in found.slowest):  # texts, which take none of a worker's
        return ""
    rows = [
        (
            _item_link(view, batch.id, slow.position),
            status_badge(slow.status),
            lasting(slow.wall_s),
        )
        for slow in found.slowest
    ]
    return section("Slowest items", card(table(("item", "outcome", "time"), rows, words=(0, 1))))


def _item_link(view: View, batch: str, position: int) -> str:
    return view.link("batches", batch, position, text=f"item {position}")


def _items(view: View, batch: SimpleNamespace, found: BatchFigures) -> str:
    wanted, number = _wanted(view), batch.count
    asked = sa.select(
        items.c.position, items.c.task, items.c.status, items.c.reward, items.c.judged_at
    ).where(items.c.batch_id == batch.id, items.c.tenant_id == view.caller.tenant_id)
    skipped = (view.number - 1) * ROWS
    if wanted is None:  # positions have no gaps: nothing is walked over
        asked = asked.where(items.c.position >= skipped)
    else:
        asked = asked.where(items.c.status == wanted.value).offset(skipped)
        number = found.statuses.get(wanted, 0)
    none = "waits" if batch.finished_at is None else "no verdict"
    listed = view.rows(asked.order_by(items.c.position).limit(ROWS))
    rows = [
        (
            _item_link(view, batch.id, row.position),
            f"<code>{safe(_task_name(row.task), most=80)}</code>",
            status_badge(Status(row.status)) if row.status else f'<span class="soft">{none}</span>',
            "-" if row.reward is None else f"{row.reward:.3g}",
        )
        for row in listed
    ]
    of = f" that are {wanted.value}" if wanted is not None else ""
    shown = table(("item", "task", "outcome", "reward"), rows, words=(0, 1, 2))
    body = card(shown) if rows else empty("<p>There are no such items.</p>")
    back = view.link("batches", batch.id, text="All items") if wanted is not None else ""
    return section(f"Items{of}", f"{back and f'<p>{back}</p>'}{body}{pages_of(view, number)}")


def _wanted(view: View) -> Status | None:
    text = view.query.get("status", "")
    if not text:
        return None
    valid: Mapping[str, Status] = {status.value: status for status in Status}
    if text not in valid:
        raise RequestRefused(400, "invalid", f"status: one of {', '.join(valid)}", field="status")
    return valid[text]


def _task_name(stored: str) -> str:
    """The name of a task as the API tells it."""
    named = json.loads(stored)
    return named if isinstance(named, str) else f"inline/{named['inline'][:12]}"


ROUTES = (
    page_route("/batches", all_batches, "The tenant's batches.", name="batches"),
    page_route("/batches/{batch}", one_batch, "One batch.", name="batch"),
)
