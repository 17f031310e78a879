"""Claims about keys: who comes in, and by which door."""

from __future__ import annotations

from starlette.testclient import TestClient


def test_health_wants_no_key(client: TestClient) -> None:
    assert client.get("/v1/health").json() == {"status": "ok"}


def test_a_key_in_the_path_is_cut_out_of_it(client: TestClient, key: str) -> None:
    assert client.get(f"/k/{key}/v1/health").status_code == 200


def test_an_unknown_path_says_so_as_a_value(client: TestClient) -> None:
    reply = client.get("/v1/nothing")
    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "not_found"
