"""Prices, tokens and limits: what is not known costs as much as the dearest, never nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.agents.metering.meter import (
    CostDecision,
    CostMeter,
    CostReservation,
    Prices,
    TokenCounts,
    estimate,
    load_prices,
)
from unhack.agents.metering.requests import ModelRequest, RequestPart
from unhack.core.errors import UsageError

PRICES = Prices("2026-01-01", {"big": (10.0, 50.0, 1.0, 12.0), "big-mini": (1.0, 5.0, 0.1, 1.2)})


def test_an_unknown_model_costs_as_much_as_the_dearest() -> None:
    assert PRICES.of("nobody-knows") == (10.0, 50.0, 1.0, 12.0)
    shipped = load_prices()
    dearest = shipped.of("nobody-knows")
    assert all(shipped.of(name) <= dearest for name in shipped.models)
    assert shipped.as_of


def test_each_kind_of_token_has_its_price() -> None:
    tokens = TokenCounts(input=1_000_000, output=100_000, cache_read=1_000_000, cache_write=500_000)
    assert PRICES.cost_usd("big", tokens) == pytest.approx(10 + 5 + 1 + 6)


def ask(
    output: int,
    *,
    sent: int = 0,
    model: str = "big",
    least: int | None = None,
    part: str = "a",
    answers: int = 1,
) -> ModelRequest:
    """A request with a part of `sent` tokens at most."""
    low = output if least is None else least
    return ModelRequest(model, (RequestPart(part, sent),), output, output, low, answers)


def let_through(meter: CostMeter, request: ModelRequest) -> CostReservation:
    found = meter.admit(request)
    assert found.reservation is not None
    return found.reservation


def known(limit: float) -> CostMeter:
    """A meter whose models have shown how they count, with that much left."""
    meter = CostMeter(PRICES, limit + 2e-5)
    for model in ("big", "big-mini"):
        meter.finish(let_through(meter, ask(0, sent=1, model=model)), TokenCounts(1, 0))
    meter.spent_usd = 2e-5
    return meter


def test_a_limit_that_is_reached_refuses_and_says_when() -> None:
    meter = CostMeter(PRICES, 0.001)
    reservation = let_through(meter, ask(10))
    assert not meter.refused_at
    meter.finish(reservation, TokenCounts(input=100))
    assert meter.spent_usd == pytest.approx(0.001)
    refused = meter.admit(ask(1))
    assert (refused.decision, refused.reservation) == (CostDecision.NEVER, None)
    assert meter.refused_at


def test_a_limit_of_nothing_refuses_the_first_request() -> None:
    assert CostMeter(PRICES, 0.0).admit(ask(1)).decision is CostDecision.NEVER


def test_what_others_may_still_cost_is_not_there_to_spend() -> None:
    meter = known(0.01)
    first = let_through(meter, ask(150))
    assert meter.reserved_usd == pytest.approx(0.0075)
    assert meter.admit(ask(100)).decision is CostDecision.WAIT
    assert let_through(meter, ask(40))
    meter.finish(first, TokenCounts(output=10))
    assert let_through(meter, ask(100))


def test_a_request_that_fits_beside_nothing_is_refused_at_once_with_the_sums() -> None:
    meter = known(0.01)
    let_through(meter, ask(50))
    found = meter.admit(ask(300))
    assert found.decision is CostDecision.NEVER
    assert found.needs_usd == pytest.approx(0.015)
    assert found.left_usd == pytest.approx(0.01)


def test_an_agent_that_asks_for_less_after_a_refusal_goes_on() -> None:
    meter = known(0.01)
    assert meter.admit(ask(300)).decision is CostDecision.NEVER
    assert meter.refused_at
    let_through(meter, ask(100))
    assert not meter.refused_at


def test_a_request_without_a_limit_of_its_own_gets_what_fits() -> None:
    meter = known(0.01)
    reservation = let_through(meter, ask(1000, least=50))
    assert reservation.output == 200
    meter.finish(reservation, TokenCounts(output=170))
    assert meter.admit(ask(1000, least=50)).decision is CostDecision.NEVER


def test_several_answers_cost_several_times_as_much() -> None:
    meter = known(0.01)
    assert meter.admit(ask(100, answers=3)).decision is CostDecision.NEVER
    assert let_through(meter, ask(100, answers=2))


def test_the_first_request_of_a_model_goes_alone() -> None:
    meter = CostMeter(PRICES, 1.0)
    first = let_through(meter, ask(10))
    assert meter.admit(ask(10)).decision is CostDecision.WAIT
    assert meter.admit(ask(10, model="big-mini")).decision is CostDecision.WAIT
    meter.finish(first, TokenCounts(10, 5))
    second = let_through(meter, ask(10))
    assert meter.admit(ask(10, model="big-mini")).decision is CostDecision.WAIT
    meter.finish(second, TokenCounts(10, 5))
    assert let_through(meter, ask(10, model="big-mini"))


def test_what_a_provider_counts_beyond_the_request_is_added_from_then_on() -> None:
    meter = CostMeter(PRICES, 1.0)
    meter.finish(let_through(meter, ask(10, sent=20)), TokenCounts(5020, 40))
    reservation = let_through(meter, ask(10, sent=20, part="b"))
    assert reservation.reserved.cache_write == 5020
    assert reservation.reserved.output == 40


def test_what_was_sent_before_counts_as_it_was_counted_then() -> None:
    meter = CostMeter(PRICES, 1.0)
    meter.finish(let_through(meter, ask(10, sent=9000)), TokenCounts(100, 5, 1900, 0))
    reservation = let_through(meter, ask(10, sent=9000))
    assert reservation.reserved.cache_write == 2000


def test_what_is_under_way_at_the_end_is_charged_as_it_was_reserved() -> None:
    meter = known(0.01)
    let_through(meter, ask(100))
    meter.settle_rest()
    assert meter.reserved_usd == 0
    assert meter.spent_usd == pytest.approx(0.005 + 2e-5)


@given(
    st.lists(
        st.tuples(st.integers(0, 4000), st.integers(0, 4000), st.booleans(), st.booleans()),
        max_size=60,
    )
)
@pytest.mark.slow
@pytest.mark.sample
def test_counted_and_reserved_together_never_pass_the_limit(
    steps: list[tuple[int, int, bool, bool]],
) -> None:
    meter = CostMeter(PRICES, 0.2)
    under_way: list[CostReservation] = []
    for output, sent, mini, ends in steps:
        model = "big-mini" if mini else "big"
        found = meter.admit(ask(output, sent=sent, model=model, least=output // 2, part=str(sent)))
        under_way += [found.reservation] if found.reservation is not None else []
        assert meter.spent_usd + meter.reserved_usd <= 0.2 + 1e-9
        if ends and under_way:
            done = under_way.pop(0)
            used = TokenCounts(0, done.reserved.output, 0, done.reserved.cache_write)
            meter.finish(done, used)
            assert meter.spent_usd + meter.reserved_usd <= 0.2 + 1e-9
        if not under_way:
            word = meter.admit(ask(output, sent=sent, model=model)).decision
            assert word is not CostDecision.WAIT  # nobody waits for nothing
            meter.settle_rest()
    assert meter.spent_usd <= 0.2 + 1e-9


def test_each_answer_is_logged_as_it_comes(tmp_path: Path) -> None:
    log = tmp_path / "costs.jsonl"
    meter = CostMeter(PRICES, 1.0, log)
    for _ in range(2):
        reservation = let_through(meter, ask(5))
        meter.finish(reservation, TokenCounts(1, 2, 3, 4), status=200)
    meter.finish(reservation, TokenCounts(1, 2, 3, 4), status=200)
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
