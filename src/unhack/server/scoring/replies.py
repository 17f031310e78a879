"""The words of a batch: its lines as they come, its state, its rewards and advantages.

Verdicts are read from the database some at a time, so a batch of any size costs a bounded part of
the server's memory, however slowly its client reads.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from unhack.core import group as groups
from unhack.server.http.score_replies import BatchState
from unhack.server.scoring import batch_store
from unhack.server.scoring.batch_store import BatchStore, StoredVerdict
from unhack.server.scoring.scoring import ScoringService

_PAGE = 200
"""Verdicts that are read at a time."""
_MISSED = {
    batch_store.EXPIRED: "deadline",
    batch_store.CANCELLED: "cancelled",
    batch_store.FAILED: "failed",
}


def line_of(judged: StoredVerdict) -> str:
    """The NDJSON line of a verdict."""
    reward = json.dumps(judged.reward)
    return f'{{"index": {judged.position}, "reward": {reward}, "verdict": {judged.verdict}}}\n'


def state_of(row: sa.RowMapping, judged: int) -> dict[str, Any]:
    """A batch as lists show it. Times are seconds since 1970."""
    known = {**row, "judged": judged}
    return {name: known[name] for name in BatchState.model_fields}


def summary_of(store: BatchStore, row: sa.RowMapping) -> dict[str, Any]:
    """A batch with the rewards, advantages and groups of its items, in order.

    An item without a verdict has the reward null, and takes no part in its group.
    """
    outline = store.outline(row["id"])
    rewards = [reward for _, _, reward in outline]
    indices = group_indices([task for task, _, _ in outline], row["group_size"])
    found = groups.advantages(rewards, indices, estimator=row["estimator"])
    report = groups.group_report(rewards, indices)
    statuses = [status for _, status, _ in outline if status is not None]
    return {
        **state_of(row, len(statuses)),
        "statuses": {name: statuses.count(name) for name in sorted(set(statuses))},
        "rewards": rewards,
        "estimator": row["estimator"],
        "advantages": found.values,
        "mask": found.mask,
        "groups": report.groups,
        "all_pass": report.all_pass,
        "all_fail": report.all_fail,
        "no_signal": report.no_signal,
        "mean_reward": report.mean_reward,
    }


def group_indices(tasks: list[str], group_size: int | None) -> list[list[int]]:
    """Index lists: runs of `group_size`, else runs of one task."""
    if group_size is not None:
        starts = range(0, len(tasks), group_size)
        return [list(range(start, start + group_size)) for start in starts]
    runs = groupby(range(len(tasks)), key=tasks.__getitem__)
    return [list(indices) for _, indices in runs]


async def stored_lines(store: BatchStore, batch_id: str) -> AsyncGenerator[str]:
    """The lines of the verdicts that are there, in order."""
    after = -1
    while True:
        page = await asyncio.to_thread(store.judged, batch_id, after, _PAGE)
        if not page:
            return
        yield "".join(map(line_of, page))
        after = page[-1].position


async def lines_until_end(
    scoring: ScoringService, tenant_id: int, batch_id: str
) -> AsyncGenerator[str]:
    """Every verdict once, as it comes; a line for each item that has none; a summary.

    A server that ends before the batch does says so in an `error` line instead of a summary.
    """
    store, run = scoring.store, scoring.run_of(batch_id)
    queue = run.watch() if run else None
    told: set[int] = set()
    try:
        after = -1
        while page := await asyncio.to_thread(store.judged, batch_id, after, _PAGE):
            yield "".join(map(line_of, page))
            told.update(each.position for each in page)
            after = page[-1].position
        while queue is not None:
            positions, more = await _next_positions(queue)
            fresh = [position for position in positions if position not in told]
            if fresh:
                found = await asyncio.to_thread(store.judged_at, batch_id, fresh)
                yield "".join(map(line_of, found))
                told.update(fresh)
            if not more:
                break
    finally:
        if run is not None and queue is not None:
            run.unwatch(queue)
    row = await asyncio.to_thread(store.find, tenant_id, batch_id)
    assert row is not None
    if row["state"] == batch_store.ACCEPTED:
        message = f"the server ends; batch {batch_id} goes on at its next start"
        yield json.dumps({"error": {"code": "draining", "message": message}}) + "\n"
        return
    for position in range(row["count"]):
        if position not in told:
            missed = _MISSED.get(row["state"], row["state"])
            line = {"index": position, "reward": None, "verdict": None, "missed": missed}
            yield json.dumps(line) + "\n"
    yield json.dumps({"summary": await asyncio.to_thread(summary_of, store, row)}) + "\n"


async def whole(store: BatchStore, row: sa.RowMapping) -> AsyncGenerator[str]:
    """One JSON object: the summary, and the verdicts in order under `verdicts`."""
    summary = await asyncio.to_thread(summary_of, store, row)
    yield json.dumps(summary)[:-1] + ', "verdicts": ['
    begun = False
    async for lines in stored_lines(store, row["id"]):
        yield (", " if begun else "") + lines.rstrip("\n").replace("\n", ", ")
        begun = True
    yield "]}"


async def _next_positions(queue: asyncio.Queue[int | None]) -> tuple[list[int], bool]:
    """All positions that are there by now, at least one unless it is the end; False at the end."""
    found = await queue.get()
    positions: list[int] = []
    while found is not None:
        positions.append(found)
        if queue.empty() or len(positions) == _PAGE:
            return positions, True
        found = queue.get_nowait()
    return positions, False
