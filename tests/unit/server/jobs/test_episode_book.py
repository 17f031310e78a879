"""Claims about episodes over HTTP: played to a verdict, bounded, each tenant's own."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from unhack.core.errors import UsageError
from unhack.server.access.caller import Grant
from unhack.server.http.problems import RequestRefused
from unhack.server.jobs.episode_book import EpisodeBook
from unhack.server.service import Service
from unhack.tasks.suite import find_task

NAME = "strings/knit-rows"
RIGHT = str(find_task(NAME).problem.reference)
OPEN = "/v1/environments/strings/episodes"


@pytest.fixture
def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def episode(client: TestClient, headers: dict[str, str]) -> Any:
    """An open episode of a task with two tries."""
    told = client.post(OPEN, json={"task": NAME, "tries": 2}, headers=headers)
    assert told.status_code == 201
    assert told.headers["location"] == f"../../episodes/{told.json()['id']}"
    return told.json()


def test_a_reply_is_judged_and_a_wrong_one_tried_again(
    client: TestClient, headers: Any, episode: Any
) -> None:
    assert episode["observation"] == find_task(NAME).prompt
    act = f"/v1/episodes/{episode['id']}/actions"
    first = client.post(act, json={"reply": "x = 1"}, headers=headers).json()
    assert (first["ended"], first["reward"], first["verdict"]) == (False, 0.0, None)
    second = client.post(act, json={"reply": RIGHT}, headers=headers).json()
    assert (second["ended"], second["reward"]) == (True, 1.0)
    assert second["verdict"]["status"] == "passed"
    assert client.get(f"/v1/episodes/{episode['id']}", headers=headers).json() == second
    again = client.post(act, json={"reply": RIGHT}, headers=headers)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "ended")


@pytest.mark.slow
def test_a_repository_is_worked_in_by_tool_calls(client: TestClient, headers: Any) -> None:
    names = client.get("/v1/environments/repos", headers=headers).json()["tasks"]
    order = {"task": names[0]}
    told = client.post("/v1/environments/repos/episodes", json=order, headers=headers).json()
    act = f"/v1/episodes/{told['id']}/actions"
    seen = client.post(act, json={"name": "list", "arguments": {}}, headers=headers).json()
    assert ".py" in seen["observation"]
    same = client.post(act, json={"reply": '{"name": "list", "arguments": {}}'}, headers=headers)
    assert same.json()["observation"] == seen["observation"]
    last = client.post(act, json={"name": "submit"}, headers=headers).json()
    assert (last["ended"], last["turns"]) == (True, 3)
    assert last["verdict"]["status"] in ("failed", "passed")


def test_a_closed_episode_is_unknown(client: TestClient, headers: Any, episode: Any) -> None:
    place = f"/v1/episodes/{episode['id']}"
    assert client.delete(place, headers=headers).json() == episode
    assert client.get(place, headers=headers).status_code == 404
    assert client.get("/v1/episodes", headers=headers).json() == {"episodes": []}


def test_another_tenants_episode_is_unknown(
    client: TestClient, headers: Any, episode: Any, service: Service
) -> None:
    stranger = {"X-API-Key": service.directory.add_key("beta", list(Grant))}
    for method, rest in (("GET", ""), ("DELETE", ""), ("POST", "/actions")):
        body = {"reply": "x"} if method == "POST" else None
        for_it, for_none = (
            client.request(method, f"/v1/episodes/{one}{rest}", headers=stranger, json=body)
            for one in (episode["id"], "0" * 32)
        )
        assert for_it.status_code == for_none.status_code == 404
        assert for_it.json() == for_none.json()
    assert client.get("/v1/episodes", headers=stranger).json() == {"episodes": []}
    assert client.get("/v1/episodes", headers=headers).json()["episodes"] == [episode]


def test_a_seed_draws_the_same_task(client: TestClient, headers: Any) -> None:
    drawn = [client.post(OPEN, json={"seed": 4}, headers=headers).json() for _ in range(2)]
    assert drawn[0]["task"] == drawn[1]["task"]


@pytest.mark.parametrize(
    ("suite", "order", "said"),
    [
        ("strings", {"task": "math/bag-draw"}, "math/bag-draw"),
        ("strings", {"task": "../../etc"}, "../../etc"),
        ("strings", {"task": NAME, "seed": 1}, "seed"),
        ("strings", {"tries": 0}, "tries"),
        ("strings", {"trys": 1}, "trys"),
        ("nothing", {}, "environment"),
        ("repos:7", {}, "environment"),
    ],
)
def test_a_wrong_order_names_its_field(
    client: TestClient, headers: Any, suite: str, order: Any, said: str
) -> None:
    told = client.post(f"/v1/environments/{suite}/episodes", json=order, headers=headers)
    assert told.status_code in (400, 404, 422)
    assert said in told.json()["error"]["message"]


@pytest.mark.parametrize(
    "action", [{}, {"reply": "x", "name": "read"}, {"reply": 3}, {"name": ""}, {"x": 1}, []]
)
def test_a_wrong_action_is_refused_and_nothing_is_lost(
    client: TestClient, headers: Any, episode: Any, action: Any
) -> None:
    place = f"/v1/episodes/{episode['id']}"
    assert client.post(f"{place}/actions", json=action, headers=headers).status_code in (400, 422)
    assert client.get(place, headers=headers).json() == episode


def test_a_tenant_has_only_so_many_and_idle_ones_are_closed() -> None:
    now = 100.0
    book = EpisodeBook(idle_s=1.0, most_open=2, clock=lambda: now)
    opened = [book.open(1, "strings", task=NAME, seed=None, tries=1) for _ in range(2)]
    with pytest.raises(RequestRefused, match="close one"):
        book.open(1, "strings", task=NAME, seed=None, tries=1)
    book.open(2, "strings", task=NAME, seed=None, tries=1)
    now += 1.2
    assert book.open(1, "strings", task=NAME, seed=None, tries=1).ended is False
    with pytest.raises(RequestRefused, match="idle"):
        book.show(1, opened[0].id)
    book.close()


def test_a_task_and_a_seed_are_one_too_many() -> None:
    with pytest.raises(UsageError, match="seed"):
        EpisodeBook().open(1, "strings", task=NAME, seed=1, tries=1)
