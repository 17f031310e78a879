"""Claims about jobs: stored first, bounded, each tenant's own, alive after a kill."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.database.database import Database
from unhack.server.http.job_models import TournamentOrder
from unhack.server.jobs.job_store import JobStore, NewJob
from unhack.server.service import Service

LONG = {"task": "strings/knit-rows", "seconds": 3000, "calls": 100_000}


def row(service: Service, request: Any, **more: Any) -> NewJob:
    return NewJob(1, "audit", json.dumps(request), "digest", **more)


@pytest.mark.sample
@pytest.mark.slow
def test_what_ran_at_a_kill_goes_on(
    service: Service, key: str, headers: Any, small_audit: Any
) -> None:
    with TestClient(make_app(service)) as client:
        told = client.post(
            "/v1/audits", json=small_audit | LONG | {"reward": None}, headers=headers
        )
        cut = client.post("/v1/audits", json=small_audit, headers=headers)
        job_id = cut.json()["id"]
        client.delete(f"/v1/jobs/{told.json()['id']}", headers=headers)
    again = Service(service.settings)
    # The state that a killed process leaves behind.
    statement = "UPDATE jobs SET state = 'running', result = NULL WHERE id = :id"
    again.database.write(lambda c: c.execute(sa.text(statement), {"id": job_id})).result()
    with TestClient(make_app(again)) as client:
        with client.stream("GET", f"/v1/jobs/{job_id}/events", headers=headers) as events:
            lines = [line for line in events.iter_lines() if line]
        assert lines[-2] == "event: end"
        assert json.loads(lines[-1].removeprefix("data: "))["state"] == "done"
        found = client.get(f"/v1/jobs/{told.json()['id']}", headers=headers).json()
        assert found["state"] == "cancelled"


def test_a_job_is_on_the_disk_before_it_is_acknowledged(service: Service, key: str) -> None:
    job_id = service.jobs.order(
        row(service, LONG), TournamentOrder(contest="kernels", agents=["null"])
    )
    other = Database(
        service.settings.database or f"sqlite:///{service.settings.data}/unhack.sqlite"
    )
    found = JobStore(other).find(job_id, 1)
    assert found is not None
    assert found["state"] == "queued"
    other.close()


@pytest.mark.slow
def test_the_same_key_is_the_same_job(client: TestClient, headers: Any) -> None:
    named = headers | {"Idempotency-Key": "one"}
    first, second = (client.post("/v1/audits", json=LONG, headers=named) for _ in range(2))
    assert first.json()["id"] == second.json()["id"]
    other = client.post("/v1/audits", json=LONG | {"seed": 1}, headers=named)
    assert (other.status_code, other.json()["error"]["code"]) == (422, "key_reused")
    assert len(client.get("/v1/jobs", headers=headers).json()["jobs"]) == 1
    client.delete(f"/v1/jobs/{first.json()['id']}", headers=headers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "body", "end"),
    [
        ("v1/audits", LONG, "/v1/jobs/"),
        ("v1/environments/strings/episodes", {"seed": 1}, "/v1/episodes/"),
    ],
)
def test_the_location_leads_there_below_any_prefix(
    client: TestClient, service: Service, path: str, body: Any, end: str
) -> None:
    key = service.directory.add_key("alpha", list(Grant))
    made = client.post(f"/k/{key}/{path}", json=body)
    where = made.headers["Location"]
    assert client.get(str(made.url.join(where))).json()["id"] == made.json()["id"]  # by the path
    behind = httpx.URL(f"https://proxy.example/team/judge/{path}").join(where)
    assert str(behind) == f"https://proxy.example/team/judge{end}{made.json()['id']}"
    client.delete(str(made.url.join(where)))


@pytest.mark.slow
def test_a_cancelled_job_stays_cancelled(client: TestClient, headers: Any) -> None:
    job_id = client.post("/v1/audits", json=LONG, headers=headers).json()["id"]
    for _ in range(2):
        told = client.delete(f"/v1/jobs/{job_id}", headers=headers)
        assert (told.status_code, told.json()["state"]) == (200, "cancelled")
    assert client.get(f"/v1/jobs/{job_id}/page", headers=headers).status_code == 404


@pytest.mark.slow
def test_another_tenants_job_is_unknown(client: TestClient, headers: Any, service: Service) -> None:
    job_id = client.post("/v1/audits", json=LONG, headers=headers).json()["id"]
    stranger = {"X-API-Key": service.directory.add_key("beta", list(Grant))}
    for method, rest in (("GET", ""), ("DELETE", ""), ("GET", "/events"), ("GET", "/page")):
        told = client.request(method, f"/v1/jobs/{job_id}{rest}", headers=stranger)
        unknown = client.request(method, f"/v1/jobs/{'0' * 32}{rest}", headers=stranger)
        assert told.status_code == unknown.status_code == 404
        assert told.json() == unknown.json()
    assert client.get("/v1/jobs", headers=stranger).json() == {"jobs": [], "more": False}
    assert client.get(f"/v1/jobs/{job_id}", headers=headers).json()["state"] != "cancelled"
    client.delete(f"/v1/jobs/{job_id}", headers=headers)


@pytest.mark.slow
def test_a_key_to_read_cancels_nothing(client: TestClient, headers: Any, service: Service) -> None:
    job_id = client.post("/v1/audits", json=LONG, headers=headers).json()["id"]
    reader = {"X-API-Key": service.directory.add_key("alpha", [Grant.READ])}
    assert client.get(f"/v1/jobs/{job_id}", headers=reader).status_code == 200
    assert client.delete(f"/v1/jobs/{job_id}", headers=reader).status_code == 403
    assert client.post("/v1/audits", json=LONG, headers=reader).status_code == 403
    client.delete(f"/v1/jobs/{job_id}", headers=headers)


def test_a_tenant_with_many_jobs_leaves_a_place_for_others(service: Service) -> None:
    for tenant in ("alpha", "beta"):
        service.directory.add_key(tenant, list(Grant))
    order = TournamentOrder(contest="kernels", agents=["null"])
    many = [service.jobs.order(row(service, LONG), order) for _ in range(3)]
    one = service.jobs.order(NewJob(2, "audit", "{}", "x"), order)
    taken = [service.jobs._take() for _ in range(4)]
    ids = [found[1].id for found in taken if found is not None]
    assert ids == [many[0], one]


def test_the_list_has_pages(client: TestClient, headers: Any, service: Service) -> None:
    order = TournamentOrder(contest="kernels", agents=["null"])
    service.jobs.close()
    made = [service.jobs.order(row(service, LONG), order) for _ in range(3)]
    first = client.get("/v1/jobs?limit=2", headers=headers).json()
    assert (len(first["jobs"]), first["more"]) == (2, True)
    before = first["jobs"][-1]["created_at"]
    rest = client.get(f"/v1/jobs?limit=2&before={before:.7f}", headers=headers).json()
    assert {one["id"] for one in (*first["jobs"], *rest["jobs"])} == set(made)
    assert rest["more"] is False


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=1.5", "limit=1000", "before=-1", "before=nan", "kind=x"]
)
def test_a_wrong_parameter_is_named(client: TestClient, headers: Any, query: str) -> None:
    told = client.get(f"/v1/jobs?{query}", headers=headers)
    assert told.status_code == 422
    assert told.json()["error"]["field"] == query.partition("=")[0]
