"""Prices, tokens and limits: what is not known costs as much as the dearest, never nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unhack.core.errors import UsageError
from unhack.tournament.agents.proxy.meter import (
    Prices,
    ProxyMeter,
    TokenCounts,
    estimate,
    load_prices,
)

PRICES = Prices("2026-01-01", {"big": (10.0, 50.0, 1.0, 12.0), "big-mini": (1.0, 5.0, 0.1, 1.2)})


def test_the_longest_listed_name_gives_the_price() -> None:
    assert PRICES.of("big-mini-2026") == (1.0, 5.0, 0.1, 1.2)
    assert PRICES.of("models/big-2026") == (10.0, 50.0, 1.0, 12.0)


def test_an_unknown_model_costs_as_much_as_the_dearest() -> None:
    assert PRICES.of("nobody-knows") == (10.0, 50.0, 1.0, 12.0)
    shipped = load_prices()
    dearest = shipped.of("nobody-knows")
    assert all(shipped.of(name) <= dearest for name in shipped.models)
    assert shipped.as_of


def test_each_kind_of_token_has_its_price() -> None:
    tokens = TokenCounts(input=1_000_000, output=100_000, cache_read=1_000_000, cache_write=500_000)
    assert PRICES.cost_usd("big", tokens) == pytest.approx(10 + 5 + 1 + 6)


def test_a_limit_that_is_reached_refuses_and_says_when() -> None:
    meter = ProxyMeter(PRICES, 0.001)
    ticket = meter.start("big", sent_bytes=100)
    assert ticket is not None
    assert not meter.refused_at
    meter.finish(ticket, "big", TokenCounts(input=100))
    assert meter.spent_usd == pytest.approx(0.001)
    assert meter.start("big", sent_bytes=1) is None
    assert meter.refused_at


def test_a_request_under_way_counts_against_the_limit() -> None:
    meter = ProxyMeter(PRICES, 0.01)
    assert meter.start("big", sent_bytes=100_000) is not None
    assert meter.start("big", sent_bytes=100) is None


def test_a_limit_of_nothing_refuses_the_first_request() -> None:
    assert ProxyMeter(PRICES, 0.0).start("big", sent_bytes=0) is None


def test_each_answer_is_logged_as_it_comes(tmp_path: Path) -> None:
    log = tmp_path / "costs.jsonl"
    meter = ProxyMeter(PRICES, 1.0, log)
    for _ in range(2):
        ticket = meter.start("big", sent_bytes=0)
        assert ticket is not None
        meter.finish(ticket, "big", TokenCounts(1, 2, 3, 4), status=200)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["output"] for line in lines] == [2, 2]
    assert lines[0]["status"] == 200
    assert meter.tokens() == TokenCounts(2, 4, 6, 8)


def test_an_estimate_grows_with_what_was_sent_and_received() -> None:
    assert estimate(sent_bytes=3000, received_bytes=300) == TokenCounts(input=1000, output=100)
    assert estimate(sent_bytes=1, received_bytes=0).input == 1


@pytest.mark.parametrize(
    "text",
    ["", "models = 3", "[models]\n", "[models]\na = [1.0]", "[models]\na = [1.0, -1.0, 0, 0]",
     "[models]\na = [nan, 1.0, 0, 0]"],
)  # fmt: skip
def test_a_file_that_is_no_price_table_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(UsageError):
        load_prices(path)
