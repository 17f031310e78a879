"""The cap of a model under parallel requests, slow answers, missing counts and retries."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.agents.model_server import KEY, ModelServer, Request, Step, fails, says

from unhack.agents.language_models.endpoint import Endpoint
from unhack.agents.language_models.model import Message, Model
from unhack.agents.language_models.replies import ModelError, Trouble
from unhack.agents.metering.requests import tokens_of
from unhack.audit.language_models.attacker import ModelAttacker

THREADS = 16
OUTPUT = 500
PRICES = (3.0, 15.0)
SOON = {"retry_after_ms": "1"}


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def model_of(server: ModelServer, *, folder: Path | None = None, **changes: Any) -> Model:
    limits = {
        name: changes.pop(name) for name in ("cost_limit_usd", "token_limit") if name in changes
    }
    made = Endpoint(
        "openai", server.url("openai"), "scripted", KEY, timeout_s=120.0, retries=0,
        prices=PRICES, max_output_tokens=OUTPUT,
    )  # fmt: skip
    return Model(replace(made, **changes), folder=folder, **limits)


def without_usage(text: str) -> Step:
    body = json.loads(says(text, "openai").body)
    del body["usage"]
    return Step(json.dumps(body).encode())


def ask_until_spent(model: Model, name: str, *, most: int = 200) -> list[Trouble]:
    """The reasons of all failures; the last one is that nothing may be asked any more."""
    troubles: list[Trouble] = []
    for number in range(most):
        try:
            model.ask("Be brief.", [Message("user", f"{name} asks for number {number}")])
        except ModelError as error:
            troubles.append(error.reason)
            if error.reason is Trouble.SPENT:
                break
    return troubles


def in_threads(work: Callable[[int], Any]) -> list[Any]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def price(given: int, taken: int) -> float:
    return (given * PRICES[0] + taken * PRICES[1]) / 1e6


def charge(request: Request, step: Step) -> float:
    """What a service may charge for a request: all that it can, where it does not say."""
    usage = json.loads(step.body).get("usage") if step.status == 200 else None
    if usage:
        return price(usage["prompt_tokens"], usage["completion_tokens"])
    if step.status == 429:
        return 0.0
    given = sum(tokens_of(turn["content"]) for turn in request.body["messages"])
    return price(given, request.body["max_completion_tokens"])


MIXED = [
    says("short", "openai", tokens=(20, 1)),
    without_usage("no counts"),
    fails(503, "overloaded", **SOON),
    says("as long as it may be", "openai", tokens=(20, OUTPUT)),
    fails(429, "later", **SOON),
    says("", "openai", tokens=(20, 90)),
    fails(500, "broken", **SOON),
]


@pytest.mark.parametrize("retries", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_sixteen_threads_never_pass_one_cap(retries: int) -> None:
    script = [replace(step, takes_s=0.01 * (n % 4)) for n, step in enumerate(MIXED * 100)]
    with ModelServer(*script) as server:
        model = model_of(server, cost_limit_usd=0.12, retries=retries)
        found = in_threads(lambda number: ask_until_spent(model, f"thread {number}"))
    assert all(troubles[-1] is Trouble.SPENT for troubles in found)
    sent = list(zip(server.requests, script, strict=False))
    real = sum(charge(request, step) for request, step in sent)
    assert model.cost_usd is not None
    assert real <= model.cost_usd + 1e-9 <= 0.12 + 2e-9
    assert model.cost_usd > 0.12 - 2 * price(100, OUTPUT)  # the cap is used up, not avoided


@pytest.mark.slow
def test_tokens_are_capped_alike_where_no_prices_are_known() -> None:
    script = [replace(step, takes_s=0.01) for step in MIXED * 100]
    with ModelServer(*script) as server:
        model = model_of(server, prices=None, token_limit=8_000, retries=1)
        found = in_threads(lambda number: ask_until_spent(model, f"thread {number}"))
    assert all(troubles[-1] is Trouble.SPENT for troubles in found)
    assert 6_800 < model.input_tokens + model.output_tokens <= 8_000
    assert model.cost_usd is None


@pytest.mark.slow
def test_no_more_is_under_way_than_the_cap_would_pay_for() -> None:
    first = says("first", "openai", tokens=(30, 10))
    later = replace(says("later", "openai", tokens=(30, 10)), held=True)
    with ModelServer(first, later) as server:
        cap = price(30, 10) + 3.5 * price(60, OUTPUT)
        model = model_of(server, cost_limit_usd=cap)
        model.ask("Be brief.", [Message("user", "alone")])
        with ThreadPoolExecutor(THREADS) as pool:
            waiting = [
                pool.submit(model.ask, "Be brief.", [Message("user", f"thread {number}")])
                for number in range(THREADS)
            ]
            while len(server.requests) < 4:
                time.sleep(0.01)
            time.sleep(0.3)  # a fourth beside them would have come by now
            assert len(server.requests) == 4
            server.release()
            texts = [one.result().text for one in waiting]
    assert texts == ["later"] * THREADS
    assert len(server.requests) == 1 + THREADS


def test_a_request_that_can_never_fit_is_refused_while_others_are_under_way() -> None:
    held = replace(says("late", "openai", tokens=(30, OUTPUT)), held=True)
    with ModelServer(says("first", "openai", tokens=(30, 10)), held) as server:
        model = model_of(server, cost_limit_usd=price(30, 10) + 1.5 * price(60, OUTPUT))
        model.ask("Be brief.", [Message("user", "alone")])
        first = threading.Thread(
            target=model.ask, args=("Be brief.", [Message("user", "one more")]), daemon=True
        )
        first.start()
        while len(server.requests) < 2:
            time.sleep(0.01)
        with pytest.raises(ModelError, match=r"the cap is") as caught:
            model.ask("Be brief.", [Message("user", "long " * 4000)])
        server.release()
        first.join(60)
    assert caught.value.reason is Trouble.SPENT
    assert len(server.requests) == 2


def test_a_request_that_has_no_room_in_time_is_never_sent() -> None:
    held = replace(says("late", "openai", tokens=(30, 10)), held=True)
    with ModelServer(says("first", "openai", tokens=(30, 10)), held) as server:
        model = model_of(server, cost_limit_usd=price(30, 10) + 1.5 * price(60, OUTPUT))
        model.ask("Be brief.", [Message("user", "alone")])
        first = threading.Thread(
            target=model.ask, args=("Be brief.", [Message("user", "one more")]), daemon=True
        )
        first.start()
        while len(server.requests) < 2:
            time.sleep(0.01)
        with pytest.raises(ModelError) as caught:
            model.ask("Be brief.", [Message("user", "another")], within_s=0.1)
        server.release()
        first.join(60)
    assert caught.value.reason is Trouble.TIMEOUT
    assert len(server.requests) == 2
    assert model.output_tokens == 20


@pytest.mark.slow
def test_every_retry_is_paid_for() -> None:
    with ModelServer(fails(503, "overloaded", **SOON)) as server:
        model = model_of(server, cost_limit_usd=10.0, retries=3)
        with pytest.raises(ModelError, match="overloaded"):
            model.ask("Be brief.", [Message("user", "What is it?")])
    assert len(server.requests) == 4
    assert model.output_tokens == 4 * OUTPUT


def test_a_retry_that_does_not_fit_is_not_sent() -> None:
    with ModelServer(fails(503, "overloaded", **SOON)) as server:
        model = model_of(server, cost_limit_usd=2.5 * price(40, OUTPUT), retries=9)
        with pytest.raises(ModelError) as caught:
            model.ask("Be brief.", [Message("user", "What is it?")])
    assert caught.value.reason is Trouble.SPENT
    assert len(server.requests) == 2


@pytest.mark.slow
def test_requests_that_were_turned_away_cost_nothing() -> None:
    with ModelServer(fails(429, "later", **SOON)) as server:
        model = model_of(server, retries=2)
        assert ask_until_spent(model, "one", most=2) == [Trouble.BUSY] * 2
    assert len(server.requests) == 6
    assert model.cost_usd == 0.0


def test_a_service_that_nobody_reaches_costs_nothing() -> None:
    with ModelServer(says("x", "openai")) as server:
        gone = model_of(server)
    assert ask_until_spent(gone, "one", most=2) == [Trouble.UNREACHABLE] * 2
    assert gone.cost_usd == 0.0


def test_an_interrupted_audit_has_failures_of_before_on_its_account(tmp_path: Path) -> None:
    with ModelServer(fails(503), says("It is.", "openai", tokens=(30, 10))) as server:
        first = model_of(server, folder=tmp_path)
        assert ask_until_spent(first, "one", most=3) == [Trouble.SERVER]
        second = model_of(server, folder=tmp_path)
    assert second.cost_usd == pytest.approx(first.cost_usd)
    assert second.output_tokens == OUTPUT + 20


@pytest.mark.slow
def test_two_attackers_with_one_model_share_its_cap() -> None:
    step = replace(says("no strategy", "openai", tokens=(20, OUTPUT)), takes_s=0.02)
    with ModelServer(step) as server:
        model = model_of(server, cost_limit_usd=0.06)
        attackers = [ModelAttacker(model), ModelAttacker(model)]

        def ask(number: int) -> None:
            for turn in range(20):
                attackers[number % 2].ask("Be brief.", f"thread {number}, turn {turn}")

        in_threads(ask)
    assert model.cost_usd is not None
    assert 0.04 < model.cost_usd <= 0.06
    assert len(server.requests) * price(20, OUTPUT) == pytest.approx(model.cost_usd)
    assert all("the cap is 0.06" in one.stopped for one in attackers)
