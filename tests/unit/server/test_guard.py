"""Claims about keys: who comes in, and by which door."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.app import ROUTES, make_app
from unhack.server.http.api_route import ApiRoute
from unhack.server.service import ServerSettings, Service, make_service

from .requests import BOTH, ENDLESS, FOUR, PLUS_ONE, answers, bearer


def test_health_wants_no_key(client: TestClient) -> None:
    assert client.get("/v1/health").json() == {"status": "ok"}


def test_a_key_in_the_path_is_cut_out_of_it(client: TestClient, key: str) -> None:
    assert client.get(f"/k/{key}/v1/health").status_code == 200


def test_an_unknown_path_says_so_as_a_value(client: TestClient) -> None:
    reply = client.get("/v1/nothing")
    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("database", BOTH, indirect=True)
def test_a_tenant_sees_nothing_of_another_at_any_route(
    client: TestClient, service: Service, key: str, other_key: str
) -> None:
    """By enumeration: every route with ids of `alpha`, asked by `beta`, answers as for ids that
    nobody has."""
    body = {"task": PLUS_ONE, "completions": [ENDLESS], "wait": False}
    batch = client.post("/v1/batches", json=body, headers=bearer(key)).json()["id"]
    mine = [batch]
    owned = [route for route in ROUTES if "_id}" in route.path and "task_id" not in route.path]
    assert owned
    for route in owned:
        for value in mine:
            theirs = _ask(client, route, value, other_key)
            nobodys = _ask(client, route, "0" * 32, other_key)
            assert theirs == nobodys, route.path
            assert theirs[0] == 404
    for route in ROUTES:
        if "{" not in route.path and route.method == "GET" and not route.open:
            found = client.get(route.path, headers=bearer(other_key))
            assert not any(value in found.text for value in [*mine, "alpha"]), route.path
    assert client.get(f"/v1/batches/{batch}", headers=bearer(key)).json()["state"] == "accepted"
    client.delete(f"/v1/batches/{batch}", headers=bearer(key))


def _ask(client: TestClient, route: ApiRoute, value: str, key: str) -> tuple[int, str]:
    path = "/".join(value if part.startswith("{") else part for part in route.path.split("/"))
    sent = {"json": {}} if route.body else {}
    reply = client.request(route.method, path, headers=bearer(key), **sent)
    return reply.status_code, reply.text.replace(value, "ID")


def test_a_revoked_key_opens_nothing(client: TestClient, service: Service, key: str) -> None:
    assert client.get("/v1/tasks", headers=bearer(key)).status_code == 200
    service.directory.revoke(key.split("_")[1])
    until = time.monotonic() + 60
    while client.get("/v1/tasks", headers=bearer(key)).status_code != 401:
        assert time.monotonic() < until
        time.sleep(0.2)


def test_a_tenant_above_its_limits_is_told_when_to_come_again(tmp_path: Path) -> None:
    settings = ServerSettings(data=tmp_path, tenant_items=3, tenant_requests=6)
    service = make_service(settings)
    keys = [service.directory.add_key(name, list(Grant)) for name in ("alpha", "beta")]
    with TestClient(make_app(service)) as client:
        slow = {"task": PLUS_ONE, "completions": [ENDLESS] * 2, "wait": False}
        assert client.post("/v1/batches", json=slow, headers=bearer(keys[0])).status_code == 202
        more = client.post("/v1/batches", json=slow, headers=bearer(keys[0]))
        assert (more.status_code, more.headers["retry-after"]) == (429, "2")
        assert client.post("/v1/batches", json=slow, headers=bearer(keys[1])).status_code == 202
        never = client.post(
            "/v1/batches", json={**slow, "completions": answers(4)}, headers=bearer(keys[0])
        )
        assert (never.status_code, never.json()["error"]["code"]) == (422, "too_many_items")
        codes = [client.get("/v1/tasks", headers=bearer(keys[0])).status_code for _ in range(4)]
        assert (codes[0], codes[-1]) == (200, 429)
        assert client.get("/v1/tasks", headers=bearer(keys[1])).status_code == 200


def test_an_ending_server_takes_no_new_work(client: TestClient, service: Service, key: str) -> None:
    assert client.get("/v1/ready").status_code == 200
    assert client.portal is not None
    client.portal.call(service.door.shut.set)
    body = {"task": FOUR, "completion": ""}
    for reply in (
        client.get("/v1/ready"),
        client.post("/v1/score", json=body, headers=bearer(key)),
    ):
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "draining")
        assert int(reply.headers["retry-after"]) > 0
    assert client.get("/v1/batches", headers=bearer(key)).status_code == 200


def test_a_failure_gives_a_number_and_no_trace(
    client: TestClient, service: Service, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    one, many = {"task": FOUR, "completion": ""}, {"task": FOUR, "completions": answers(2)}
    service.database.write(lambda c: c.exec_driver_sql("DROP TABLE items")).result()
    for path, body in (("score", one), ("batches", many)):
        reply = client.post(f"/v1/{path}", json=body, headers=bearer(key))
        assert reply.status_code == 500
        message = reply.json()["error"]["message"]
        number = message.rpartition(" ")[2]
        assert len(message) < 100
        assert "items" not in message
        assert number in [getattr(record, "error_id", "") for record in caplog.records]
