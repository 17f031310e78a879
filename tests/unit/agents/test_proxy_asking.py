"""Odd names of models and odd shapes of requests: what each may cost at the most."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from unhack.agents.metering.prices import load_prices
from unhack.agents.metering.requests import tokens_of
from unhack.agents.proxy.asking import read_request, write_limit
from unhack.agents.proxy.dialects import Dialect
from unhack.core.errors import UsageError

PRICES = load_prices()
DEAREST = PRICES.of("")
SAY = [{"role": "user", "content": "hello"}]
CONTENTS = [{"parts": [{"text": "hello"}]}]
ANTHROPIC, OPENAI, GEMINI = Dialect.ANTHROPIC, Dialect.OPENAI, Dialect.GEMINI

SAME = [
    ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
    ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
    ("claude-opus-4-20250514", "claude-opus-4"),
    ("anthropic/claude-haiku-4-5", "claude-haiku-4-5"),
    ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
    ("gpt-5-2025-08-07", "gpt-5"),
    ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
    ("openai/gpt-5.2-2025-12-11", "gpt-5.2"),
    ("gpt-5-chat-latest", "gpt-5-chat"),
    ("models/gemini-2.5-pro", "gemini-2.5-pro"),
]
UNKNOWN = [
    "", " ", "gpt-5.4-pro", "gpt-5.1-pro", "gpt-5-pro-max", "gpt-5-minimal", "gpt-5.2-pro-high",
    "gpt-5-20261301", "gpt-5-2026-13-01", "gpt-5-latest-pro", "gpt-5-0613", "gpt-5.", "GPT-5",
    "gpt-5 ", "gpt-50", "o3-deep-research", "o3-pro-ultra", "claude-opus-4-7", "claude-opus-4-60",
    "claude-sonnet", "claude-sonnet-5", "gemini-2.5-pro-ultra", "my-gateway/gpt-5-nano",
    "gpt-5-nano/../gpt-5-pro", "gpt-5-nano\n", "ft:gpt-5-nano:me", "claude-haiku-4-5:thinking",
]  # fmt: skip


@pytest.mark.parametrize(("name", "listed"), SAME)
def test_a_date_or_latest_behind_a_name_changes_nothing(name: str, listed: str) -> None:
    assert PRICES.listed(name) == listed
    assert PRICES.of(name) == PRICES.models[listed]


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_name_that_is_only_near_costs_as_the_dearest(name: str) -> None:
    assert PRICES.of(name) == DEAREST


LIMITED: list[tuple[Dialect, dict[str, Any], int]] = [
    (ANTHROPIC, {"max_tokens": 64000, "messages": SAY}, 64000),
    (ANTHROPIC, {"max_tokens": 64000.0, "messages": SAY, "stream": True}, 64000),
    (ANTHROPIC, {"max_tokens": 10**30, "messages": SAY}, 10**30),
    (ANTHROPIC, {"max_tokens": 9, "max_output_tokens": 1, "messages": SAY}, 9),
    (OPENAI, {"max_completion_tokens": 700, "messages": SAY}, 700),
    (OPENAI, {"max_tokens": 700, "messages": SAY, "stream": True}, 700),
    (OPENAI, {"max_tokens": 7, "max_completion_tokens": 900, "messages": SAY}, 900),
    (OPENAI, {"max_tokens": None, "max_completion_tokens": 900, "messages": SAY}, 900),
    (OPENAI, {"max_output_tokens": 800, "input": "hello"}, 800),
    (OPENAI, {"max_output_tokens": 800, "input": SAY, "stream": True}, 800),
    (GEMINI, {"contents": CONTENTS, "generationConfig": {"maxOutputTokens": 50}}, 50),
    (GEMINI, {"contents": CONTENTS, "generation_config": {"max_output_tokens": 60}}, 60),
    (GEMINI, {"contents": CONTENTS, "generation_config": {"maxOutputTokens": 60},
              "generationConfig": {"max_output_tokens": 90}}, 90),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "body", "tokens"), LIMITED)
def test_the_limit_of_a_request_is_what_it_may_use(
    dialect: Dialect, body: dict[str, Any], tokens: int
) -> None:
    found = read_request(dialect, "gpt-5", body, PRICES)
    assert (found.output, found.lowered, found.least) == (tokens, tokens, tokens)


WITHOUT: list[tuple[Dialect, dict[str, Any]]] = [
    (ANTHROPIC, {"messages": SAY}),
    (ANTHROPIC, {"messages": SAY, "max_tokens": None}),
    (ANTHROPIC, {"messages": SAY, "max_completion_tokens": 5}),
    (OPENAI, {"messages": SAY}),
    (OPENAI, {"messages": SAY, "max_output_tokens": 5}),
    (OPENAI, {"input": "hello", "max_tokens": 5}),
    (OPENAI, {"input": "hello"}),
    (GEMINI, {"contents": CONTENTS}),
    (GEMINI, {"contents": CONTENTS, "generationConfig": {"temperature": 0}}),
    (GEMINI, {"contents": CONTENTS, "max_tokens": 5}),
]


@pytest.mark.parametrize(("dialect", "body"), WITHOUT)
def test_a_request_without_a_limit_counts_with_the_maximum_of_its_model(
    dialect: Dialect, body: dict[str, Any]
) -> None:
    assert read_request(dialect, "gpt-5", body, PRICES).output == 128_000
    assert read_request(dialect, "gpt-4.1", body, PRICES).output == 32_768
    unheard = read_request(dialect, "unheard-of", body, PRICES)
    assert (unheard.output, unheard.lowered) == (128_000, 16_000)


@pytest.mark.parametrize(("dialect", "body"), WITHOUT)
def test_a_limit_that_is_set_is_where_the_interface_looks_for_it(
    dialect: Dialect, body: dict[str, Any]
) -> None:
    given = json.loads(json.dumps(body))
    write_limit(dialect, "openai", given, 777)
    assert read_request(dialect, "gpt-5", given, PRICES).output == 777
    if dialect is GEMINI:
        kept = body.get("generationConfig", {}).items()
        assert kept <= given["generationConfig"].items()


@pytest.mark.parametrize(
    "value", ["64000", -1, 0, 0.5, True, [], {}, float("nan"), float("inf"), "", 1e400]
)
@pytest.mark.parametrize(
    ("dialect", "name"),
    [(ANTHROPIC, "max_tokens"), (OPENAI, "max_output_tokens"), (GEMINI, "maxOutputTokens")],
)
def test_a_limit_that_is_no_whole_number_is_refused(
    dialect: Dialect, name: str, value: object
) -> None:
    body = {"generationConfig": {name: value}} if dialect is GEMINI else {name: value}
    with pytest.raises(UsageError, match="whole number above 0"):
        read_request(dialect, "gpt-5", body, PRICES)


def test_several_answers_and_predictions_count() -> None:
    five = read_request(OPENAI, "gpt-5", {"messages": SAY, "n": 5, "max_tokens": 9}, PRICES)
    assert (five.output, five.answers) == (9, 5)
    drawn = {"contents": CONTENTS, "generationConfig": {"candidateCount": 3}}
    assert read_request(GEMINI, "gpt-5", drawn, PRICES).answers == 3
    told = {"messages": SAY, "prediction": {"type": "content", "content": "a word " * 500}}
    assert read_request(OPENAI, "gpt-5", told, PRICES).beside > 1000


def input_of(body: dict[str, Any], dialect: Dialect = ANTHROPIC) -> int:
    return sum(part.tokens for part in read_request(dialect, "gpt-5", body, PRICES).parts)


@pytest.mark.parametrize(
    ("text", "least"),
    [("日本語" * 1000, 9000), ("😀" * 1000, 4000), ("7" * 3000, 3000), ("{[(\\" * 500, 2000),
     ("qXzJ" * 1000, 4000), ("strčprst" * 100, 700), ("\n\t" * 400, 100), ("zxqjvk " * 300, 1800),
     ("\ud800" * 10, 30)],
)  # fmt: skip
def test_text_that_tokenizers_cut_finely_counts_in_full(text: str, least: int) -> None:
    assert tokens_of(text) >= least


def test_prose_counts_about_a_token_for_two_letters() -> None:
    prose = "The judge compiles the program, owns the memory and checks every output. " * 100
    assert len(prose) / 4 < tokens_of(prose) < len(prose) / 1.5


def test_a_picture_counts_as_one_and_text_that_claims_to_be_one_as_text() -> None:
    data = base64.b64encode(b"\x89PNG" + bytes(60_000)).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    shown = {"messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]}
    assert 8000 <= input_of(shown) < 12_000
    address = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    assert input_of({"messages": [{"role": "user", "content": [address]}]}, OPENAI) < 12_000
    inline = {"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]}]}
    assert input_of(inline, GEMINI) < 12_000
    call = {"type": "tool_use", "id": "a", "name": "b", "input": {"x": source}}
    assert input_of({"messages": [{"role": "assistant", "content": [call]}]}) > 60_000
    words = {**source, "data": "a word and another " * 4000}
    said = {"messages": [{"role": "user", "content": [{"type": "image", "source": words}]}]}
    assert input_of(said) > 15_000


def test_a_document_counts_with_its_pages_whatever_it_weighs() -> None:
    data = base64.b64encode(b"%PDF" + bytes(3000)).decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": data}
    shown = {"messages": [{"role": "user", "content": [{"type": "document", "source": source}]}]}
    assert input_of(shown) > 60_000


def test_a_user_s_table_lies_over_the_shipped_one(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('[models]\n"local" = [0.0, 0.0, 0.0, 0.0]\n"gpt-5" = [9.0, 9.0, 9.0, 9.0]\n'
                    '[most_output]\n"local" = 4096\n')  # fmt: skip
    own = load_prices(path)
    assert own.of("local") == (0.0, 0.0, 0.0, 0.0)
    assert own.of("gpt-5") == (9.0, 9.0, 9.0, 9.0)
    assert own.of("unheard-of") == DEAREST
    assert own.most_output_of("local") == (4096, True)
    assert own.as_of == PRICES.as_of
