"""The proxy on loopback, between a client and a scripted provider."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from unhack.agents.metering.meter import CostMeter, TokenCounts, load_prices
from unhack.agents.proxy.dialects import PROVIDERS
from unhack.agents.proxy.server import Account, Proxy

sys.path.insert(0, str(Path(__file__).parents[2] / "smoke"))
import scripted_models as models

pytestmark = pytest.mark.slow

TOKEN, KEY = "seat-token", "real-key"
ASK = {"model": "claude-sonnet-4-5", "stream": True, "messages": [], "tools": [{"name": "Bash"}]}
PATHS = {
    "anthropic": ("v1/messages", ASK),
    "openai": ("v1/responses", {"model": "gpt-5.2", "stream": True}),
    "dashscope": ("v1/chat/completions", {"model": "qwen3-coder-plus", "stream": True}),
    "gemini": ("v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", {"contents": []}),
}


@contextmanager
def serving(
    script: models.Script,
    *,
    limit: float = 1.0,
    check: Callable[[], dict[str, Any]] = dict,
    url: str = "",
) -> Generator[tuple[httpx.Client, Proxy]]:
    """A proxy before a scripted provider, and a client of it with the seat's token."""
    with models.playing(script) as upstream, socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        providers = {name: replace(item, url=url or upstream) for name, item in PROVIDERS.items()}
        account = Account(
            TOKEN, CostMeter(load_prices(), limit), providers, dict.fromkeys(providers, KEY)
        )
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            Proxy(account, check=check) as proxy,
            httpx.Client(base_url=base, headers={"x-api-key": TOKEN}, timeout=30) as client,
        ):
            proxy.serve(listener)
            yield client, proxy


def settled(proxy: Proxy, requests: int) -> CostMeter:
    """The meter, once so many answers were charged."""
    meter = proxy.account.meter
    deadline = time.monotonic() + 60
    while meter.requests < requests and time.monotonic() < deadline:
        time.sleep(0.01)
    assert meter.requests == requests
    return meter


@pytest.mark.parametrize("provider", PATHS)
def test_an_answer_is_passed_on_and_charged(provider: str) -> None:
    script = models.Script(["done"])
    path, body = PATHS[provider]
    with serving(script) as (client, proxy):
        answer = client.post(f"/{provider}/{path}", json=body)
        meter = settled(proxy, 1)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream"
    assert "data: " in answer.text
    tokens = meter.tokens()
    assert (tokens.input, tokens.output) == (models.INPUT, models.OUTPUT)
    [model] = meter.by_model
    assert meter.spent_usd == pytest.approx(meter.prices.cost_usd(model, tokens))


def test_the_provider_gets_the_key_and_never_the_token() -> None:
    script = models.Script(["done"])
    with serving(script) as (client, _):
        for provider, (path, body) in PATHS.items():
            for header in ("authorization", "x-api-key", "x-goog-api-key"):
                value = f"Bearer {TOKEN}" if header == "authorization" else TOKEN
                client.post(f"/{provider}/{path}", json=body, headers={header: value})
    assert set(script.keys) == {KEY}
    assert TOKEN not in json.dumps(script.asked)


def test_without_the_token_nothing_is_passed_on_or_checked() -> None:
    script = models.Script(["done"])
    with serving(script) as (client, proxy):
        del client.headers["x-api-key"]
        for headers in ({}, {"x-api-key": "guess"}, {"authorization": "Bearer guess"}):
            answer = client.post("/anthropic/v1/messages", json=ASK, headers=headers)
            assert answer.status_code == 401
            assert answer.json()["error"]["type"] == "authentication_error"
            assert client.post("/check", headers=headers).status_code == 401
    assert script.paths == []
    assert proxy.checks == 0


def test_the_key_is_in_no_answer() -> None:
    script = models.Script(["done"])
    with serving(script) as (client, _):
        answers = [
            client.post("/anthropic/v1/messages", json=ASK),
            client.post("/anthropic/v1/files", json={"a": 1}),
            client.get("/anthropic/v1/models"),
            client.get("/nobody/v1/models"),
            client.post("/anthropic/v1/messages", content=b"nonsense"),
        ]
    assert [answer.status_code for answer in answers] == [200, 404, 200, 404, 400]
    assert not any(KEY in answer.text + str(answer.headers) for answer in answers)


def test_a_stream_reaches_the_client_while_it_goes_on() -> None:
    script = models.Script(["done"], goes_on=threading.Event())
    with (
        serving(script) as (client, _),
        client.stream("POST", "/anthropic/v1/messages", json=ASK) as answer,
    ):
        lines = answer.iter_lines()
        first = next(line for line in lines if line.startswith("data:"))
        script.goes_on.set()  # the provider has not said its last yet
        rest = [line for line in lines if line.startswith("data:")]
    assert "message_start" in first
    assert "message_stop" in rest[-1]


def test_the_cost_limit_ends_in_the_provider_s_own_error() -> None:
    script = models.Script(["done"])
    small = {**ASK, "max_tokens": 100}
    with serving(script, limit=0.008) as (client, proxy):
        assert client.post("/anthropic/v1/messages", json=small).status_code == 200
        settled(proxy, 1)
        refused = client.post("/anthropic/v1/messages", json=small)
        other = client.post("/openai/v1/responses", json=PATHS["openai"][1])
    assert (refused.status_code, refused.json()["error"]["type"]) == (402, "billing_error")
    assert "the cost limit of this attempt is 0.008 USD" in refused.json()["error"]["message"]
    assert (other.status_code, other.json()["error"]["code"]) == (429, "insufficient_quota")
    assert proxy.account.meter.refused_at
    assert len(script.paths) == 1


def test_hanging_up_early_is_charged_all_the_same() -> None:
    script = models.Script(["done"], pause_s=1.0)
    with serving(script) as (client, proxy):
        with client.stream("POST", "/openai/v1/responses", json=PATHS["openai"][1]) as answer:
            next(answer.iter_raw())
        meter = settled(proxy, 1)
    assert meter.tokens().input > 0
    assert meter.tokens().output > 0


@pytest.mark.parametrize("provider", PATHS)
def test_many_requests_at_once_stay_within_the_limit(provider: str) -> None:
    path, body = PATHS[provider]
    small: dict[str, Any] = {"max_tokens": 120, "max_output_tokens": 120}
    small["generationConfig"] = {"maxOutputTokens": 120}
    model = body.get("model", "gemini-2.5-pro")
    price = load_prices().cost_usd(str(model), TokenCounts(models.INPUT, models.OUTPUT))
    codes: list[int] = []
    with serving(models.Script(["done"], pause_s=0.2), limit=6 * price) as (client, proxy):

        def one() -> None:
            codes.append(client.post(f"/{provider}/{path}", json={**body, **small}).status_code)

        threads = [threading.Thread(target=one) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        meter = settled(proxy, codes.count(200))
    assert 3 <= codes.count(200) <= 6
    assert len(codes) == 20
    assert meter.spent_usd <= 6 * price + 1e-9


def test_a_request_without_a_limit_is_given_one_where_its_maximum_does_not_fit() -> None:
    script = models.Script(["done"])
    with serving(script, limit=0.5) as (client, proxy):
        client.post("/openai/v1/responses", json=PATHS["openai"][1])
        client.post("/dashscope/v1/chat/completions", json={"model": "o3", "messages": []})
        settled(proxy, 2)
    assert 16_000 <= script.asked[0]["max_output_tokens"] < 0.5 / 14e-6
    assert 16_000 <= script.asked[1]["max_tokens"] < 0.5 / 8e-6


def test_a_limit_that_makes_no_sense_is_refused_before_it_is_sent() -> None:
    script = models.Script(["done"])
    with serving(script) as (client, proxy):
        answer = client.post("/anthropic/v1/messages", json={**ASK, "max_tokens": "many"})
    assert answer.status_code == 400
    assert "whole number above 0" in answer.text
    assert (script.paths, proxy.account.meter.requests) == ([], 0)


def test_what_is_under_way_when_the_proxy_closes_is_charged_and_nothing_is_printed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    script = models.Script(["done"], goes_on=threading.Event())
    body = {**ASK, "max_tokens": 1000}
    with (
        serving(script) as (client, proxy),
        client.stream("POST", "/anthropic/v1/messages", json=body) as answer,
    ):
        next(answer.iter_raw())
        proxy.close()
        assert proxy.account.meter.reserved_usd == 0
        script.goes_on.set()
    meter = settled(proxy, 1)
    assert meter.tokens().output == 1000
    assert capfd.readouterr() == ("", "")


def test_hosted_tools_and_unknown_headers_do_not_reach_the_provider() -> None:
    script = models.Script(["done"])
    tools = [{"name": "Bash"}, {"type": "web_search_20250305", "name": "web_search"}]
    with serving(script) as (client, _):
        client.post("/anthropic/v1/messages", json={**ASK, "tools": tools})
    assert script.asked[0]["tools"] == [{"name": "Bash"}]


def test_a_document_by_address_is_refused() -> None:
    script = models.Script(["done"])
    source = {"type": "url", "url": "https://host/answers.pdf"}
    message = {"role": "user", "content": [{"type": "document", "source": source}]}
    with serving(script) as (client, proxy):
        answer = client.post("/anthropic/v1/messages", json={**ASK, "messages": [message]})
        counted = client.post("/anthropic/v1/messages/count_tokens", json={"messages": [message]})
    assert (answer.status_code, counted.status_code) == (400, 400)
    assert script.paths == []
    assert proxy.account.meter.requests == 0


def test_a_provider_that_is_not_there_is_an_error_that_costs_nothing() -> None:
    with serving(models.Script(["done"]), url="http://127.0.0.1:9") as (client, proxy):
        answer = client.post("/anthropic/v1/messages", json=ASK)
        meter = settled(proxy, 1)
    assert (answer.status_code, answer.json()["type"]) == (502, "error")
    assert meter.spent_usd == 0


def test_a_check_answers_what_the_host_measured_and_is_counted() -> None:
    with serving(models.Script([]), check=lambda: {"fitness": 0.5}) as (client, proxy):
        assert client.post("/check").json() == {"fitness": 0.5}
        assert client.post("/check").json() == {"fitness": 0.5}
    assert proxy.checks == 2


def test_checks_run_one_at_a_time() -> None:
    at_once: list[int] = []
    running = 0

    def check() -> dict[str, Any]:
        nonlocal running
        running += 1
        at_once.append(running)
        time.sleep(0.05)
        running -= 1
        return {}

    with serving(models.Script([]), check=check) as (client, _):
        threads = [threading.Thread(target=client.post, args=("/check",)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert at_once == [1, 1, 1, 1]
