"""Claims about jobs while the database does not answer: none is lost, none is told wrongly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient
from tests.unit.server.conftest import Postgres

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.http.job_models import ENDED
from unhack.server.jobs import job_runner
from unhack.server.service import ServerSettings, Service

from .test_job_kill import TOURNAMENT

pytestmark = pytest.mark.slow


@pytest.mark.slow
def test_jobs_outlive_a_database_that_is_started_anew(
    own_postgres: Postgres, tmp_path: Path, small_audit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_runner, "_PAUSE_S", 0.2)
    service = Service(ServerSettings(data=tmp_path, database=own_postgres.url))
    headers = {"Authorization": f"Bearer {service.directory.add_key('alpha', list(Grant))}"}
    other = {"Authorization": f"Bearer {service.directory.add_key('beta', list(Grant))}"}
    with TestClient(make_app(service), raise_server_exceptions=False) as client:
        orders = [("audits", small_audit, headers), ("tournaments", TOURNAMENT, other)]
        orders.append(("audits", small_audit | {"seed": 5}, headers))  # waits
        finish, stopped = service.jobs.store.finish, threading.Event()
        unstored: dict[str, Any] = {}

        def finish_or_tell(job_id: str, **how: Any) -> bool:
            assert stopped.wait(240)
            try:
                return finish(job_id, **how)
            except Exception:
                unstored[job_id] = how["error"]
                raise

        monkeypatch.setattr(service.jobs.store, "finish", finish_or_tell)
        ids = [
            client.post(f"/v1/{kind}", json=body, headers=by).json()["id"]
            for kind, body, by in orders
        ]
        _until(lambda: len(service.jobs._work) == 2)
        own_postgres.stop()
        stopped.set()
        # What runs ends while nothing can be stored.
        _until(lambda: unstored.keys() >= set(ids[:2]))
        assert unstored == dict.fromkeys(ids[:2])
        assert all(_page(service, one).is_file() for one in ids[:2])
        told = client.get(f"/v1/jobs/{ids[0]}", headers=headers)
        assert (told.status_code, told.json()["error"]["code"]) == (503, "database")
        assert not _page(service, ids[2]).exists()
        stored_from = time.time()
        own_postgres.start()
        found = [_ended(client, one, by) for one, (_, _, by) in zip(ids, orders, strict=True)]
    assert [one["state"] for one in found] == ["done"] * 3, found
    assert all(one["result"] for one in found)
    assert all(one["finished_at"] < stored_from for one in found[:2])


@pytest.mark.slow
def test_a_claim_that_nobody_heard_of_is_taken_up(
    service: Service, key: str, headers: Any, small_audit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_runner, "_PAUSE_S", 0.1)
    claim, lost = service.jobs.store.claim, threading.Event()

    def claimed_and_lost(job_id: str) -> bool:
        stored = claim(job_id)
        if not lost.is_set():
            lost.set()
            raise sa.exc.OperationalError("COMMIT", None, Exception("the connection was lost"))
        return stored

    monkeypatch.setattr(service.jobs.store, "claim", claimed_and_lost)
    with TestClient(make_app(service)) as client:
        job_id = client.post("/v1/audits", json=small_audit, headers=headers).json()["id"]
        assert _ended(client, job_id, headers)["state"] == "done"
    assert lost.is_set()


def test_an_order_does_not_wait_for_a_thread_that_waits_for_the_database(
    service: Service, key: str, headers: Any, small_audit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued, asked, answers = service.jobs.store.queued, threading.Event(), threading.Event()

    def slow() -> list[sa.RowMapping]:
        asked.set()
        assert answers.wait(60)
        return queued()

    monkeypatch.setattr(service.jobs.store, "queued", slow)
    with TestClient(make_app(service)) as client:
        assert asked.wait(60)
        job_id = client.post("/v1/audits", json=small_audit, headers=headers).json()["id"]
        assert client.get(f"/v1/jobs/{job_id}", headers=headers).json()["state"] == "queued"
        answers.set()
        assert _ended(client, job_id, headers)["state"] == "done"


def _page(service: Service, job_id: str) -> Path:
    """Where a job leaves its page when it has its result."""
    [folder] = (service.settings.data / "jobs").glob(f"*/job-{job_id}")
    return folder / "page.html"


def _until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 240
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def _ended(client: TestClient, job_id: str, headers: dict[str, str]) -> dict[str, Any]:
    """The job once it has ended; a database that does not answer yet is asked again."""
    found: dict[str, Any] = {}

    def ended() -> bool:
        found.clear()
        found.update(client.get(f"/v1/jobs/{job_id}", headers=headers).json())
        return found.get("state") in ENDED

    _until(ended)
    return found
