"""The figures of a batch, counted by the database: a page of 100,000 items reads none of them.

Covered: SQLite and PostgreSQL; a batch that is still being judged; figures of a finished batch are
counted once and kept, as they change no more.
Not covered: reasons beyond the most frequent ones, which are left out with their number;
a backslash before a `u` in a reason, which PostgreSQL's figures show as a slash.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa

from unhack.core.verdict import Status
from unhack.server.database.database import Database
from unhack.server.database.schema import items

BINS = 10
"""Bars of the histogram of rewards, from 0 to 1."""
_REASONS = 2000
"""Different reasons that are read; those of cases come together after that."""
_SLOWEST = 10
_KEPT = 256
"""Batches whose figures are kept."""
_CASE = re.compile(r"^case \d+ of \d+: ")
_ESCAPE = re.compile("/u([0-9a-f]{4})")


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Groups by how their rewards vary, as `core.group.GroupReport` has them. While a batch is
    judged, groups of which every item has its verdict; groups without a reward are left out."""

    groups: int
    all_pass: int
    """Groups in which every scored item has the full reward 1."""
    all_fail: int
    """Groups in which every scored item has reward 0."""
    no_signal: int
    """Groups without variance; the two above among them."""


@dataclass(frozen=True, slots=True)
class SlowItem:
    """One of the items that took longest."""

    position: int
    status: Status
    wall_s: float


@dataclass(frozen=True, slots=True)
class BatchFigures:
    """The counts of one batch."""

    statuses: Mapping[Status, int]
    histogram: tuple[int, ...]
    """Items by reward, `BINS` of them; a reward of 1 is in the last, one beyond at its end."""
    mean: float | None
    """Mean reward of what was scored."""
    groups: GroupCounts | None
    """None where the batch has no groups."""
    reasons: tuple[tuple[Status, str, int], ...]
    """Why items did not pass, the most frequent first."""
    slowest: tuple[SlowItem, ...]

    @property
    def judged(self) -> int:
        """Items that have a verdict."""
        return sum(self.statuses.values())


class FigureCache:
    """The figures of finished batches. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, BatchFigures] = OrderedDict()

    def figures(self, database: Database, batch: SimpleNamespace) -> BatchFigures:
        """The figures of a row of `batches`."""
        key = f"{database.engine.url}/{batch.id}"
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = database.read(
            lambda c: count_batch(
                c, batch.id, group_size=batch.group_size, ended=batch.finished_at is not None
            )
        )
        if batch.finished_at is not None:
            with self._lock:
                self._known[key] = found
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
        return found


def count_batch(
    connection: sa.Connection, batch_id: str, *, group_size: int | None, ended: bool
) -> BatchFigures:
    """The figures of a batch as they are now, in one walk through its items; groups that are not
    judged whole count where the batch has `ended`."""
    facts = _facts(connection, batch_id)
    asked = [_statuses(facts), _bars(facts), _reasons(facts), _slowest(facts)]
    if group_size:
        asked.append(_groups(facts, group_size, ended=ended))
    found: dict[str, list[tuple[Any, ...]]] = {}
    for kind, *values in connection.execute(sa.union_all(*asked)):
        found.setdefault(kind, []).append(tuple(values))
    bars = {
        int(number): (int(count), total) for _, _, number, count, total, _ in found.get("bar", ())
    }
    scored = sum(count for count, _ in bars.values())
    counts = [int(value or 0) for value in found["group"][0][2:]] if group_size else []
    slowest = sorted(found.get("slow", ()), key=lambda row: (-row[3], row[2]))
    return BatchFigures(
        statuses={Status(row[0]): int(row[2]) for row in found.get("status", ())},
        histogram=tuple(bars.get(number, (0, 0.0))[0] for number in range(BINS)),
        mean=sum(total for _, total in bars.values()) / scored if scored else None,
        groups=GroupCounts(*counts) if counts else None,
        reasons=_by_reason(_read_reasons(connection, found.get("reason", ()))),
        slowest=tuple(SlowItem(int(row[2]), Status(row[0]), row[3]) for row in slowest),
    )


def _read_reasons(
    connection: sa.Connection, rows: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[str, str, int]]:
    for status, stored, count, *_ in rows:
        text = str(json.loads(stored) or "")
        if connection.dialect.name != "sqlite":
            text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        yield status, text, int(count)


def _by_reason(rows: Iterable[tuple[str, str, int]]) -> tuple[tuple[Status, str, int], ...]:
    counts: Counter[tuple[str, str]] = Counter()
    for status, text, count in rows:
        counts[status, _CASE.sub("", text)] += count
    return tuple((Status(status), text, count) for (status, text), count in counts.most_common())


def _facts(connection: sa.Connection, batch_id: str) -> sa.CTE:
    """The judged items, narrow: the database goes through their texts once. A reason stays JSON,
    and for PostgreSQL, which reads no NUL and no lone surrogate, escapes become `/u0000`: valid
    JSON still, whatever stands before them."""
    number = items.c.position.label("position")
    if connection.dialect.name == "sqlite":
        reason = items.c.verdict.op("->")("$.reason")
        wall_s = sa.func.json_extract(items.c.verdict, "$.usage.wall_s")
    else:
        verdict = sa.cast(sa.func.replace(items.c.verdict, "\\u", "/u"), sa.JSON)
        reason = sa.cast(sa.func.json_extract_path(verdict, "reason"), sa.Text)
        wall_s = sa.func.json_extract_path_text(verdict, "usage", "wall_s")
    listed = sa.select(
        number,
        items.c.status,
        items.c.reward,
        reason.label("reason"),
        sa.cast(wall_s, sa.Float).label("wall_s"),
    ).where(items.c.batch_id == batch_id, items.c.status.is_not(None))
    return listed.cte("facts").prefix_with("MATERIALIZED")


def _row(
    kind: str,
    *values: sa.ColumnElement[Any],
    status: sa.ColumnElement[Any] | None = None,
    reason: sa.ColumnElement[Any] | None = None,
) -> sa.Select[*tuple[Any, ...]]:
    """One kind of rows of the answer: its name, a status, a reason and four numbers."""
    texts = [sa.cast(sa.null() if each is None else each, sa.Text) for each in (status, reason)]
    numbers = [sa.cast(each, sa.Float) for each in (*values, *[sa.null()] * (4 - len(values)))]
    named = (sa.literal(kind, sa.Text), *texts, *numbers)
    return sa.select(*(each.label(f"c{place}") for place, each in enumerate(named)))


def _statuses(facts: sa.CTE) -> sa.Select[*tuple[Any, ...]]:
    return _row("status", sa.func.count(), status=facts.c.status).group_by(facts.c.status)


def _bars(facts: sa.CTE) -> sa.Select[*tuple[Any, ...]]:
    bounds = [(facts.c.reward < (number + 1) / BINS, number) for number in range(BINS - 1)]
    binned = (
        sa.select(sa.case(*bounds, else_=BINS - 1).label("bar"), facts.c.reward)
        .where(facts.c.reward.is_not(None))
        .subquery()
    )
    summed = sa.func.sum(binned.c.reward)
    return _row("bar", binned.c.bar, sa.func.count(), summed).group_by(binned.c.bar)


def _groups(facts: sa.CTE, size: int, *, ended: bool) -> sa.Select[*tuple[Any, ...]]:
    """Groups with a reward; those alone of which every item is judged, unless the batch `ended`."""
    count, reward = sa.func.count(), facts.c.reward
    number = (facts.c.position - facts.c.position % size) / size
    groups = (
        sa.select(
            sa.func.count(reward).label("scored"),
            sa.func.min(reward).label("low"),
            sa.func.max(reward).label("high"),
        )
        .group_by(number)
        .having(sa.func.count(reward) > 0, *([] if ended else [count == size]))
        .subquery()
    )

    def those(*holds: sa.ColumnElement[bool]) -> sa.ColumnElement[Any]:
        return sa.func.sum(sa.case((sa.and_(*holds), 1), else_=0))

    same = sa.or_(groups.c.scored < 2, groups.c.low == groups.c.high)
    full, none = those(groups.c.low == 1.0), those(groups.c.high == 0.0)
    return _row("group", count, full, none, those(same)).select_from(groups)


def _reasons(facts: sa.CTE) -> sa.Select[*tuple[Any, ...]]:
    count = sa.func.count()
    counted = (
        sa.select(facts.c.status, facts.c.reason, count.label("number"))
        .where(facts.c.status != Status.PASSED.value)
        .group_by(facts.c.status, facts.c.reason)
        .order_by(count.desc())
        .limit(_REASONS)
        .subquery()
    )
    return _row("reason", counted.c.number, status=counted.c.status, reason=counted.c.reason)


def _slowest(facts: sa.CTE) -> sa.Select[*tuple[Any, ...]]:
    slow = (
        sa.select(facts.c.position, facts.c.status, facts.c.wall_s)
        .order_by(facts.c.wall_s.desc(), facts.c.position)
        .limit(_SLOWEST)
        .subquery()
    )
    return _row("slow", slow.c.position, slow.c.wall_s, status=slow.c.status)
