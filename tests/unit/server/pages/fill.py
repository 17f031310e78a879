"""Rows as the scoring routes store them, made from real verdicts."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from unhack.core.verdict import Verdict
from unhack.server.access.caller import Caller
from unhack.server.database.schema import batches, items, jobs
from unhack.server.scoring.outputs import outputs_text
from unhack.server.service import Service
from unhack.tournament.record.records import TournamentRecord
from unhack.verifiers.reward import reward_of


def caller_of(service: Service, key: str) -> Caller:
    """The owner of a key."""
    found = service.directory.caller(key)
    assert found is not None
    return found


def store_batch(
    service: Service,
    tenant_id: int,
    judged: Sequence[tuple[str, str, Verdict]],
    *,
    group_size: int | None = None,
) -> str:
    """The id of a finished batch of (task name, completion, verdict)."""
    batch_id, now = uuid.uuid4().hex, time.time()
    rows = [
        {
            "batch_id": batch_id,
            "position": position,
            "tenant_id": tenant_id,
            "judged_at": now,
            "status": verdict.status.value,
            "reward": reward_of(verdict),
            "task": json.dumps(task),
            "completion": completion,
            "verdict": json.dumps(verdict.to_json()),
            "outputs": outputs_text(verdict),
        }
        for position, (task, completion, verdict) in enumerate(judged)
    ]

    def write(connection: sa.Connection) -> None:
        connection.execute(
            sa.insert(batches).values(
                id=batch_id, tenant_id=tenant_id, origin="batches", state="done",
                group_size=group_size, count=len(rows), created_at=now - 2.5, finished_at=now,
            )
        )  # fmt: skip
        connection.execute(sa.insert(items), rows)

    service.database.write(write).result()
    return batch_id


def store_job(
    service: Service, tenant_id: int, kind: str, request: object, *, result: object = None
) -> str:
    """The id of a job, done where it has a result, else running."""
    job_id, now = uuid.uuid4().hex, time.time()
    row = {
        "id": job_id, "tenant_id": tenant_id, "kind": kind, "request": json.dumps(request),
        "state": "done" if result is not None else "running",
        "result": None if result is None else json.dumps(result),
        "created_at": now - 9, "started_at": now - 8,
        "finished_at": now if result is not None else None,
    }  # fmt: skip
    service.database.write(lambda c: c.execute(sa.insert(jobs).values(row))).result()
    return job_id


def tournament_result(record: TournamentRecord) -> dict[str, Any]:
    """A record as the job of a tournament stores it."""
    winner = record.winner
    plain: dict[str, Any] = TypeAdapter(TournamentRecord).dump_python(record, mode="json")
    return {**plain, "winner": None if winner is None else {"agent": winner.agent}}
