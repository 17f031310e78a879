"""Claims about keys: who comes in, and by which way."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.database.database import DatabaseTakenError
from unhack.server.service import ServerSettings, Service

from .requests import ENDLESS, FOUR, PLUS_ONE, answers, bearer


def test_health_wants_no_key(client: TestClient) -> None:
    assert client.get("/v1/health").json() == {"status": "ok"}


def test_a_key_in_the_path_is_cut_out_of_it(client: TestClient, key: str) -> None:
    assert client.get(f"/k/{key}/v1/health").status_code == 200


def test_an_unknown_path_says_so_as_a_value(client: TestClient) -> None:
    reply = client.get("/v1/nothing")
    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "not_found"


@pytest.mark.slow
def test_a_revoked_key_opens_nothing(client: TestClient, service: Service, key: str) -> None:
    assert client.get("/v1/tasks", headers=bearer(key)).status_code == 200
    service.directory.revoke(key.split("_")[1])
    until = time.monotonic() + 60
    while client.get("/v1/tasks", headers=bearer(key)).status_code != 401:
        assert time.monotonic() < until
        time.sleep(0.2)


def test_a_tenant_above_its_limits_is_told_when_to_come_again(tmp_path: Path) -> None:
    settings = ServerSettings(data=tmp_path, tenant_items=3, tenant_requests=6)
    service = Service(settings)
    keys = [service.directory.add_key(name, list(Grant)) for name in ("alpha", "beta")]
    with TestClient(make_app(service)) as client:
        slow = {"task": {**PLUS_ONE, "wall_s": 60.0}, "completions": [ENDLESS] * 2, "wait": False}
        assert client.post("/v1/batches", json=slow, headers=bearer(keys[0])).status_code == 202
        more = client.post("/v1/batches", json=slow, headers=bearer(keys[0]))
        assert (more.status_code, more.headers["retry-after"]) == (429, "2")
        assert client.post("/v1/batches", json=slow, headers=bearer(keys[1])).status_code == 202
        never = client.post(
            "/v1/batches", json={**slow, "completions": answers(4)}, headers=bearer(keys[0])
        )
        assert (never.status_code, never.json()["error"]["code"]) == (422, "too_many_items")
        # One more comes free every ten seconds, so a slow machine needs some more than six.
        codes = [client.get("/v1/tasks", headers=bearer(keys[0])).status_code for _ in range(12)]
        assert codes[0] == 200
        assert 429 in codes
        assert client.get("/v1/tasks", headers=bearer(keys[1])).status_code == 200


def test_the_log_tells_whose_request_was_refused(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    keys = {
        code: service.directory.add_key(name, [Grant.SCORE], requests=1)
        for name, code in (("alpha", 403), ("beta", 429))
    }
    logger = logging.getLogger("unhack.server.requests")
    logger.addHandler(caplog.handler)
    logger.setLevel(logging.INFO)
    try:
        with TestClient(make_app(service)) as client:
            client.get("/v1/batches", headers=bearer(keys[403]))
            for _ in range(2):
                client.get("/v1/tasks", headers=bearer(keys[429]))
            client.get("/v1/tasks", headers=bearer("uh_wrong"))
    finally:
        logger.removeHandler(caplog.handler)
    told = {each.__dict__["status"]: each.__dict__ for each in caplog.records}
    for code, name in ((403, "alpha"), (429, "beta")):
        assert told[code]["tenant"] == name
        assert told[code]["key"] == keys[code].split("_")[1]
    assert "tenant" not in told[401]


def test_an_ending_server_takes_no_new_work(client: TestClient, service: Service, key: str) -> None:
    assert client.get("/v1/ready").status_code == 200
    assert client.portal is not None
    client.portal.call(service.connection_gate.closed.set)
    body = {"task": FOUR, "completion": ""}
    for reply in (
        client.get("/v1/ready"),
        client.post("/v1/score", json=body, headers=bearer(key)),
    ):
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "draining")
        assert int(reply.headers["retry-after"]) > 0
    assert client.get("/v1/batches", headers=bearer(key)).status_code == 200


@pytest.mark.parametrize(
    "error",
    [OperationalError("SELECT", {}, OSError("refused at 10.0.0.1")), DatabaseTakenError("taken")],
)
def test_a_database_that_does_not_answer_is_asked_again(
    client: TestClient, service: Service, key: str, monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:  # fmt: skip
    """500 would end a trainer; after 503 the clients ask again."""

    def fails(_: object) -> Future[None]:
        done: Future[None] = Future()
        done.set_exception(error)
        return done

    body = {"task": FOUR, "completion": "\\boxed{4}"}
    sent = {"json": body, "headers": bearer(key, **{"Idempotency-Key": "one"})}
    with monkeypatch.context() as patched:
        patched.setattr(service.database, "write", fails)
        reply = client.post("/v1/score", **sent)
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "database")
        assert reply.headers["retry-after"] == "5"
        assert "10.0.0.1" not in reply.text
    assert client.post("/v1/score", **sent).json()["reward"] == 1.0


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
