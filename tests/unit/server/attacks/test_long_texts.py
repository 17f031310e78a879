"""Claims about texts that are sent to keep the process busy that serves everybody."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.database.schema import items
from unhack.server.foreign import fusion_judging, fusion_runs
from unhack.server.http.bodies import MOST_CHARACTERS
from unhack.server.service import Service

from ..requests import FOUR, PLUS_ONE, RIGHT, bearer  # noqa: TID252

LONG = "x" * (MOST_CHARACTERS + 1)
ROW = {"id": "1", "test": [{"input": {"stdin": ""}, "output": {"stdout": "1"}}]}
SUBMIT: dict[str, Any] = {"dataset": "x", "id": "1", "config": {"provided_data": ROW}}
SUBMIT["config"]["language"] = "python"


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/score", {"task": PLUS_ONE, "completion": LONG}, "completion"),
        ("/v1/score", {"task": FOUR, "completion": [{"role": "assistant", "content": LONG}]},
         "completion"),
        ("/v1/batches", {"task": FOUR, "completions": ["x", LONG]}, "completions.1"),
        ("/v1/batches", {"items": [{"task": FOUR, "completion": LONG}]}, "items.0.completion"),
        ("/run_code", {"code": LONG, "language": "python"}, "code"),
        ("/submit", {**SUBMIT, "completion": LONG}, "completion"),
        ("/openrlhf/reward", {"query": [LONG], "prompts": [""], "labels": [""]}, "query.0"),
    ],
)  # fmt: skip
def test_one_text_has_a_length(
    client: TestClient, service: Service, key: str, path: str, body: dict[str, Any], field: str
) -> None:
    reply = client.post(path, json=body, headers=bearer(key))
    told = reply.json()["error"]
    assert (reply.status_code, told["code"], told["field"]) == (422, "too_long", field)
    assert service.limits.open == 0
    assert not service.database.read(lambda c: c.execute(items.select()).all())


def test_a_text_of_a_million_characters_is_judged(client: TestClient, key: str) -> None:
    body = {"task": PLUS_ONE, "completion": f"# {'x' * 1_000_000}\n{RIGHT}"}
    assert client.post("/v1/score", json=body, headers=bearer(key)).json()["reward"] == 1.0


@pytest.mark.parametrize("text", ["\n", " ", " \n", "\t\n", "import \n", "from ", "import\n\n"])
def test_a_program_of_blank_lines_is_read_once(text: str) -> None:
    """Work that grows with the square of these would take hours."""
    long = text * (1_000_000 // len(text))
    assert fusion_runs._profile(long).preload == ()  # pyright: ignore[reportPrivateUsage]
    numpy = fusion_runs._NUMPY  # pyright: ignore[reportPrivateUsage]
    assert numpy.is_in(f"{long}\n  import numpy as np\n")
    assert numpy.is_in("x = 1\n\tfrom  numpy import array")
    assert not numpy.is_in("# import numpy")


def test_a_submission_is_read_beside_the_event_loop(
    client: TestClient, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = threading.Event(), threading.Event()

    def slow(completion: str, *, language: str) -> str:
        reading.set()
        assert go_on.wait(60)
        return "print(1)"

    monkeypatch.setattr(fusion_judging, "extract_code", slow)
    told: list[Any] = []
    body = {**SUBMIT, "completion": "x"}

    def submit() -> None:
        told.append(client.post("/submit", json=body, headers=bearer(key)).json())

    thread = threading.Thread(target=submit)
    thread.start()
    assert reading.wait(60)
    assert client.get("/v1/health").status_code == 200
    go_on.set()
    thread.join()
    assert told[0]["accepted"] is True


def test_a_batch_that_never_fits_is_refused_before_it_is_looked_at(
    client: TestClient, service: Service
) -> None:
    small = service.directory.add_key("alpha", list(Grant), items=3)
    body = {"task": FOUR, "completions": ["x", "y", "z", [{"role": "?"}]]}
    reply = client.post("/v1/batches", json=body, headers=bearer(small))
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "too_many_items")


@pytest.mark.slow
def test_orders_of_one_tenant_that_take_long_to_read_hold_up_no_other(
    client: TestClient,
    service: Service,
    key: str,
    other_key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    looked: list[str] = []

    def look(order: Any, folder: Any) -> None:
        looked.append(order.task)
        if order.task == "slow":
            assert go_on.wait(60)

    service.jobs.close()
    monkeypatch.setattr("unhack.server.jobs.job_runner.check_audit", look)
    monkeypatch.setattr(service.jobs, "_looking", threading.Semaphore(99))

    def send(key: str, task: str) -> int:
        return client.post("/v1/audits", json={"task": task}, headers=bearer(key)).status_code

    threads = [threading.Thread(target=send, args=(key, "slow")) for _ in range(60)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 60
    while looked.count("slow") < 3 and time.monotonic() < until:
        time.sleep(0.05)
    assert send(other_key, "quick") == 202
    assert client.get("/ui/audits", headers=bearer(other_key)).status_code == 200
    assert looked.count("slow") == 3
    go_on.set()
    for thread in threads:
        thread.join()
    assert service.jobs.looks.taken == 0
