"""Another tenant's anything is unknown: every route of the app, asked with every id that there is.

A route stands in one of four tables below, and a new one fails until it stands in one:

    OWNED    names something of a tenant; its owner sees it, another is told what is said of ids
             that nobody has
    LISTED   shows what a tenant has; its owner sees it, another does not
    MADE     makes something new; what comes back is the caller's own
    ALIKE    says the same to everybody
"""

from __future__ import annotations

import itertools
import json
import shutil
import time
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa
from httpx import Response
from starlette.testclient import TestClient
from tests.unit.tournament.hill import plan, played

from unhack.server.access.caller import Grant
from unhack.server.api_route import ApiRoute
from unhack.server.app import ROUTES
from unhack.server.database.schema import items
from unhack.server.jobs.job_store import JobStore
from unhack.server.pages.jobs import RUN
from unhack.server.pages.sign_in import COOKIE
from unhack.server.service import Service

from .pages.fill import caller_of, store_job, tournament_result
from .pages.runs import go_on, write_run
from .requests import BOTH, ENDLESS, PLUS_ONE, bearer

pytestmark = pytest.mark.slow

MARK = "aardvark"
"""Stands in everything that the owner sent."""
NOBODYS = "0" * 32
SECRET_TASK = {**PLUS_ONE, "entry_point": MARK}

OWNED: dict[str, tuple[str, ...]] = {
    "GET /v1/batches/{batch_id}": ("done batch",),
    "GET /v1/batches/{batch_id}/verdicts": ("done batch",),
    "GET /v1/batches/{batch_id}/items/{position}": ("done batch", "position"),
    "GET /v1/jobs/{job_id}": ("audit",),
    "GET /v1/jobs/{job_id}/events": ("audit",),
    "GET /v1/jobs/{job_id}/page": ("audit",),
    "GET /v1/episodes/{episode_id}": ("episode",),
    "GET /ui/batches/{batch}": ("done batch",),
    "GET /ui/batches/{batch}/{position}": ("done batch", "position"),
    "GET /ui/audits/{job}": ("audit",),
    "GET /ui/tournaments/{job}": ("tournament",),
    "GET /ui/audit-runs/{run:path}": ("audit run",),
    "GET /ui/tournament-runs/{run:path}": ("tournament run",),
    "GET /ui/runs/{run:path}": ("training run",),
    "GET /ui/run-events/{run:path}": ("training run",),
    "POST /ui/batches/{batch}/{position}": ("done batch", "position"),
    "POST /v1/episodes/{episode_id}/actions": ("episode",),
    "DELETE /v1/episodes/{episode_id}": ("episode",),
    "DELETE /v1/batches/{batch_id}": ("open batch",),
    "DELETE /v1/jobs/{job_id}": ("open job",),
}
"""Route -> the kinds of the owner's ids in its places; what only reads comes first."""
LISTED: dict[str, tuple[str, ...]] = {
    "GET /v1/batches": ("done batch", "open batch"),
    "GET /v1/jobs": ("audit", "tournament", "open job"),
    "GET /v1/episodes": ("episode",),
    "GET /ui/": ("done batch", "audit", "tournament", "training run"),
    "GET /ui/batches": ("done batch", "open batch"),
    "GET /ui/audits": ("audit", "open job", "audit run"),
    "GET /ui/tournaments": ("tournament", "tournament run"),
    "GET /ui/runs": ("training run",),
}
"""Route -> the kinds of ids that it shows to their owner."""
_CASE = {"input": {"stdin": ""}, "output": {"stdout": "1"}}
_SUBMITTED = {"language": "python", "provided_data": {"id": "1", "test": [_CASE]}}
_SOURCE = "def score(completion, answer):\n    return float(answer in completion)\n"
_REWARD = {
    "source": _SOURCE,
    "entry": "score",
    "rows": [{"prompt": f"{n} + 1?", "answer": str(n + 1)} for n in (16, 41)],
}
MADE: dict[str, dict[str, Any]] = {
    "POST /v1/score": {"task": PLUS_ONE, "completion": "x"},
    "POST /v1/batches": {"task": PLUS_ONE, "completions": ["x"]},
    "POST /v1/audits": {"reward": _REWARD, "tiers": [1], "calls": 100, "seconds": 9},
    "POST /v1/tournaments": {"contest": "reward_hacking", "agents": ["null"]},
    "POST /v1/environments/{suite}/episodes": {"task": "strings/knit-rows"},
    "POST /run_code": {"code": "print(1)", "language": "python"},
    "POST /submit": {"dataset": "x", "id": "1", "completion": "print(1)", "config": _SUBMITTED},
    "POST /openrlhf/reward": {
        "query": ["x"], "prompts": ["x"], "labels": ["strings/knit-rows"]
    },
}  # fmt: skip
"""Route -> a body that it takes."""
BY_KEY = tuple(itertools.islice(MADE, 4))
"""Routes that know an Idempotency-Key."""
ALIKE = {
    "GET /v1/health",
    "GET /v1/ready",
    "GET /v1/ping",
    "POST /v1/ping",
    "GET /metrics",
    "GET /v1/tasks",
    "GET /v1/tasks/{task_id:path}",
    "GET /v1/environments",
    "GET /v1/environments/{suite}",
    "GET /v1/openapi.json",
    "GET /ui/login",
    "POST /ui/login",
    "POST /ui/logout",
    "GET /",
}
NAMED = {"suite": "strings", "task_id:path": "strings/knit-rows"}
"""Places that name what unhack brings along."""


def name_of(route: ApiRoute) -> str:
    """The name of a route in the tables."""
    return f"{route.method} {route.path}"


def address(name: str, values: tuple[str, ...]) -> tuple[str, str]:
    """Method and path of a route, its places filled in order."""
    method, path = name.split(" ")
    left = list(values)
    parts = [
        (NAMED.get(part[1:-1]) or left.pop(0)) if part.startswith("{") else part
        for part in path.split("/")
    ]
    return method, "/".join(parts)


@dataclass(frozen=True)
class World:
    """A server with two tenants, of which the first has one of everything."""

    client: TestClient
    owner: str
    """The key of the tenant `default`, which is the operator's and sees run folders too."""
    other: str
    ids: dict[str, str]
    """By kind, what the owner has."""

    def ask(self, key: str, name: str, *values: str, query: str = "", **more: Any) -> Response:
        """The reply of a route to the holder of a key."""
        method, path = address(name, values)
        body = {"json": MADE.get(name, {})} if method == "POST" and "/ui/" not in path else {}
        if name.endswith("/actions"):
            body = {"json": {"reply": MARK}}
        if name == "POST /ui/login":
            body = {"data": {"key": key}}
        headers = bearer(key, **more.pop("headers", {}))
        return self.client.request(
            method, path + query, headers=headers, follow_redirects=False, **(body | more)
        )

    def traces(self, text: str) -> list[str]:
        """The ids and marks of the owner that stand in a text."""
        found = [kind for kind, value in self.ids.items() if kind != "position" and value in text]
        short = [
            kind for kind, value in self.ids.items() if len(value) == 32 and value[:10] in text
        ]
        return sorted({*found, *short, *([MARK] if MARK in text else [])})


@pytest.fixture
def world(client: TestClient, service: Service) -> World:
    """See `World`."""
    owner = service.directory.add_key("default", list(Grant))
    other = service.directory.add_key("beta", list(Grant))
    tenant, data = caller_of(service, owner).tenant_id, service.settings.data
    ids = {"position": "0"}

    def send(path: str, **body: Any) -> str:
        reply = client.post(path, json=body, headers=bearer(owner))
        assert reply.is_success, reply.text
        return reply.json()["id"]

    ids["done batch"] = send("/v1/batches", task=SECRET_TASK, completions=[f"# {MARK}"])
    endless = [f"# {MARK}\n{ENDLESS.replace('f(', f'{MARK}(')}"]
    slow = {**SECRET_TASK, "wall_s": 60.0}
    ids["open batch"] = send("/v1/batches", task=slow, completions=endless, wait=False)
    ids["episode"] = send("/v1/environments/strings/episodes", task="strings/knit-rows", tries=9)
    reward = {**_REWARD, "source": f"# {MARK}\n{_SOURCE}"}
    ids["audit"] = send("/v1/audits", reward=reward, tiers=[1], calls=300, stop_at_first=True)
    _wait_until_done(client, owner, ids["audit"])
    shutil.copytree(service.jobs.folder_of(ids["audit"], tenant) / RUN, data / "audit-run")
    record = played(data / "tournament-run", plan("search", "baseline:near", rounds=1))
    asked = {"contest": MARK}
    ids["tournament"] = store_job(
        service, tenant, "tournament", asked, result=tournament_result(record)
    )
    ids["open job"] = store_job(service, tenant, "audit", {"task": MARK})
    write_run(data / "training-run")
    go_on(data / "training-run", step=99, status="done")
    ids |= {f"{kind} run": f"0/{kind}-run" for kind in ("audit", "tournament", "training")}
    return World(client, owner, other, ids)


def _wait_until_done(client: TestClient, key: str, job_id: str) -> None:
    until = time.monotonic() + 240
    while client.get(f"/v1/jobs/{job_id}", headers=bearer(key)).json()["state"] != "done":
        assert time.monotonic() < until
        time.sleep(0.05)


def test_every_route_stands_in_a_table(client: TestClient) -> None:
    tables = [set(OWNED), set(LISTED), set(MADE), ALIKE]
    known = set().union(*tables)
    assert sum(map(len, tables)) == len(known), "a route stands in two tables"
    assert {name_of(route) for route in ROUTES} == known
    described = client.get("/v1/openapi.json").json()["paths"]
    names = {
        f"{method.upper()} {path}"
        for path, methods in described.items()
        for method in methods
        if method in ("get", "post", "put", "patch", "delete")
    }
    assert names <= {name.replace(":path}", "}") for name in known}
    assert len(names) > 25


@pytest.mark.slow
@pytest.mark.parametrize("database", BOTH, indirect=True)
def test_a_tenant_sees_nothing_of_another_at_any_route(world: World, service: Service) -> None:
    for name, kinds in OWNED.items():
        queries = ("", "?export=1") if name.startswith("GET /ui/") else ("",)
        asked = [kind for kind in world.ids if kind != "position"]
        for kind, query in itertools.product(asked, queries):
            value = world.ids[kind]
            nobody = "0/nobodys" if "/" in value else NOBODYS
            more = ("0",) * (len(kinds) - 1)
            theirs = world.ask(world.other, name, value, *more, query=query)
            nobodys = world.ask(world.other, name, nobody, *more, query=query)
            assert theirs.status_code == nobodys.status_code == 404, (name, kind, theirs.text)
            same = theirs.text.replace(value, "ID") == nobodys.text.replace(nobody, "ID")
            assert same, (name, kind)
    for name, query in itertools.product(LISTED, ("", "?export=1", "?limit=100", "?page=2")):
        reply = world.ask(world.other, name, query=query)
        assert world.traces(reply.text) == [], (name, query)
    for name in [*MADE, *sorted(ALIKE)]:
        reply = world.ask(world.other, name)
        assert reply.status_code < 400, (name, reply.text)
        assert world.traces(reply.text) == [], name
    tenant = caller_of(service, world.owner).tenant_id
    open_job = JobStore(service.database).find(world.ids["open job"], tenant)
    assert open_job is not None
    assert open_job["state"] == "running", "another tenant cancelled a job"
    _check_owner(world)


def _check_owner(world: World) -> None:
    """The control: what others do not see is there, untouched, and its owner sees it."""
    for name, kinds in LISTED.items():
        reply = world.ask(world.owner, name)
        assert reply.status_code == 200
        assert set(kinds) <= set(world.traces(reply.text)), name
    for name, kinds in OWNED.items():
        values = tuple(world.ids[kind] for kind in kinds)
        for query in ("", "?export=1") if name.startswith("GET /ui/") else ("",):
            reply = world.ask(world.owner, name, *values, query=query)
            assert reply.is_success, (name, reply.text)
            assert reply.text or name.startswith("DELETE"), name
            exported = "attachment" in reply.headers.get("content-disposition", "")
            assert exported is bool(query and "run-events" not in name), name
    for kind, path in (("open batch", "batches"), ("open job", "jobs")):
        told = world.client.get(f"/v1/{path}/{world.ids[kind]}", headers=bearer(world.owner))
        assert told.json()["state"] == "cancelled", "its owner cancelled it just now"


@pytest.mark.parametrize("way", ["header", "path", "cookie"])
def test_no_way_of_sending_a_key_opens_another_tenants_batch(
    client: TestClient, key: str, other_key: str, way: str
) -> None:
    batch = _judged(client, key)
    for each, status in ((other_key, 404), (key, 200)):
        if way == "header":
            found = client.get(f"/v1/batches/{batch}", headers={"X-API-Key": each})
        elif way == "path":
            found = client.get(f"/k/{each}/v1/batches/{batch}")
        else:
            found = client.get(f"/ui/batches/{batch}/0", headers={"Cookie": f"{COOKIE}={each}"})
        assert found.status_code == status


def _judged(client: TestClient, key: str) -> str:
    body = {"task": SECRET_TASK, "completion": f"# {MARK}"}
    return client.post("/v1/score", json=body, headers=bearer(key)).json()["batch"]


@pytest.mark.parametrize("database", BOTH, indirect=True)
@pytest.mark.parametrize("name", BY_KEY)
def test_an_idempotency_key_is_its_tenants_own(
    client: TestClient, service: Service, name: str
) -> None:
    keys = [service.directory.add_key(tenant, list(Grant)) for tenant in ("default", "beta")]
    body, path = MADE[name], name.split(" ")[1]
    changed = {**body, **({"deadline_s": 99.0} if "task" in body else {"seed": 7})}

    def send(key: str, body: dict[str, Any]) -> tuple[int, str]:
        reply = client.post(path, json=body, headers=bearer(key, **{"Idempotency-Key": MARK}))
        told = reply.json()
        return reply.status_code, told.get("id") or told.get("batch") or told["error"]["code"]

    mine, again, theirs = send(keys[0], body), send(keys[0], body), send(keys[1], changed)
    assert mine[0] == again[0] == theirs[0] < 300, theirs
    assert mine[1] == again[1] != theirs[1]
    assert send(keys[0], changed) == (422, "key_reused")
    assert send(keys[1], changed) == theirs


@pytest.mark.parametrize("database", BOTH, indirect=True)
def test_a_task_that_came_with_a_request_answers_no_other_tenants_name(
    client: TestClient, service: Service, key: str, other_key: str
) -> None:
    path = f"/v1/batches/{_judged(client, key)}/items/0"
    shown = client.get(path, headers=bearer(key)).json()["task"]
    assert shown.startswith("inline/")
    [stored] = service.database.read(lambda c: c.execute(sa.select(items.c.task)).scalars().all())
    for task in (shown, stored, json.loads(stored)):
        for each in (other_key, key):
            body = {"task": task, "completion": "x"}
            reply = client.post("/v1/score", json=body, headers=bearer(each))
            assert (reply.status_code, reply.json()["error"]["field"]) == (422, "task")
            assert MARK not in reply.text
