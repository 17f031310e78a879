"""Claims about the clients: every route over a real socket, the server's words, asking again."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from typing import Any

import httpx
import pytest
import uvicorn

from unhack.server.app import make_app
from unhack.server.client.async_client import AsyncClient
from unhack.server.client.calls import post
from unhack.server.client.client import Client
from unhack.server.client.exchange import read
from unhack.server.client.service_error import ServiceError
from unhack.server.foreign.fusion_models import FusionConfig, FusionRun, FusionSubmit
from unhack.server.foreign.openrlhf_models import OpenRLHFCall
from unhack.server.http.job_models import AuditOrder, TournamentOrder
from unhack.server.http.score_replies import ScoreReply
from unhack.server.service import Service
from unhack.tasks.suite import find_task

pytestmark = pytest.mark.slow

NAME = "strings/knit-rows"
RIGHT = str(find_task(NAME).problem.reference)


@pytest.fixture
def url(service: Service) -> Iterator[str]:
    """The address of a server on a socket."""
    config = uvicorn.Config(make_app(service), port=0, log_level="critical", ws="none")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    running.should_exit = True
    thread.join()


def test_scores_come_back_as_values(url: str, key: str) -> None:
    with Client(url, key) as client:
        assert client.score(NAME, RIGHT).reward == 1.0
        batch = client.score_batch(NAME, [RIGHT, "x"], group_size=2)
        assert (batch.rewards, batch.state) == ([1.0, 0.0], "done")
        assert batch.verdicts is not None
        *lines, last = client.stream_batch(NAME, [RIGHT, "x"])
        assert {line["index"]: line["reward"] for line in lines} == {0: 1.0, 1: 0.0}
        assert last["summary"]["rewards"] == [1.0, 0.0]
        begun = client.begin_batch(NAME, [RIGHT])
        assert client.batch(begun.id).count == 1
        client.cancel_batch(begun.id)  # it may be judged by now, and about to be done
        until = time.monotonic() + 60
        while client.batch(begun.id).state == "accepted" and time.monotonic() < until:
            time.sleep(0.05)
        assert client.batch(begun.id).state in ("cancelled", "done")
        assert len(list(client.verdicts(batch.id))) == 2
        assert len(client.batches(limit=2).batches) == 2
        assert NAME in [one.id for one in client.tasks().tasks]
        assert client.task(NAME).prompt


def test_jobs_are_ordered_followed_and_ended(url: str, key: str) -> None:
    order = AuditOrder(task=NAME, tiers=[1], calls=3, seconds=20)
    with Client(url, key) as client:
        job = client.order(order)
        assert [one.state for one in client.follow_job(job.id)][-1] == "done"
        assert client.wait_for_job(job.id).result is not None
        assert "<html" in client.job_page(job.id)
        played = client.order(TournamentOrder(contest="reward_hacking", agents=["null"]))
        assert client.cancel_job(played.id).state == "cancelled"
        assert [one.id for one in client.jobs().jobs] == [played.id, job.id]


def test_episodes_are_played(url: str, key: str) -> None:
    with Client(url, key) as client:
        suite = next(one.name for one in client.environments().environments if not one.actions)
        assert client.environment(suite).tasks
        episode = client.open_episode("strings", task=NAME)
        assert client.episodes().episodes == [client.episode(episode.id)]
        assert client.act(episode.id, RIGHT).reward == 1.0
        assert client.close_episode(episode.id).ended


def test_other_peoples_routes_have_methods_too(url: str, key: str) -> None:
    row = {"id": 1, "test": [{"input": {"stdin": ""}, "output": {"stdout": "1"}}]}
    config = FusionConfig(language="python", provided_data=row)
    with Client(url, key) as client:
        told = client.run_code(FusionRun(code="print(1)", language="python"))
        assert told.run_result is not None
        assert told.run_result.stdout == "1\n"
        asked = FusionSubmit(dataset="d", id=1, completion="print(1)", config=config)
        assert client.submit(asked).accepted
        call = OpenRLHFCall(query=["p" + RIGHT], prompts=["p"], labels=[NAME])
        assert client.reward(call).rewards == [1.0]
        assert client.text("/v1/ping") == "pong"
        assert json.loads(client.text("/v1/openapi.json"))["openapi"] == "3.1.0"


def test_the_async_client_does_the_same(url: str, key: str) -> None:
    async def main() -> None:
        async with AsyncClient(url, key) as client:
            told = await asyncio.gather(*(client.score(NAME, RIGHT) for _ in range(4)))
            assert [one.reward for one in told] == [1.0] * 4
            lines = [line async for line in client.stream_batch(NAME, [RIGHT])]
            assert lines[0]["reward"] == 1.0
            job = await client.order(AuditOrder(task=NAME, tiers=[1], calls=3, seconds=20))
            states = [one.state async for one in client.follow_job(job.id)]
            assert states[-1] == "done"
            assert (await client.wait_for_job(job.id)).result is not None
            episode = await client.open_episode("strings", task=NAME)
            assert (await client.act(episode.id, "x")).ended
            with pytest.raises(ServiceError, match="no job of yours"):
                await client.job("0" * 32)

    asyncio.run(main())


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type[Any]) -> dict[str, list[str]]:
        found = inspect.getmembers(kind, inspect.isfunction)
        return {
            name: list(inspect.signature(one).parameters)
            for name, one in found
            if not name.startswith("_")
        }

    assert methods(Client) == methods(AsyncClient)


def test_an_error_has_the_servers_words(url: str, key: str) -> None:
    with Client(url, key) as client:
        with pytest.raises(ServiceError, match="unknown task") as caught:
            client.score("strings/knit-row", "x")
        assert (caught.value.status, caught.value.field) == (422, "task")
        with pytest.raises(ServiceError, match="limit") as caught:
            client.batches(limit=0)
        assert caught.value.field == "limit"
    with (
        Client(url, "wrong") as client,
        pytest.raises(ServiceError, match="no valid key") as caught,
    ):
        client.jobs()
    assert (caught.value.status, caught.value.code) == (401, "unauthorized")


class _Busy(BaseHTTPRequestHandler):
    """Refuses twice, then answers; notes the idempotency keys."""

    seen: list[str | None]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.seen.append(self.headers.get("Idempotency-Key"))
        status = 503 if len(self.seen) < 3 else 200
        body = json.dumps({"batch": "b", "reward": 1.0, "verdict": {}}).encode()
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.mark.parametrize("text", ["\ud800", "ü日\u0000\x1b\U0001f600", '"\\u"'])
def test_any_text_of_a_policy_has_the_servers_answer(url: str, key: str, text: str) -> None:
    async def main() -> float | None:
        async with AsyncClient(url, key) as client:
            return (await client.score(NAME, text)).reward

    assert asyncio.run(main()) == 0.0
    with Client(url, key) as client:
        *_, last = client.stream_batch(NAME, [RIGHT, text, RIGHT])
        assert last["summary"]["rewards"] == [1.0, 0.0, 1.0]
        assert client.item(last["summary"]["id"], 1).completion == text


def test_a_lone_surrogate_outside_of_completions_has_the_servers_words(url: str, key: str) -> None:
    with (
        Client(url, key) as client,
        pytest.raises(ServiceError, match="task: holds a lone surrogate") as told,
    ):
        client.score("\ud800", RIGHT)
    assert told.value.status == 400


def test_a_stream_that_is_left_early_gives_its_connection_back(url: str, key: str) -> None:
    limits = httpx.Limits(max_connections=1)
    with httpx.Client(limits=limits, timeout=60) as http:
        client = Client(url, key, http=http)
        first = next(iter(client.stream_batch(NAME, [RIGHT, "x"])))
        assert first["reward"] in (0.0, 1.0)
        assert client.text("/v1/ping") == "pong"


def test_a_server_below_a_path_is_reached_by_its_address(url: str, key: str) -> None:
    with Client(f"{url}/k/{key}", "no key in the header") as client:
        assert client.score(NAME, RIGHT).reward == 1.0
        job = client.order(AuditOrder(task=NAME, calls=300, seconds=60, stop_at_first=True))
        assert client.cancel_job(job.id).id == job.id


def test_a_number_that_json_lacks_is_said_so(url: str, key: str) -> None:
    task = {"kind": "function", "entry_point": "f", "cases": [{"expected": math.nan}]}
    with Client(url, key) as client, pytest.raises(ServiceError, match="NaN"):
        client.score(task, RIGHT)


def test_a_busy_server_is_asked_again_with_the_same_key() -> None:
    handler = type("Busy", (_Busy,), {"seen": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with Client(f"http://127.0.0.1:{server.server_port}", "k") as client:
        assert client.score(NAME, "x").reward == 1.0
    server.shutdown()
    thread.join()
    server.server_close()
    assert len(handler.seen) == 3  # type: ignore[attr-defined]
    assert len(set(handler.seen)) == 1  # type: ignore[attr-defined]
    assert handler.seen[0]  # type: ignore[attr-defined]


def test_a_server_that_is_not_there_is_said_so() -> None:
    client = Client("http://127.0.0.1:9", "k", tries=1)
    with client, pytest.raises(ServiceError, match="no reply"):
        client.tasks()


def test_the_client_needs_httpx_and_pydantic_alone() -> None:
    code = """
import sys
for name in ("sqlalchemy", "alembic", "fastapi", "starlette", "uvicorn", "psycopg", "jinja2"):
    sys.modules[name] = None
import unhack.server.client.async_client, unhack.server.client.client
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("theirs", "words"), [("9.9.9", "unhack 9.9.9"), ("", "no unhack, or")])
def test_a_server_of_another_version_is_named_where_it_is_not_understood(
    theirs: str, words: str
) -> None:
    headers = {"Unhack-Version": theirs} if theirs else {}
    call = post("/v1/score", ScoreReply, {"task": NAME, "completion": "x"})
    strange = httpx.Response(200, json={"batch": "b", "rewards": [1.0]}, headers=headers)
    with pytest.raises(ServiceError, match=rf"the server is {words}(.|\n)*verdict"):
        read(call, strange)
    told = {"error": {"code": "invalid", "message": "x: no such field", "field": "x"}}
    refused = httpx.Response(422, json=told, headers=headers)
    with pytest.raises(ServiceError, match=f"x: no such field .the server is {words}"):
        read(call, refused)


def test_a_server_of_the_same_version_tells_it_and_no_error_speaks_of_it(
    url: str, key: str
) -> None:
    found = httpx.get(f"{url}/v1/health")
    assert found.headers["unhack-version"] == version("unhack")
    with Client(url, key) as client, pytest.raises(ServiceError) as caught:
        client.task("no/such")
    assert "the server is" not in str(caught.value)
