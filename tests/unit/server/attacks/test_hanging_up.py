"""Claims about clients that hang up: what nobody can use any more ends, what is accepted goes
on."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from unhack.server.pages.sign_in import COOKIE
from unhack.server.service import Service

from ..requests import ENDLESS, PLUS_ONE, RIGHT, bearer  # noqa: TID252

pytestmark = pytest.mark.slow

RUN: dict[str, Any] = {"code": "while True: pass", "language": "python", "run_timeout": 300}
CASE = {"input": {"stdin": ""}, "output": {"stdout": "1"}}
SUBMIT: dict[str, Any] = {
    "dataset": "x",
    "id": "1",
    "completion": "```python\nwhile True: pass\n```",
    "config": {
        "dataset_type": "CommonOJDataset",
        "language": "python",
        "run_timeout": 300,
        "extra": {"run_all_cases": True},
        "provided_data": {"id": "1", "test": [CASE] * 5},
    },
}
_PATIENCE_S = 60.0


def _wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + _PATIENCE_S
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def _begin(port: int, path: str, body: bytes, *headers: str) -> socket.socket:
    """A connection whose request is whole and whose reply is not awaited."""
    connection = socket.create_connection(("127.0.0.1", port))
    head = "".join(f"{line}\r\n" for line in ("Host: x", *headers, f"Content-Length: {len(body)}"))
    connection.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
    return connection


@pytest.mark.parametrize(("path", "body"), [("/run_code", RUN), ("/submit", SUBMIT)])
def test_a_program_ends_when_its_client_hangs_up(
    port: int, service: Service, key: str, path: str, body: dict[str, Any]
) -> None:
    slots = service.scoring.slots
    connection = _begin(port, path, json.dumps(body).encode(), f"Authorization: Bearer {key}")
    places = 5 if path == "/submit" else 1
    _wait_until(lambda: slots.taken == places)
    assert service.limits.open == 1
    connection.close()
    _wait_until(lambda: slots.taken == 0)
    _wait_until(lambda: service.limits.open == 0)


def test_a_program_whose_client_waits_is_not_ended(port: int, key: str) -> None:
    body = {**RUN, "code": "import time\ntime.sleep(2)\nprint(5)"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        reply = client.post("/run_code", json=body, headers=bearer(key))
        assert reply.json()["run_result"]["stdout"] == "5\n"


def _judged(port: int, key: str, completion: str) -> str:
    """The id of a batch with one verdict."""
    task = {**PLUS_ONE, "wall_s": 1.0}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        body = {"task": task, "completion": completion}
        return client.post("/v1/score", json=body, headers=bearer(key)).json()["batch"]


@pytest.mark.slow
def test_judging_again_waits_for_its_tenants_turn_and_ends_with_its_client(
    port: int, service: Service, key: str, other_key: str
) -> None:
    batch = _judged(port, key, ENDLESS)
    slots = service.scoring.slots
    held, slots.slots = slots.slots, 0
    again = _begin(port, f"/ui/batches/{batch}/0", b"", f"Cookie: {COOKIE}={key}")
    _wait_until(lambda: service.limits.open == 1)
    time.sleep(4.0)
    assert service.limits.open == 1, "it passed by the semaphore"
    again.close()
    _wait_until(lambda: service.limits.open == 0)
    slots.slots = held
    assert _judged(port, other_key, RIGHT)
    _wait_until(lambda: slots.taken == 0)


def test_judging_again_counts_by_the_limit_of_its_key(
    port: int, service: Service, key: str
) -> None:
    batch = _judged(port, key, RIGHT)
    tenant = service.directory.caller(key)
    assert tenant is not None
    small = service.directory.add_key("alpha", list(tenant.scopes), items=1)
    service.limits.resume(tenant.tenant_id, 1)  # an item of it is open
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        path = f"/ui/batches/{batch}/0"
        assert client.post(path, headers=bearer(small)).status_code == 429
        assert client.post(path, headers=bearer(key)).status_code == 200


def test_an_accepted_batch_goes_on_when_its_client_hangs_up(
    port: int, service: Service, key: str, other_key: str
) -> None:
    texts = [f"# {number}\n{RIGHT}" for number in range(12)]
    slots = service.scoring.slots
    held, slots.slots = slots.slots, 0
    body = json.dumps({"task": PLUS_ONE, "completions": texts}).encode()
    connection = _begin(port, "/v1/batches", body, f"Authorization: Bearer {key}")
    _wait_until(lambda: service.limits.open == 12)
    connection.close()
    slots.slots = held
    assert _judged(port, other_key, RIGHT)  # which has the semaphore look again
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=bearer(key)) as client:
        [batch] = client.get("/v1/batches").json()["batches"]
        _wait_until(lambda: client.get(f"/v1/batches/{batch['id']}").json()["state"] == "done")
        assert client.get(f"/v1/batches/{batch['id']}").json()["rewards"] == [1.0] * 12
