"""The figures of a batch, counted by the database: a page of 100,000 items reads none of them.

Covered: SQLite and PostgreSQL; a batch that is still being judged; figures of a finished batch are
counted once and kept, as they change no more.
Not covered: reasons beyond the most frequent ones, which are left out with their number.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace

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


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Groups whose completions are all judged and scored."""

    groups: int
    all_pass: int
    all_fail: int


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
        found = database.read(lambda c: count_batch(c, batch.id, group_size=batch.group_size))
        if batch.finished_at is not None:
            with self._lock:
                self._known[key] = found
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
        return found


def count_batch(
    connection: sa.Connection, batch_id: str, *, group_size: int | None
) -> BatchFigures:
    """The figures of a batch as they are now."""
    mine = items.c.batch_id == batch_id
    statuses = {
        Status(status): count
        for status, count in connection.execute(
            sa.select(items.c.status, sa.func.count())
            .where(mine, items.c.status.is_not(None))
            .group_by(items.c.status)
        )
    }
    place = sa.case(
        *((items.c.reward < (number + 1) / BINS, number) for number in range(BINS - 1)),
        else_=BINS - 1,
    )
    rows = connection.execute(
        sa.select(place, sa.func.count(), sa.func.sum(items.c.reward))
        .where(mine, items.c.reward.is_not(None))
        .group_by(place)
    ).all()
    bars = {number: count for number, count, _ in rows}
    scored = sum(bars.values())
    return BatchFigures(
        statuses=statuses,
        histogram=tuple(bars.get(number, 0) for number in range(BINS)),
        mean=sum(total for _, _, total in rows) / scored if scored else None,
        groups=_groups(connection, mine, group_size) if group_size else None,
        reasons=_reasons(connection, mine),
        slowest=_slowest(connection, mine),
    )


def _groups(connection: sa.Connection, mine: sa.ColumnElement[bool], size: int) -> GroupCounts:
    passed = sa.func.sum(sa.case((items.c.status == Status.PASSED.value, 1), else_=0))
    scored = sa.func.sum(
        sa.case(
            (items.c.status.is_(None), 0), (items.c.status == Status.UNSCORED.value, 0), else_=1
        )
    )
    number = sa.func.count()
    groups = (
        sa.select(passed.label("passed"), number.label("number"))
        .where(mine)
        .group_by((items.c.position - items.c.position % size) / size)
        .having(scored == number)
        .subquery()
    )
    found = connection.execute(
        sa.select(
            sa.func.count(),
            sa.func.sum(sa.case((groups.c.passed == groups.c.number, 1), else_=0)),
            sa.func.sum(sa.case((groups.c.passed == 0, 1), else_=0)),
        )
    ).one()
    return GroupCounts(*(int(value or 0) for value in found))


def _reasons(
    connection: sa.Connection, mine: sa.ColumnElement[bool]
) -> tuple[tuple[Status, str, int], ...]:
    reason = _text(connection, "reason")
    rows = connection.execute(
        sa.select(items.c.status, reason, sa.func.count())
        .where(mine, items.c.status.is_not(None), items.c.status != Status.PASSED.value)
        .group_by(items.c.status, reason)
        .order_by(sa.func.count().desc())
        .limit(_REASONS)
    )
    counts: Counter[tuple[str, str]] = Counter()
    for status, text, count in rows:
        counts[status, _CASE.sub("", text or "")] += count
    return tuple((Status(status), text, count) for (status, text), count in counts.most_common())


def _slowest(connection: sa.Connection, mine: sa.ColumnElement[bool]) -> tuple[SlowItem, ...]:
    seconds = _seconds(connection)
    rows = connection.execute(
        sa.select(items.c.position, items.c.status, seconds)
        .where(mine, items.c.status.is_not(None))
        .order_by(seconds.desc(), items.c.position)
        .limit(_SLOWEST)
    )
    return tuple(SlowItem(position, Status(status), wall_s) for position, status, wall_s in rows)


def _text(connection: sa.Connection, name: str) -> sa.ColumnElement[str]:
    if connection.dialect.name == "sqlite":
        return sa.func.json_extract(items.c.verdict, f"$.{name}")
    return sa.func.json_extract_path_text(sa.cast(items.c.verdict, sa.JSON), name)


def _seconds(connection: sa.Connection) -> sa.ColumnElement[float]:
    if connection.dialect.name == "sqlite":
        return sa.func.json_extract(items.c.verdict, "$.usage.wall_s", type_=sa.Float)
    found = sa.func.json_extract_path_text(sa.cast(items.c.verdict, sa.JSON), "usage", "wall_s")
    return sa.cast(found, sa.Float)
