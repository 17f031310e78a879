"""Claims about a server that is killed: what it accepted is judged, rightly and once."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa

from unhack.server.database.schema import items

from .processes import serving
from .requests import BOTH, FOUR, PLUS_ONE, RIGHT, WRONG, answers

_KILLS = 3
_BATCHES = 4
_COUNT = 150


@pytest.mark.slow
@pytest.mark.parametrize("database", BOTH, indirect=True)
def test_accepted_batches_survive_kill_9(tmp_path: Path, database: str | None) -> None:
    """Each server is killed in the middle; the last one ends every batch, each verdict right, and
    no verdict that was stored is judged again."""
    data, more = tmp_path / "data", ["--database", database] if database else []
    url = database or f"sqlite:///{data / 'unhack.sqlite'}"
    programs = [f"# {n}\n{RIGHT if n % 3 else WRONG}" for n in range(_COUNT)]
    batches: dict[str, list[float]] = {}
    key = ""
    stored: dict[tuple[str, int], float] = {}
    for _ in range(_KILLS):
        with serving(data, *more) as server:
            key = key or server.key
            with server.client(key) as client:
                for _ in range(_BATCHES):
                    body = {"task": PLUS_ONE, "completions": programs, "wait": False}
                    reply = client.post("/v1/batches", json=body)
                    assert reply.status_code == 202, reply.text
                    expected = [float(n % 3 > 0) for n in range(_COUNT)]
                    batches[reply.json()["id"]] = expected
                texts = {"task": FOUR, "completions": answers(_COUNT), "wait": False}
                made = client.post("/v1/batches", json=texts).json()["id"]
                batches[made] = [float(n % 2) for n in range(_COUNT)]
                time.sleep(0.3)
                server.kill()
        stored |= _same(stored, _judged(url))
    left = len(batches) * _COUNT - len(stored)
    assert left > 0, "every batch had ended before the kills: nothing was tested"
    with serving(data, *more) as server, server.client(key) as client:
        until = time.monotonic() + 300
        while any(
            client.get(f"/v1/batches/{name}").json()["state"] == "accepted" for name in batches
        ):
            assert time.monotonic() < until
            time.sleep(0.2)
        for name, rewards in batches.items():
            found = client.get(f"/v1/batches/{name}").json()
            assert (found["state"], found["rewards"]) == ("done", rewards)
            lines = client.get(f"/v1/batches/{name}/verdicts").text.splitlines()
            assert len(lines) == _COUNT
    final = _same(stored, _judged(url))
    counted = Counter(name for name, _ in final)
    assert counted == dict.fromkeys(batches, _COUNT)


def _judged(url: str) -> dict[tuple[str, int], float]:
    """When each stored verdict was stored."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    asked = sa.select(items.c.batch_id, items.c.position, items.c.judged_at)
    with engine.connect() as connection:
        rows = connection.execute(asked.where(items.c.status.is_not(None))).all()
    engine.dispose()
    return {(row.batch_id, row.position): row.judged_at for row in rows}


def _same(
    before: dict[tuple[str, int], float], after: dict[tuple[str, int], float]
) -> dict[tuple[str, int], float]:
    """`after`, which must hold all of `before` unchanged."""
    assert before.items() <= after.items()
    return after
