"""A disk that takes nothing is told by name, loses nothing that was accepted, and passes."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event
from starlette.testclient import TestClient
from tests.unit.server.requests import PLUS_ONE, RIGHT, bearer

from unhack.server.database import database
from unhack.server.service import Service

_PAGES = 64
"""Beyond those that the database has: 256 KiB."""


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_full_disk_is_507_and_not_ready_until_there_is_room(
    client: TestClient, service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = service.database.engine

    def be_small(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        held = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {held + _PAGES}")
        cursor.close()

    def post(size: int) -> Any:
        texts = [f"{RIGHT}#{number}{'x' * size}" for number in range(4)]
        body = {"task": PLUS_ONE, "completions": texts, "wait": False}
        return client.post("/v1/batches", json=body, headers=bearer(key))

    accepted = post(1).json()["id"]
    event.listen(engine, "connect", be_small)
    engine.dispose()
    replies = [post(60_000) for _ in range(4)]
    assert {reply.status_code for reply in replies} <= {202, 507}
    refused = replies[-1]
    assert (refused.status_code, refused.json()["error"]["code"]) == (507, "disk")
    assert int(refused.headers["retry-after"]) > 0
    asleep = client.get("/v1/ready")
    assert (asleep.status_code, asleep.json()["error"]["code"]) == (503, "disk")
    assert client.get("/v1/health").status_code == 200

    event.remove(engine, "connect", be_small)
    engine.dispose()
    monkeypatch.setattr(database, "_SOON_S", 0.0)  # the disk itself has room
    assert client.get("/v1/ready").status_code == 200
    assert post(1).status_code == 202
    found = client.get(f"/v1/batches/{accepted}", headers=bearer(key))
    assert found.status_code == 200
