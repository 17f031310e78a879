"""Claims about scores and batches, on both databases."""

from __future__ import annotations

import json
import time
from concurrent.futures import Future
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from unhack.core.group import advantages
from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.database.schema import batches, items
from unhack.server.scoring import scoring
from unhack.server.scoring.batch_store import NewBatch, NewItem
from unhack.server.service import Service
from unhack.tasks.task import Task

from .requests import BOTH, ENDLESS, FOUR, PLUS_ONE, RIGHT, WRONG, answers, bearer

pytestmark = pytest.mark.parametrize("database", BOTH, indirect=True)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def wait_until_done(client: TestClient, batch_id: str, key: str) -> dict[str, Any]:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        found = client.get(f"/v1/batches/{batch_id}", headers=bearer(key)).json()
        if found["state"] != "accepted":
            return found
        time.sleep(0.05)
    raise AssertionError("the batch did not end")


def test_a_verdict_is_stored_before_it_is_told(
    client: TestClient, service: Service, key: str
) -> None:
    for text, reward in ((RIGHT, 1.0), (WRONG, 0.0)):
        body = {"task": PLUS_ONE, "completion": text}
        reply = client.post("/v1/score", json=body, headers=bearer(key))
        assert reply.status_code == 200, reply.text
        told = reply.json()
        assert told["reward"] == reward
        row = service.store.judged(told["batch"], -1, 9)[0]
        assert json.loads(row.verdict) == told["verdict"]
    named = {"task": "math/bag-draw#3", "completion": [{"role": "assistant", "content": "none"}]}
    assert client.post("/v1/score", json=named, headers=bearer(key)).json()["reward"] == 0.0


@pytest.mark.slow
def test_the_judge_keeps_to_the_hard_wall_of_a_request(client: TestClient, key: str) -> None:
    task = {**PLUS_ONE, "wall_s": 60.0, "wall_hard_s": 0.5}
    reply = client.post(
        "/v1/score", json={"task": task, "completion": ENDLESS}, headers=bearer(key)
    )
    verdict = reply.json()["verdict"]
    assert verdict["status"] == "timeout"
    assert verdict["reason"].endswith("wall_hard time limit reached")


def test_any_text_comes_back_from_the_database(
    client: TestClient, service: Service, key: str
) -> None:
    text = "nul \0, quotes \" ' \\, \u2028 and \U0001f600 \\boxed{4}"
    reply = client.post(
        "/v1/score", json={"task": FOUR, "completion": text}, headers=bearer(key)
    ).json()
    assert reply["reward"] == 1.0
    asked = sa.select(items.c.completion).where(items.c.batch_id == reply["batch"])
    assert service.database.read(lambda c: c.execute(asked).scalar()) == text


def test_a_batch_waited_for_holds_all_verdicts_in_order(client: TestClient, key: str) -> None:
    body = {"task": FOUR, "completions": answers(8), "group_size": 4}
    found = client.post("/v1/batches", json=body, headers=bearer(key)).json()
    assert [line["index"] for line in found["verdicts"]] == list(range(8))
    assert found["rewards"] == [0.0, 1.0] * 4
    expected = advantages(found["rewards"], [range(4), range(4, 8)])
    assert (tuple(found["advantages"]), tuple(found["mask"])) == (expected.values, expected.mask)
    assert (found["state"], found["judged"], found["groups"]) == ("done", 8, 2)


@pytest.mark.slow
def test_a_stream_has_every_verdict_once_and_then_a_summary(client: TestClient, key: str) -> None:
    body = {"task": FOUR, "completions": answers(500), "stream": True}
    reply = client.post("/v1/batches", json=body, headers=bearer(key))
    *verdicts, last = lines(reply.text)
    assert sorted(line["index"] for line in verdicts) == list(range(500))
    assert all(line["reward"] == line["index"] % 2 for line in verdicts)
    assert last["summary"]["rewards"] == [0.0, 1.0] * 250
    again = client.get(f"/v1/batches/{reply.headers['unhack-batch']}/verdicts", headers=bearer(key))
    assert sorted(lines(again.text), key=lambda line: line["index"]) == sorted(
        verdicts, key=lambda line: line["index"]
    )


def test_a_batch_goes_on_without_its_client(client: TestClient, key: str) -> None:
    body = {
        "items": [
            {"task": "strings/knit-rows", "completion": "def knit_rows(): pass"},
            {"task": PLUS_ONE, "completion": RIGHT},
        ],
        "wait": False,
    }
    reply = client.post("/v1/batches", json=body, headers=bearer(key))
    assert reply.status_code == 202
    found = wait_until_done(client, reply.json()["id"], key)
    assert found["rewards"] == [0.0, 1.0]
    listed = client.get("/v1/batches?limit=1", headers=bearer(key)).json()["batches"]
    assert [each["id"] for each in listed] == [found["id"]]
    older = client.get(f"/v1/batches?before={listed[0]['created_at']}", headers=bearer(key))
    assert older.json()["batches"] == []


def test_a_cancelled_batch_is_judged_no_further(client: TestClient, key: str) -> None:
    endless = [f"# {number}\n{ENDLESS}" for number in range(40)]
    body = {"task": {**PLUS_ONE, "wall_s": 2.0}, "completions": endless, "wait": False}
    batch_id = client.post("/v1/batches", json=body, headers=bearer(key)).json()["id"]
    found = client.delete(f"/v1/batches/{batch_id}", headers=bearer(key)).json()
    assert found["state"] == "cancelled"
    assert found["judged"] < 40
    again = client.delete(f"/v1/batches/{batch_id}", headers=bearer(key)).json()
    assert again["state"] == "cancelled"


@pytest.mark.slow
def test_a_batch_that_is_tried_again_keeps_no_slot(
    client: TestClient, service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "_PAUSE_S", 0.0)
    find = service.scoring.names.at_hand
    found: list[str] = []

    async def stumbling(tenant: int, name: str) -> Task:
        """Fails for every third item of the first twelve: others of the batch have not begun."""
        found.append(name)
        if len(found) % 3 == 0 and len(found) <= 12:
            raise ConnectionError("the database does not answer")
        return await find(tenant, name)

    monkeypatch.setattr(service.scoring.names, "at_hand", stumbling)
    items = [{"task": FOUR, "completion": f"\\boxed{{{number}}}"} for number in range(40)]
    reply = client.post("/v1/batches", json={"items": items}, headers=bearer(key)).json()
    assert len(found) > 40
    assert sum(reply["rewards"]) == 1.0
    assert service.scoring.slots.taken == 0


@pytest.mark.slow
def test_a_slow_batch_holds_up_no_other(client: TestClient, key: str, other_key: str) -> None:
    endless = [f"# {number}\n{ENDLESS}" for number in range(64)]
    body = {"task": {**PLUS_ONE, "wall_s": 60.0}, "completions": endless, "wait": False}
    batch_id = client.post("/v1/batches", json=body, headers=bearer(key)).json()["id"]
    for number, asks in enumerate((other_key, other_key, key)):
        quick = {"task": PLUS_ONE, "completion": f"# {number}\n{RIGHT}"}
        assert client.post("/v1/score", json=quick, headers=bearer(asks)).json()["reward"] == 1.0
    slow = client.delete(f"/v1/batches/{batch_id}", headers=bearer(key)).json()
    assert (slow["state"], slow["judged"]) == ("cancelled", 0)


@pytest.mark.slow
def test_what_is_not_judged_by_the_deadline_is_told_as_such(client: TestClient, key: str) -> None:
    slow = {**PLUS_ONE, "wall_s": 20.0}
    late = client.post(
        "/v1/score",
        json={"task": slow, "completion": ENDLESS},
        headers=bearer(key, **{"X-Deadline-Ms": "300"}),
    )
    assert (late.status_code, late.json()["error"]["code"]) == (504, "deadline")
    body = {"task": slow, "completions": [ENDLESS], "stream": True, "deadline_s": 0.5}
    *verdicts, last = lines(client.post("/v1/batches", json=body, headers=bearer(key)).text)
    assert verdicts == [{"index": 0, "reward": None, "verdict": None, "missed": "deadline"}]
    assert (last["summary"]["state"], last["summary"]["judged"]) == ("expired", 0)


@pytest.mark.slow
def test_a_request_that_comes_again_gets_the_first_reply(
    client: TestClient, service: Service, key: str, other_key: str
) -> None:
    one = {"task": FOUR, "completion": "\\boxed{4}"}
    many = {"task": FOUR, "completions": answers(3)}
    for path, body in (("/v1/score", one), ("/v1/batches", many)):
        headers = bearer(key, **{"Idempotency-Key": f"first {path}".replace(" ", "-")})
        first = client.post(path, json=body, headers=headers)
        assert client.post(path, json=body, headers=headers).json() == first.json()
        changed = client.post(path, json={**body, "deadline_s": 5.0}, headers=headers)
        assert (changed.status_code, changed.json()["error"]["code"]) == (422, "key_reused")
        other = client.post(path, json=body, headers={**headers, **bearer(other_key)}).json()
        assert other != first.json()
    count = sa.select(sa.func.count()).select_from(batches)
    assert service.database.read(lambda c: c.execute(count).scalar()) == 4


def test_groups_that_do_not_fit_are_refused(client: TestClient, key: str) -> None:
    mixed = [{"task": name, "completion": ""} for name in ("math/bag-draw#1", "math/bag-draw#2")]
    for body in (
        {"task": FOUR, "completions": answers(3), "group_size": 2},
        {"items": mixed, "group_size": 2},
    ):
        reply = client.post("/v1/batches", json=body, headers=bearer(key))
        assert (reply.status_code, reply.json()["error"]["field"]) == (422, "group_size")


def test_a_batch_that_could_not_be_stored_whole_leaves_nothing(service: Service) -> None:
    """The same key can then be used again."""
    tenant = service.directory.caller(service.directory.add_key("alpha", [Grant.SCORE]))
    assert tenant is not None
    batch = NewBatch("0" * 32, tenant.tenant_id, "batches", 2, idempotency_key="k")
    for stored, listed in (
        (False, [NewItem('"a"', "one")]),
        (True, [NewItem('"a"', "one"), NewItem('"a"', "two")]),
    ):
        assert service.store.accept(batch, listed).result(60) is stored
        assert (service.store.find(tenant.tenant_id, batch.id) is not None) is stored
    assert [left for _, left in service.store.unfinished()] == [2]


def test_the_end_of_a_batch_that_the_database_does_not_take_is_stored_later(
    client: TestClient, service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unhack.server.scoring.scoring._PAUSE_S", 0.05)
    finish, tried = service.store.finish, 0

    def falters(batch_id: str, state: str, error: str | None = None) -> Future[None]:
        nonlocal tried
        tried += 1
        if tried < 3:
            failed: Future[None] = Future()
            failed.set_exception(sa.exc.OperationalError("x", {}, Exception("disk is full")))
            return failed
        return finish(batch_id, state, error)

    monkeypatch.setattr(service.store, "finish", falters)
    body = {"task": FOUR, "completions": answers(4)}
    told = client.post("/v1/batches", json=body, headers=bearer(key)).json()
    assert (told["state"], told["rewards"], tried) == ("done", [0.0, 1.0, 0.0, 1.0], 3)
    assert service.limits.open == 0


def test_a_server_that_ends_waits_for_no_database(
    service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> Future[None]:
        failed: Future[None] = Future()
        failed.set_exception(sa.exc.OperationalError("x", {}, Exception("gone")))
        return failed

    with TestClient(make_app(service)) as client:
        monkeypatch.setattr(service.store, "finish", never)
        body = {"task": FOUR, "completions": answers(2), "wait": False}
        batch = client.post("/v1/batches", json=body, headers=bearer(key)).json()["id"]
        path = f"/v1/batches/{batch}"
        while client.get(path, headers=bearer(key)).json()["judged"] < 2:
            time.sleep(0.02)
    assert [left for _, left in service.store.unfinished()] == [0]  # the next server ends it
