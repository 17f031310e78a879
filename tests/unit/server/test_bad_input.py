"""Claims about what clients do wrong: a 4xx that names the field, no trace, nothing lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from httpx import Response
from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.api_route import ApiRoute
from unhack.server.app import ROUTES, make_app
from unhack.server.http.bodies import read_json
from unhack.server.http.problems import RequestRefused
from unhack.server.pages.sign_in import PageRoute
from unhack.server.service import ServerSettings, Service

from .requests import FOUR, bearer

WITH_BODY = [route for route in ROUTES if route.model is not None]
GUARDED = [route for route in ROUTES if not route.open]
PATHS = {route.path for route in ROUTES}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """One server for all tests of this file: none of them leaves anything behind."""
    return Service(ServerSettings(data=tmp_path_factory.mktemp("server")))


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[TestClient]:
    with TestClient(make_app(service), raise_server_exceptions=False) as found:
        yield found


@pytest.fixture(scope="module")
def key(service: Service) -> str:
    return service.directory.add_key("alpha", list(Grant))


def name_of(route: ApiRoute) -> str:
    return f"{route.method} {route.path}"


def filled(path: str, value: str = "0" * 32) -> str:
    """The path with a value for each of its parameters."""
    parts = [value if part.startswith("{") else part for part in path.split("/")]
    return "/".join(parts)


def refusal(reply: Response, route: ApiRoute) -> tuple[int, str]:
    """Status and code; a page's refusal is a page, which has no code."""
    if not isinstance(route, PageRoute):
        return reply.status_code, reply.json()["error"]["code"]
    assert reply.headers["content-type"].startswith("text/html")
    return reply.status_code, ""


@pytest.mark.parametrize("route", GUARDED, ids=name_of)
@pytest.mark.parametrize("wrong", ["", "uh_", "uh_000000000000_" + "x" * 32, "\xff", "x" * 5000])
def test_no_route_opens_without_a_key(client: TestClient, route: ApiRoute, wrong: str) -> None:
    reply = client.request(
        route.method, filled(route.path), headers={"Authorization": b"Bearer " + wrong.encode()}
    )
    assert refusal(reply, route) == (401, "" if isinstance(route, PageRoute) else "unauthorized")


@pytest.mark.parametrize("route", [r for r in GUARDED if r.grant is not None], ids=name_of)
def test_no_route_opens_to_a_key_without_its_scope(
    client: TestClient, service: Service, route: ApiRoute
) -> None:
    key = service.directory.add_key("gamma", [grant for grant in Grant if grant != route.grant])
    reply = client.request(route.method, filled(route.path), headers=bearer(key))
    assert refusal(reply, route) == (403, "" if isinstance(route, PageRoute) else "forbidden")


@pytest.mark.parametrize("route", WITH_BODY, ids=name_of)
@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "UTF-8"),
        (b'{"task": NaN}', "NaN"),
        (b'{"task": -Infinity}', "Infinity"),
        (b'{"task": "\\ud800"}', "surrogate"),
        (b"[" * 200_000, "deep"),
        (b"1" * 10_000, "not JSON"),
    ],
    ids=["empty", "cut", "bytes", "nan", "infinity", "surrogate", "deep", "long-number"],
)
def test_a_malformed_body_is_refused_at_every_route(
    client: TestClient, key: str, route: ApiRoute, body: bytes, word: str
) -> None:
    reply = client.request(route.method, filled(route.path), content=body, headers=bearer(key))
    assert reply.status_code == 400, reply.text
    told = reply.json()["error"]
    assert word in told["message"]
    assert told["field"] == ("task" if b"task" in body else "body")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"task": {"cases": [{"args": [1]}, {"args": [NaN]}]}}', "task.cases.1.args.0"),
        ('{"a": [1, 2, {"b": 1e999}], "c": NaN}', "a.2.b"),
        ('{"completions": ["x", "y \\udfff"]}', "completions.1"),
        ('{"x\\ud800": 1}', "x\\ud800"),
        ("NaN", "body"),
        ('"\\ud800"', "body"),
        ('[[], {}, {"a": [[], [-Infinity]]}]', "2.a.1.0"),
    ],
)
def test_a_value_that_is_none_is_named_by_its_path(text: str, field: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        read_json(text.encode())
    assert (refused.value.status, refused.value.field) == (400, field)
    assert refused.value.message.isascii()


@pytest.mark.parametrize("route", WITH_BODY, ids=name_of)
@pytest.mark.parametrize("body", [b"null", b"5", b"[]", b'"text"', b"true"])
def test_a_body_that_is_no_object_is_refused_at_every_route(
    client: TestClient, key: str, route: ApiRoute, body: bytes
) -> None:
    reply = client.request(route.method, filled(route.path), content=body, headers=bearer(key))
    assert reply.status_code == 422
    assert reply.json()["error"]["field"] == "body"


@pytest.mark.parametrize("route", WITH_BODY, ids=name_of)
def test_an_unknown_field_is_named_at_every_route(
    client: TestClient, key: str, route: ApiRoute
) -> None:
    reply = client.request(
        route.method, filled(route.path), json={"no_such": 1}, headers=bearer(key)
    )
    assert reply.status_code == 422
    assert reply.json()["error"]["field"]


ONE = {"task": FOUR, "completion": ""}
MANY = {"task": FOUR, "completions": ["", ""]}
FUNCTION = {"kind": "function", "entry_point": "f", "cases": [{"args": [], "expected": 1}]}
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("score", {"completion": ""}, "task"),
    ("score", {"task": FOUR}, "completion"),
    ("score", {**ONE, "task": 5}, "task"),
    ("score", {**ONE, "task": ""}, "task"),
    ("score", {**ONE, "task": "no/such"}, "task"),
    ("score", {**ONE, "task": "strings"}, "task"),
    ("score", {**ONE, "task": "../../etc"}, "task"),
    ("score", {**ONE, "task": "/etc/passwd"}, "task"),
    ("score", {**ONE, "task": "math/bag-draw"}, "task"),
    ("score", {**ONE, "task": "math/bag-draw#999"}, "task"),
    ("score", {**ONE, "task": "math/bag-draw#" + "9" * 200}, "task"),
    ("score", {**ONE, "task": {"kind": "script"}}, "task"),
    ("score", {**ONE, "task": {**FOUR, "answer": "many"}}, "task"),
    ("score", {**ONE, "task": {**FOUR, "abs_tol": -1.0}}, "task.abs_tol"),
    ("score", {**ONE, "task": {**FUNCTION, "cases": []}}, "task.cases"),
    ("score", {**ONE, "task": {**FUNCTION, "entry_point": "a b"}}, "task.entry_point"),
    ("score", {**ONE, "task": {**FUNCTION, "cases": [{"args": 1}]}}, "task"),
    ("score", {**ONE, "task": {**FUNCTION, "cases": [{"args": [{"$": "?"}]}]}}, "task"),
    ("score", {**ONE, "task": {**FUNCTION, "wall_s": 1e9}}, "task.wall_s"),
    ("score", {**ONE, "task": {**FUNCTION, "wall_hard_s": 0}}, "task.wall_hard_s"),
    ("score", {**ONE, "completion": 5}, "completion"),
    ("score", {**ONE, "completion": None}, "completion"),
    ("score", {**ONE, "completion": [{"role": "assistant", "content": 5}]}, "completion"),
    ("score", {**ONE, "deadline_s": 0}, "deadline_s"),
    ("score", {**ONE, "deadline_s": "1"}, "deadline_s"),
    ("score", {**ONE, "deadline_s": 1e300}, "deadline_s"),
    ("batches", {}, "items"),
    ("batches", {**MANY, "items": [ONE]}, "items"),
    ("batches", {"completions": [""]}, "task"),
    ("batches", {"items": [ONE], "task": FOUR}, "task"),
    ("batches", {"items": []}, "items"),
    ("batches", {"items": [{**ONE, "task": "no/such"}]}, "items.0.task"),
    ("batches", {"items": [{"task": FOUR}]}, "items.0.completion"),
    ("batches", {**MANY, "completions": ["", 5]}, "completions.1"),
    ("batches", {**MANY, "group_size": 0}, "group_size"),
    ("batches", {**MANY, "group_size": 1.5}, "group_size"),
    ("batches", {**MANY, "estimator": "best"}, "estimator"),
    ("batches", {**MANY, "stream": "yes"}, "stream"),
    ("batches", {**MANY, "group_size": 10**400}, "group_size"),
]


@pytest.mark.parametrize(("route", "body", "field"), WRONG)
def test_a_wrong_field_is_named(
    client: TestClient, key: str, route: str, body: dict[str, Any], field: str
) -> None:
    reply = client.post(f"/v1/{route}", json=body, headers=bearer(key))
    assert reply.status_code == 422, reply.text
    assert reply.json()["error"]["field"] == field, reply.text
    assert field.partition(".")[0] in reply.json()["error"]["message"]


REWARD: dict[str, Any] = {
    "source": "def score(completion, answer):\n    return float(answer in completion)\n",
    "entry": "score",
    "rows": [{"prompt": "1 + 1?", "answer": "2"}, {"prompt": "2 + 3?", "answer": "5"}],
}
PLAYED: dict[str, Any] = {"contest": "reward_hacking", "agents": ["null"]}
RUN: dict[str, Any] = {"code": "", "language": "python"}
ROW = {"id": "1", "test": [{"input": {"stdin": ""}, "output": {"stdout": "1"}}]}
CONFIG: dict[str, Any] = {"language": "python", "provided_data": ROW}
SUBMITTED: dict[str, Any] = {"dataset": "x", "id": "1", "completion": "", "config": CONFIG}
CALLED: dict[str, Any] = {"query": ["x"], "prompts": ["x"], "labels": ["strings/knit-rows"]}
OPENED = {"task": "strings/knit-rows"}
ELSEWHERE: list[tuple[str, dict[str, Any], str]] = [
    ("/v1/audits", {}, "task"),
    ("/v1/audits", {"task": 5}, "task"),
    ("/v1/audits", {"task": "strings/knit"}, "task"),
    ("/v1/audits", {"task": "strings/knit-rows", "reward": REWARD}, "task"),
    ("/v1/audits", {"reward": {**REWARD, "rows": {}}}, "reward.rows"),
    ("/v1/audits", {"reward": {**REWARD, "rows": [5]}}, "reward.rows.0"),
    ("/v1/audits", {"reward": {**REWARD, "rows": [{"answer": "1"}]}}, "reward.rows.0"),
    ("/v1/audits", {"reward": {**REWARD, "rows": REWARD["rows"] * 1001}}, "reward.rows"),
    ("/v1/audits", {"reward": {**REWARD, "entry": "a b"}}, "reward.entry"),
    ("/v1/audits", {"reward": {**REWARD, "entry": "other"}}, "reward.source"),
    ("/v1/audits", {"reward": {**REWARD, "source": "def ("}}, "reward.source"),
    ("/v1/audits", {"reward": {"entry": "score"}}, "reward.source"),
    ("/v1/audits", {"reward": {**REWARD, "signature": "best"}}, "reward.signature"),
    ("/v1/audits", {"reward": REWARD, "tiers": [9]}, "tiers.0"),
    ("/v1/audits", {"reward": REWARD, "tiers": [1, 1]}, "tiers"),
    ("/v1/audits", {"reward": REWARD, "calls": 0}, "calls"),
    ("/v1/audits", {"reward": REWARD, "seconds": "9"}, "seconds"),
    ("/v1/audits", {"reward": REWARD, "seed": 10**400}, "seed"),
    ("/v1/tournaments", {}, "contest"),
    ("/v1/tournaments", {**PLAYED, "contest": "chess"}, "contest"),
    ("/v1/tournaments", {**PLAYED, "agents": []}, "agents"),
    ("/v1/tournaments", {**PLAYED, "agents": "null"}, "agents"),
    ("/v1/tournaments", {**PLAYED, "agents": ["null", "nul"]}, "agents.1"),
    ("/v1/tournaments", {**PLAYED, "rounds": 0}, "rounds"),
    ("/v1/tournaments", {**PLAYED, "impossible": 5}, "impossible"),
    ("/v1/tournaments", {**PLAYED, "options": [1]}, "options"),
    ("/v1/tournaments", {**PLAYED, "options": {"trackk": "x"}}, "options"),
    ("/v1/tournaments", {**PLAYED, "options": {"pairs": "-1"}}, "options.pairs"),
    ("/v1/tournaments", {**PLAYED, "seed": 1.5}, "seed"),
    ("/v1/environments/strings/episodes", {"task": 5}, "task"),
    ("/v1/environments/strings/episodes", {"task": "strings/knit"}, "task"),
    ("/v1/environments/strings/episodes", {**OPENED, "tries": 0}, "tries"),
    ("/v1/environments/strings/episodes", {**OPENED, "seed": "x"}, "seed"),
    ("/run_code", {"language": "python"}, "code"),
    ("/run_code", {**RUN, "code": 5}, "code"),
    ("/run_code", {**RUN, "stdin": 5}, "stdin"),
    ("/run_code", {**RUN, "run_timeout": -1}, "run_timeout"),
    ("/run_code", {**RUN, "files": [1]}, "files"),
    ("/run_code", {**RUN, "files": {"../x": ""}}, "files"),
    ("/run_code", {**RUN, "files": {"a": "?"}}, "files"),
    ("/run_code", {**RUN, "fetch_files": ["/etc/passwd"]}, "fetch_files"),
    ("/run_code", {**RUN, "memory_limit_MB": 10**9}, "memory_limit_MB"),
    ("/submit", {}, "dataset"),
    ("/submit", {**SUBMITTED, "completion": None}, "completion"),
    ("/submit", {**SUBMITTED, "config": 5}, "config"),
    ("/submit", {**SUBMITTED, "config": {**CONFIG, "language": "rust"}}, "config.language"),
    ("/submit", {**SUBMITTED, "config": {**CONFIG, "run_timeout": -5}}, "config.run_timeout"),
    (
        "/submit",
        {**SUBMITTED, "config": {**CONFIG, "provided_data": {"id": "1"}}},
        "config.provided_data.test",
    ),
    ("/openrlhf/reward", {}, "query"),
    ("/openrlhf/reward", {**CALLED, "query": [5]}, "query.0"),
    ("/openrlhf/reward", {**CALLED, "prompts": ["x", "y"]}, "prompts"),
    ("/openrlhf/reward", {**CALLED, "labels": []}, "labels"),
    ("/openrlhf/reward", {**CALLED, "labels": None}, "labels"),
    ("/openrlhf/reward", {**CALLED, "labels": ["no/such"]}, "labels"),
]


@pytest.mark.parametrize(("path", "body", "field"), ELSEWHERE)
def test_a_wrong_field_is_named_at_the_other_routes(
    client: TestClient, key: str, path: str, body: dict[str, Any], field: str
) -> None:
    reply = client.post(path, json=body, headers=bearer(key))
    assert reply.status_code in (400, 422), reply.text
    assert reply.json()["error"]["field"] == field, reply.text
    assert reply.json()["error"]["message"].startswith(field)


def test_a_wrong_action_is_named(client: TestClient, key: str) -> None:
    path = "/v1/environments/strings/episodes"
    made = client.post(path, json=OPENED, headers=bearer(key)).json()["id"]
    wrong = [({}, "reply"), ({"reply": 5}, "reply"), ({"reply": "", "name": "x"}, "reply")]
    for body, field in [*wrong, ({"name": "list", "arguments": 5}, "arguments")]:
        reply = client.post(f"/v1/episodes/{made}/actions", json=body, headers=bearer(key))
        assert reply.json()["error"]["field"] == field
    client.delete(f"/v1/episodes/{made}", headers=bearer(key))


@pytest.mark.parametrize("route", [r for r in ROUTES if r.method == "POST"], ids=name_of)
def test_a_body_of_a_hundred_megabytes_is_refused_or_dropped(
    client: TestClient, service: Service, key: str, route: ApiRoute
) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * (1 << 20)

    path = filled(route.path)
    reply = client.request(route.method, path, content=parts(), headers=bearer(key))
    assert service.room.taken == 0
    if route.model is not None:
        told = reply.json()["error"]
        assert (reply.status_code, told["code"], told["field"]) == (413, "too_large", "body")
    elif path == "/ui/login":
        assert reply.status_code == 413
    else:
        assert reply.status_code < 500


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Idempotency-Key", ""),
        ("Idempotency-Key", "a b"),
        ("Idempotency-Key", "x" * 201),
        ("X-Deadline-Ms", "0"),
        ("X-Deadline-Ms", "-5"),
        ("X-Deadline-Ms", "nan"),
        ("X-Deadline-Ms", "9" * 40),
    ],
)
def test_a_wrong_header_is_named(client: TestClient, key: str, name: str, value: str) -> None:
    for path, body in (("score", ONE), ("batches", MANY)):
        reply = client.post(f"/v1/{path}", json=body, headers=bearer(key, **{name: value}))
        assert (reply.status_code, reply.json()["error"]["field"]) == (422, name)


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=1e9", "before=nan", "before=-1"])
def test_a_wrong_query_is_named(client: TestClient, key: str, query: str) -> None:
    reply = client.get(f"/v1/batches?{query}", headers=bearer(key))
    assert (reply.status_code, reply.json()["error"]["field"]) == (422, query.partition("=")[0])


@pytest.mark.parametrize("route", [r for r in GUARDED if "{" in r.path], ids=name_of)
@pytest.mark.parametrize(
    "value", ["x", "%00", "%ff", "..", "%27%20OR%201%3D1", "0" * 32, "a" * 9000]
)
def test_an_unknown_id_is_not_found_at_every_route(
    client: TestClient, key: str, route: ApiRoute, value: str
) -> None:
    body = {"json": {}} if route.model else {}
    path = filled(route.path, value)
    reply = client.request(route.method, path, headers=bearer(key), **body)
    above = reply.url.path != path and reply.url.path in PATHS  # the client itself went up by `..`
    assert above or 400 <= reply.status_code < 500, reply.text
