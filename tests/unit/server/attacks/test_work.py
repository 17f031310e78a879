"""Claims about work that one tenant sends to take the machine, or to see what is not its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.database.schema import jobs
from unhack.server.http.problems import RequestRefused
from unhack.server.jobs import job_runner
from unhack.server.jobs.episode_book import EpisodeBook
from unhack.server.scoring.inline import InlineText
from unhack.server.scoring.tenant_limits import MOST_STREAMS, TenantLimits
from unhack.server.service import ServerSettings, Service

from ..requests import BOTH, FOUR, bearer  # noqa: TID252


def _no_look(*_: object) -> None:
    """Look at no order."""


@pytest.mark.parametrize("database", BOTH, indirect=True)
@pytest.mark.parametrize("wrong", ["%00", "x", "0" * 31, "%F0%9F%98%80", "' OR 1=1 --", "0" * 33])
def test_an_id_that_is_none_is_unknown_on_both_databases(
    client: TestClient, key: str, wrong: str
) -> None:
    for path in ("jobs/{}", "jobs/{}/events", "jobs/{}/page", "batches/{}", "batches/{}/items/0"):
        reply = client.get(f"/v1/{path.format(wrong)}", headers=bearer(key))
        assert reply.status_code == 404, reply.text


@pytest.mark.parametrize(
    ("contest", "options"),
    [
        ("quantization", {"windows": "1_000_000_000"}), ("quantization", {"windows": " 99999"}),
        ("quantization", {"length": "+99999"}), ("quantization", {"model": "/etc"}),
        ("quantization", {"windows": "٣"}), ("interp", {"models": "100000"}),
        ("interp", {"trained": "/etc"}), ("scaling", {"ladder": "/etc/passwd"}),
        ("kernels", {"threads": "64"}), ("kernels", {"problem": "../../x"}),
        ("reward_hacking", {"track": "../x"}),
    ],
)  # fmt: skip
def test_options_of_a_contest_name_no_file_and_no_giant(
    client: TestClient, key: str, contest: str, options: dict[str, str]
) -> None:
    order = {"contest": contest, "agents": ["baseline"], "options": options}
    reply = client.post("/v1/tournaments", json=order, headers=bearer(key))
    assert reply.status_code == 400, reply.text


@pytest.mark.parametrize("agent", ["claude", "command:/bin/sh", "baseline:/etc/passwd", "../x"])
def test_no_agent_of_a_job_is_a_program_of_the_machine(
    client: TestClient, key: str, agent: str
) -> None:
    order = {"contest": "reward_hacking", "agents": [agent]}
    assert client.post("/v1/tournaments", json=order, headers=bearer(key)).status_code == 400


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "from unhack.server.access.keys import new_key as score",
        "import the_target\nfrom os import system as score",
        "from reward_elsewhere import score",
        "import jobs\ndef helper(): pass\nfrom jobs import score",
    ],
)
def test_a_source_takes_no_entry_from_the_machine(
    client: TestClient, key: str, source: str
) -> None:
    order = {"reward": {"source": source, "entry": "score"}}
    reply = client.post("/v1/audits", json=order, headers=bearer(key))
    assert reply.status_code == 400, reply.text
    assert "/" not in reply.json()["error"]["message"].replace("and/or", "")


def test_a_key_without_read_sees_no_result_by_cancelling(
    client: TestClient, service: Service, key: str
) -> None:
    reads_not = service.directory.add_key("alpha", [Grant.AUDIT])
    row = {"request": "{}", "state": "done", "result": '{"secret": 1}', "finished_at": 1.0}
    tenant = service.directory.caller(key)
    assert tenant is not None
    values = {"id": "a" * 32, "tenant_id": tenant.tenant_id, "kind": "audit", "created_at": 1.0}
    service.database.write(lambda c: c.execute(jobs.insert().values({**values, **row}))).result()
    path = f"/v1/jobs/{'a' * 32}"
    assert client.get(path, headers=bearer(key)).json()["result"] == {"secret": 1}
    assert client.delete(path, headers=bearer(reads_not)).json()["result"] is None


@pytest.mark.slow
def test_run_code_counts_as_an_open_completion(tmp_path: Path) -> None:
    service = Service(ServerSettings(data=tmp_path, tenant_items=1))
    key = service.directory.add_key("alpha", list(Grant))
    with TestClient(make_app(service)) as client:
        tenant = service.directory.caller(key)
        assert tenant is not None
        assert client.portal is not None
        run = {"code": "print(1)", "language": "python"}
        client.portal.call(service.limits.take, tenant.tenant_id, 1)
        reply = client.post("/run_code", json=run, headers=bearer(key))
        assert (reply.status_code, reply.headers["retry-after"]) == (429, "2")
        client.portal.call(service.limits.give_back, tenant.tenant_id)
        assert client.post("/run_code", json=run, headers=bearer(key)).status_code == 200
        assert service.limits.open == 0
        assert service.scoring.slots.taken == 0


def test_the_limits_of_a_key_take_the_place_of_the_servers(
    client: TestClient, service: Service
) -> None:
    small = service.directory.add_key("alpha", list(Grant), items=2, requests=5)
    plain = service.directory.add_key("alpha", list(Grant))
    body: dict[str, Any] = {"task": FOUR, "completions": ["a", "b", "c"]}
    reply = client.post("/v1/batches", json=body, headers=bearer(small))
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "too_many_items")
    assert client.post("/v1/batches", json=body, headers=bearer(plain)).status_code == 200
    codes = [client.get("/v1/tasks", headers=bearer(small)).status_code for _ in range(12)]
    assert codes[0] == 200
    assert 429 in codes  # one more comes free every twelve seconds
    assert client.get("/v1/tasks", headers=bearer(plain)).status_code == 200


def test_streams_of_events_have_a_number(
    client: TestClient, service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unhack.server.scoring.tenant_limits.MOST_STREAMS", 0)
    service.jobs.close()
    monkeypatch.setattr(job_runner, "check_audit", _no_look)
    made = client.post("/v1/audits", json={"task": "strings/knit-rows"}, headers=bearer(key))
    reply = client.get(f"/v1/jobs/{made.json()['id']}/events", headers=bearer(key))
    assert reply.status_code == 429


def test_a_stream_is_counted_from_the_request_to_the_end_of_its_reply() -> None:
    limits = TenantLimits(items=1, requests=1)
    close = [limits.open_stream(1) for _ in range(MOST_STREAMS)]
    with pytest.raises(RequestRefused, match="streams of events are open"):
        limits.open_stream(1)
    assert callable(limits.open_stream(2))
    close[0]()
    assert callable(limits.open_stream(1))


def test_ended_episodes_do_not_fill_the_memory() -> None:
    book = EpisodeBook(most_open=2)
    for _ in range(6):
        told = book.open(1, "strings", task="strings/knit-rows", seed=None, tries=1)
        book._held[told.id].last = book._held[told.id].last.__class__("", 0.0, True)  # pyright: ignore[reportPrivateUsage]
    assert len(book.listed(1)) <= 3


def test_tasks_that_come_with_requests_are_kept_ready_within_bytes(
    client: TestClient, service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert key
    monkeypatch.setattr("unhack.server.scoring.task_names._KEPT_BYTES", 30_000)
    assert client.portal is not None
    task, name = InlineText(kind="text", check="exact", answer="x"), ""
    for number in range(20):
        task = InlineText(kind="text", check="exact", answer=f"{number} {'x' * 5000}")
        name = client.portal.call(service.names.name, 1, task)
    assert len(service.names._ready) <= 6  # pyright: ignore[reportPrivateUsage]
    assert service.names.find(1, name).problem.answer == task.answer
