"""Batches, items and verdicts in the database. Every question of a client names its tenant."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, cast

import sqlalchemy as sa

from unhack.core.verdict import Verdict
from unhack.server.database.database import Database
from unhack.server.database.schema import batches, inline_tasks, items
from unhack.server.scoring.outputs import outputs_text
from unhack.verifiers.reward import reward_of

RECEIVING, ACCEPTED, DONE = "receiving", "accepted", "done"
EXPIRED, FAILED, CANCELLED = "expired", "failed", "cancelled"
_AT_ONCE = 1000
"""Items of one write: other writers wait for no more."""


@dataclass(frozen=True, slots=True)
class NewBatch:
    """A batch as it is accepted."""

    id: str
    tenant_id: int
    origin: str
    count: int
    group_size: int | None = None
    estimator: str = "grpo"
    deadline_at: float | None = None
    """Seconds since 1970."""
    idempotency_key: str | None = None
    body_digest: str | None = None
    created_at: float = 0.0


@dataclass(frozen=True, slots=True)
class NewItem:
    """One completion with its task as the database names it."""

    task: str
    completion: str


@dataclass(frozen=True, slots=True)
class Pending:
    """An item without a verdict."""

    position: int
    task: str
    completion: str
    twins: tuple[int, ...] = ()
    """Later positions with the same task and the same completion: its verdict is theirs."""


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """The verdict of an item, as JSON text."""

    position: int
    verdict: str
    reward: float | None


class BatchStore:
    """The queries of scoring."""

    def __init__(self, database: Database, *, outputs: bool = True) -> None:
        """`outputs` says whether outputs of cases are kept."""
        self._database = database
        self._outputs = outputs

    def accept(self, batch: NewBatch, listed: Sequence[NewItem]) -> Future[bool]:
        """Store a batch with its items; True when all of it is stored, and so accepted.

        A batch of many items comes in several writes, and is `receiving` until the last.
        """
        fields = _fields(batch)
        firsts: dict[tuple[str, str], int] = {}
        same = [firsts.setdefault((one.task, one.completion), at) for at, one in enumerate(listed)]

        def first(connection: sa.Connection) -> None:
            if batch.idempotency_key is not None:  # of an attempt that could not be stored
                lost = batches.c.idempotency_key == batch.idempotency_key
                _forget(connection, lost, batches.c.tenant_id == batch.tenant_id)
            connection.execute(sa.insert(batches), {**fields, "state": RECEIVING})

        self._database.write(first)
        for start in range(0, len(listed), _AT_ONCE):
            rows = [
                {
                    "batch_id": batch.id,
                    "position": position,
                    "tenant_id": batch.tenant_id,
                    "task": listed[position].task,
                    "completion": listed[position].completion,
                    "same_as": None if same[position] == position else same[position],
                }
                for position in range(start, min(start + _AT_ONCE, len(listed)))
            ]
            self._database.execute(sa.insert(items), rows)

        def last(connection: sa.Connection) -> bool:
            asked = sa.select(sa.func.count()).where(items.c.batch_id == batch.id)
            if connection.execute(asked).scalar() != batch.count:
                _forget(connection, batches.c.id == batch.id)
                return False
            found = connection.execute(
                sa.update(batches).where(batches.c.id == batch.id).values(state=ACCEPTED)
            )
            return found.rowcount == 1

        return self._database.write(last)

    @property
    def disk_error(self) -> Exception | None:
        """The error of a disk that takes nothing."""
        return self._database.disk_error

    def accept_judged(self, batch: NewBatch, item: NewItem, verdict: Verdict) -> Future[None]:
        """Store a batch of one together with its verdict."""
        fields = _fields(batch)
        row = {**self._judged_fields(verdict), "task": item.task, "completion": item.completion}

        def store(connection: sa.Connection) -> None:
            now = time.time()
            connection.execute(sa.insert(batches), {**fields, "state": DONE, "finished_at": now})
            connection.execute(
                sa.insert(items),
                {"batch_id": batch.id, "position": 0, "tenant_id": batch.tenant_id, **row},
            )

        return self._database.write(store)

    def record(self, batch_id: str, positions: Sequence[int], verdict: Verdict) -> Future[int]:
        """Store the verdict of an item and of its twins, unless they have one."""
        fields = {f"new_{k}": v for k, v in self._judged_fields(verdict).items()}
        rows = [{**fields, "b": batch_id, "p": position} for position in positions]
        return self._database.execute(_RECORD, rows)

    def _judged_fields(self, verdict: Verdict) -> dict[str, Any]:
        return {
            "judged_at": time.time(),
            "status": verdict.status.value,
            "reward": reward_of(verdict),
            "verdict": verdict_text(verdict),
            "outputs": outputs_text(verdict) if self._outputs else None,
        }

    def finish(self, batch_id: str, state: str, error: str | None = None) -> Future[int]:
        """Store the end of an accepted batch."""
        return self._database.execute(
            sa.update(batches)
            .where(batches.c.id == batch_id, batches.c.state == ACCEPTED)
            .values(state=state, error=error, finished_at=time.time())
        )

    def keep_task(self, tenant_id: int, digest: str, body: str) -> Future[None]:
        """Store a task that came with a request, once, and that it is used now."""

        def store(connection: sa.Connection) -> None:
            now = time.time()
            used = connection.execute(
                sa.update(inline_tasks)
                .where(inline_tasks.c.tenant_id == tenant_id, inline_tasks.c.digest == digest)
                .values(used_at=now)
            )
            if not used.rowcount:
                row = {"tenant_id": tenant_id, "digest": digest, "body": body, "used_at": now}
                connection.execute(sa.insert(inline_tasks).values(row))

        return self._database.write(store)

    def task_body(self, tenant_id: int, digest: str) -> str | None:
        """The JSON of a task that came with a request."""
        asked = sa.select(inline_tasks.c.body).where(
            inline_tasks.c.tenant_id == tenant_id, inline_tasks.c.digest == digest
        )
        return self._database.scalar(asked)

    def drop_unaccepted(self) -> None:
        """Forget batches that a server did not live to accept: nobody was told of them."""

        self._database.write(_forget).result()

    def unfinished(self) -> list[tuple[NewBatch, int]]:
        """Accepted batches, oldest first, each with the number of its items without a verdict."""
        left = (
            sa.select(sa.func.count())
            .where(items.c.batch_id == batches.c.id, items.c.status.is_(None))
            .scalar_subquery()
        )
        asked = sa.select(batches, left.label("left")).where(batches.c.state == ACCEPTED)
        rows = self._database.rows(asked.order_by(batches.c.created_at))
        return [(_batch(row), row["left"]) for row in rows]

    def pending(self, batch_id: str, after: int, most: int) -> list[Pending]:
        """The next items without a verdict, behind the position `after`."""
        asked = (
            sa.select(items.c.position, items.c.task, items.c.completion)
            .where(items.c.batch_id == batch_id, items.c.position > after)
            .where(items.c.status.is_(None), items.c.same_as.is_(None))
            .order_by(items.c.position)
            .limit(most)
        )
        twins: dict[int, list[int]] = {}

        def read(connection: sa.Connection) -> Sequence[Any]:
            rows = connection.execute(asked).all()
            same = sa.select(items.c.same_as, items.c.position).where(
                items.c.batch_id == batch_id, items.c.same_as.in_([row.position for row in rows])
            )
            for first, position in connection.execute(same).all() if rows else ():
                twins.setdefault(first or 0, []).append(position)
            return rows

        return [
            Pending(row.position, row.task, row.completion, tuple(twins.get(row.position, ())))
            for row in self._database.read(read)
        ]

    def judged(self, batch_id: str, after: int, most: int) -> list[StoredVerdict]:
        """The next items with a verdict, behind the position `after`, in order."""
        asked = _JUDGED.where(items.c.batch_id == batch_id, items.c.position > after)
        asked = asked.where(items.c.status.is_not(None)).order_by(items.c.position).limit(most)
        return self._read_judged(asked)

    def judged_at(self, batch_id: str, positions: Sequence[int]) -> list[StoredVerdict]:
        """The verdicts of these positions."""
        return self._read_judged(
            _JUDGED.where(items.c.batch_id == batch_id, items.c.position.in_(positions))
        )

    def _read_judged(self, asked: sa.Select[int, str, float | None]) -> list[StoredVerdict]:
        return [StoredVerdict(**row) for row in self._database.rows(asked)]

    def find(self, tenant_id: int, batch_id: str) -> sa.RowMapping | None:
        """The row of a tenant's batch; None for an unknown id and for another's."""
        return self._accepted(tenant_id, batches.c.id == batch_id)

    def find_item(self, batch_id: str, position: int) -> sa.RowMapping | None:
        """An item of a batch."""
        asked = sa.select(items).where(items.c.batch_id == batch_id, items.c.position == position)
        return self._database.row(asked)

    def find_by_key(self, tenant_id: int, key: str) -> sa.RowMapping | None:
        """The row of the batch that a tenant sent with this idempotency key."""
        return self._accepted(tenant_id, batches.c.idempotency_key == key)

    def _accepted(self, tenant_id: int, which: sa.ColumnElement[bool]) -> sa.RowMapping | None:
        return self._database.row(
            sa.select(batches).where(
                which, batches.c.tenant_id == tenant_id, batches.c.state != RECEIVING
            )
        )

    def listed(
        self, tenant_id: int, *, before: float | None, most: int
    ) -> list[tuple[sa.RowMapping, int]]:
        """A tenant's batches, newest first, each with the number of its verdicts."""
        count = (
            sa.select(sa.func.count())
            .where(items.c.batch_id == batches.c.id, items.c.status.is_not(None))
            .scalar_subquery()
        )
        asked = sa.select(batches, count.label("judged")).where(
            batches.c.tenant_id == tenant_id, batches.c.state != RECEIVING
        )
        if before is not None:
            asked = asked.where(batches.c.created_at < before)
        asked = asked.order_by(batches.c.created_at.desc(), batches.c.id).limit(most)
        return [(row, row["judged"]) for row in self._database.rows(asked)]

    def count_judged(self, batch_id: str) -> int:
        """The number of items with a verdict."""
        asked = sa.select(sa.func.count()).where(
            items.c.batch_id == batch_id, items.c.status.is_not(None)
        )
        return self._database.scalar(asked)

    def outline(self, batch_id: str) -> list[tuple[str, str | None, float | None]]:
        """(task, status, reward) of every item, in order."""
        asked = (
            sa.select(items.c.task, items.c.status, items.c.reward)
            .where(items.c.batch_id == batch_id)
            .order_by(items.c.position)
        )
        rows = self._database.rows(asked)
        return [(row["task"], row["status"], row["reward"]) for row in rows]


_JUDGED = sa.select(items.c.position, items.c.verdict, items.c.reward)
_RECORD = (
    sa.update(items)
    .where(items.c.batch_id == sa.bindparam("b"), items.c.position == sa.bindparam("p"))
    .where(items.c.status.is_(None))
    .values(
        {
            name: sa.bindparam(f"new_{name}")
            for name in ("judged_at", "status", "reward", "verdict", "outputs")
        }
    )
)


def _forget(connection: sa.Connection, *which: sa.ColumnElement[bool]) -> None:
    """Delete batches that are not accepted, with their items."""
    lost = sa.select(batches.c.id).where(batches.c.state == RECEIVING, *which)
    connection.execute(sa.delete(items).where(items.c.batch_id.in_(lost)))
    connection.execute(sa.delete(batches).where(batches.c.state == RECEIVING, *which))


def _fields(batch: NewBatch) -> dict[str, Any]:
    made = replace(batch, created_at=batch.created_at or time.time())
    return {name: getattr(made, name) for name in NewBatch.__slots__}


def _batch(row: sa.RowMapping) -> NewBatch:
    return NewBatch(**{name: row[name] for name in NewBatch.__slots__})


def verdict_text(verdict: Verdict) -> str:
    """The JSON of a verdict, in ASCII. Figures in `details` that JSON lacks become texts."""
    value = verdict.to_json()
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[Any, Any]", value)
        return {str(key): _finite(each) for key, each in fields.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in cast("list[Any]", value)]
    if isinstance(value, float) and value - value != 0:
        return repr(value)
    return value
