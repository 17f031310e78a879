"""Claims about bodies that are sent to fill a server, or to be read in two ways."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from unhack.server.http import bodies
from unhack.server.http.body_room import BodyRoom, HeldRoom
from unhack.server.http.problems import RequestRefused
from unhack.server.routes.batch_models import BatchBody
from unhack.server.service import Service

from ..requests import BOTH, FOUR, PLUS_ONE, RIGHT, bearer  # noqa: TID252


def post(client: TestClient, key: str, path: str, text: str | bytes) -> Any:
    return client.post(f"/v1/{path}", content=text, headers=bearer(key))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400 + ".0", "NaN", "Infinity"])
def test_a_number_beyond_a_double_is_refused_and_not_kept_as_null(
    client: TestClient, key: str, number: str
) -> None:
    task = json.dumps({**PLUS_ONE, "cases": [{"args": [1], "expected": 7.5}]})
    text = f'{{"task": {task.replace("7.5", number)}, "completion": ""}}'
    reply = post(client, key, "score", text)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "malformed")


@pytest.mark.parametrize("twin", ['"completion": "\\\\boxed{4}"', '"\\u0063ompletion": ""'])
def test_a_name_that_stands_twice_is_refused(client: TestClient, key: str, twin: str) -> None:
    text = f'{{"task": {json.dumps(FOUR)}, "completion": "no", {twin}}}'
    reply = post(client, key, "score", text)
    assert reply.status_code == 400
    assert "'completion' stands twice" in reply.json()["error"]["message"]


def test_an_encoded_body_is_refused_before_it_is_decoded(client: TestClient, key: str) -> None:
    bomb = gzip.compress(b" " * (1 << 20))
    headers = bearer(key, **{"Content-Encoding": "gzip"})
    reply = client.post("/v1/score", content=bomb, headers=headers)
    assert (reply.status_code, reply.json()["error"]["field"]) == (415, "Content-Encoding")


@pytest.mark.parametrize("text", ["\\ud83d\\ude00", "\\\\ud800", "\\ufdd0", "\U0001f600"])
def test_what_only_looks_like_a_surrogate_is_judged(
    client: TestClient, key: str, text: str
) -> None:
    body = f'{{"task": {json.dumps(FOUR)}, "completion": "{text} \\\\boxed{{4}}"}}'
    assert post(client, key, "score", body.encode()).json()["reward"] == 1.0


LONE = "def f(x):\n    return x + 1  # \ud800\n"


@pytest.mark.slow
@pytest.mark.parametrize("database", BOTH, indirect=True)
@pytest.mark.parametrize("kind", ["completions", "items"])
def test_a_lone_surrogate_in_a_completion_takes_no_other_with_it(
    client: TestClient, key: str, kind: str
) -> None:
    chat = [{"role": "assistant", "content": LONE}]
    texts = [RIGHT, LONE, RIGHT + "# another\n", chat]
    body: dict[str, Any] = {"task": PLUS_ONE, "completions": texts}
    if kind == "items":
        body = {"items": [{"task": PLUS_ONE, "completion": text} for text in texts]}
    told = post(client, key, "batches", json.dumps(body)).json()
    assert told["rewards"] == [1.0, 0.0, 1.0, 0.0]
    assert [line["verdict"]["status"] for line in told["verdicts"]][1::2] == ["invalid"] * 2
    assert "surrogate" in told["verdicts"][1]["verdict"]["reason"]
    item = client.get(f"/v1/batches/{told['id']}/items/1", headers=bearer(key))
    assert item.json()["completion"] == LONE


def test_halves_of_two_parts_that_meet_are_one_character(client: TestClient, key: str) -> None:
    parts = [{"text": "\ud83d"}, {"text": "\ude00 \\boxed{4}"}]
    chat = [{"role": "assistant", "content": parts}]
    told = post(client, key, "score", json.dumps({"task": FOUR, "completion": chat})).json()
    item = client.get(f"/v1/batches/{told['batch']}/items/0", headers=bearer(key)).json()
    assert (told["reward"], item["completion"]) == (1.0, "\U0001f600 \\boxed{4}")


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_a_program_with_a_lone_surrogate_is_a_verdict(
    client: TestClient, key: str, language: str
) -> None:
    task = {"kind": "stdio", "language": language, "cases": [{"stdin": "", "stdout": "4"}]}
    body = {"task": task, "completions": ["4\ud800", "\ud800"]}
    told = post(client, key, "batches", json.dumps(body)).json()
    assert told["rewards"] == [0.0, 0.0], told


def test_a_lone_surrogate_elsewhere_is_refused_by_its_name(client: TestClient, key: str) -> None:
    task = {**FOUR, "answer": "\ud800"}
    for body, field in (
        ({"task": FOUR, "completions": ["x"], "estimator": "\ud800"}, "estimator"),
        ({"items": [{"task": task, "completion": "\ud800"}]}, "items.0.task.answer"),
    ):
        reply = post(client, key, "batches", json.dumps(body))
        assert (reply.status_code, reply.json()["error"]["field"]) == (400, field)


def test_a_body_of_millions_of_values_is_refused_before_it_is_parsed(
    client: TestClient, service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parsed(*_: object, **__: object) -> None:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(bodies, "read_json", parsed)
    task = json.dumps(FOUR)
    for filling in ("[[" + "{}," * 1_200_000 + "{}]]", "[" + '"a",' * 2_100_000 + '"a"]'):
        reply = post(client, key, "batches", f'{{"task": {task}, "completions": {filling}}}')
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "malformed")
        assert "values" in reply.json()["error"]["message"]
    assert service.room.taken == 0


def test_marks_inside_of_texts_are_no_values() -> None:
    text = json.dumps({"completion": ',[{:"\\' * 100_000})
    assert bodies.count_values(text.encode()) < 10


def test_a_long_list_of_wrong_values_costs_one_complaint() -> None:
    value = {"task": "x", "completions": [5] * 300_000}
    with pytest.raises(ValidationError) as found:
        BatchBody.model_validate(value, strict=True)
    assert found.value.error_count() < 10
    with pytest.raises(RequestRefused, match=r"completions\.0"):
        bodies.as_model(value, BatchBody)


@pytest.mark.slow
def test_an_object_of_a_hundred_thousand_names_is_refused(client: TestClient, key: str) -> None:
    text = json.dumps({f"k{number}": 5 for number in range(100_000)})
    reply = post(client, key, "score", text)
    assert reply.status_code == 400
    assert "names" in reply.json()["error"]["message"]


def test_bodies_share_a_bounded_room_of_which_one_tenant_gets_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        room = BodyRoom(longest=10, together=100, wait_s=0.05)
        greedy, modest = HeldRoom(room, 1), HeldRoom(room, 2)
        await greedy.grow(75)
        with pytest.raises(RequestRefused) as refused:
            await HeldRoom(room, 1).grow(1)
        assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "5")
        await modest.grow(25)
        monkeypatch.setattr(room, "_wait_s", 60.0)
        waiting = asyncio.create_task(HeldRoom(room, 1).grow(50))
        await asyncio.sleep(0)
        greedy.close()
        await waiting
        modest.keep(5)
        assert room.taken == 55
        with pytest.raises(RequestRefused) as never:
            await HeldRoom(room, 3).grow(76)
        assert never.value.status == 413

    asyncio.run(main())


@pytest.mark.slow
def test_every_request_gives_its_room_back(client: TestClient, service: Service, key: str) -> None:
    long = f"# {'x' * 400_000}\n{RIGHT}"
    assert (
        post(client, key, "score", json.dumps({"task": PLUS_ONE, "completion": long})).json()[
            "reward"
        ]
        == 1.0
    )
    many = {"task": PLUS_ONE, "completions": [long, "no"]}
    assert post(client, key, "batches", json.dumps(many)).json()["rewards"] == [1.0, 0.0]
    for text in ("{", '{"task": 5}', "[" * 5000, " " * 500_000):
        post(client, key, "score", text)
    assert service.room.taken == 0
