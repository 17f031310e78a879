"""Models behind endpoints, played by a server on loopback."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.agents.model_server import KEY, ModelServer, Step, fails, says

from unhack.agents.language_models.endpoint import Endpoint
from unhack.agents.language_models.model import Message, Model
from unhack.agents.language_models.replies import ModelError, Trouble
from unhack.core.errors import UsageError

PROTOCOLS = pytest.mark.parametrize("protocol", ["openai", "anthropic"])
ASKED = [Message("user", "What is it?")]
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def point(server: ModelServer, protocol: str, **changes: Any) -> Endpoint:
    made = Endpoint(protocol, server.url(protocol), "scripted", KEY, timeout_s=60.0, retries=0)
    return replace(made, **changes)


def trouble(model: Model, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.ask("Be brief.", ASKED, **options)
    return caught.value


def transcript(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "transcript.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@PROTOCOLS
class TestAsking:
    @pytest.mark.slow
    def test_a_good_reply_is_read_and_counted(self, protocol: str, tmp_path: Path) -> None:
        with ModelServer(says("It is.", protocol)) as server:
            model = Model(point(server, protocol, prices=(2.0, 10.0)), folder=tmp_path)
            reply = model.ask("Be brief.", ASKED)
        assert (reply.text, reply.input_tokens, reply.output_tokens) == ("It is.", 100, 50)
        assert model.cost_usd == pytest.approx(0.0007)
        [sent] = server.requests
        assert sent.path == ("/v1/messages" if protocol == "anthropic" else "/v1/chat/completions")
        assert sent.body["model"] == "scripted"
        assert sent.body["messages"][-1] == {"role": "user", "content": "What is it?"}
        first = sent.body["messages"][0]["content"]
        assert sent.body.get("system", first) == "Be brief."

    @pytest.mark.slow
    def test_the_key_is_in_the_header_and_nowhere_else(self, protocol: str, tmp_path: Path) -> None:
        echo = fails(401, f"wrong key {KEY}")
        with ModelServer(echo, says(f"Your key is {KEY}", protocol)) as server:
            model = Model(point(server, protocol), folder=tmp_path)
            error = trouble(model)
            reply = model.ask("Be brief.", [Message("user", f"Is it {KEY}?")])
        assert error.reason is Trouble.REJECTED
        for sent in server.requests:
            assert any(KEY in value for value in sent.headers.values())
        written = (tmp_path / "transcript.jsonl").read_text()
        assert KEY not in written + str(error) + reply.text + repr(model.endpoint)
        assert "[key]" in written

    def test_every_exchange_is_in_the_transcript(self, protocol: str, tmp_path: Path) -> None:
        script = says("One.", protocol), fails(400, "bad"), says("Two.", protocol)
        with ModelServer(*script) as server:
            model = Model(point(server, protocol), folder=tmp_path)
            model.ask("Be brief.", ASKED)
            trouble(model)
            model.ask("Be brief.", ASKED)
        said = [entry.get("reply") or entry["error"] for entry in transcript(tmp_path)]
        assert said[0] == "One."
        assert said[1].startswith("rejected: ")
        assert said[2] == "Two."
        assert {entry["system"] for entry in transcript(tmp_path)} == {"Be brief."}

    def test_an_interrupted_audit_asks_only_what_is_new(
        self, protocol: str, tmp_path: Path
    ) -> None:
        with ModelServer(says("One.", protocol), says("Two.", protocol)) as server:
            first = Model(point(server, protocol), folder=tmp_path)
            first.ask("Be brief.", ASKED)
            with (tmp_path / "transcript.jsonl").open("a") as file:
                file.write('{"key": "cut o')
            second = Model(point(server, protocol), folder=tmp_path)
            texts = [second.ask("Be brief.", ASKED).text for _ in range(2)]
        assert texts == ["One.", "Two."]
        assert len(server.requests) == 2
        assert second.input_tokens == 200

    def test_without_usage_all_that_was_reserved_is_charged(self, protocol: str) -> None:
        body = json.loads(says("It is.", protocol).body)
        del body["usage"]
        with ModelServer(Step(json.dumps(body).encode())) as server:
            model = Model(point(server, protocol, max_output_tokens=400))
            reply = model.ask("Be brief.", ASKED)
        assert reply.input_tokens > 0
        assert reply.output_tokens == model.output_tokens == 400

    def test_what_cannot_be_encoded_is_sent_all_the_same(self, protocol: str) -> None:
        with ModelServer(says("It is.", protocol)) as server:
            reply = Model(point(server, protocol)).ask("\ud800", [Message("user", "a\udfffb")])
        assert reply.text == "It is."


@PROTOCOLS
class TestTrouble:
    @pytest.mark.slow
    @pytest.mark.parametrize("body", [b"<html>", b'{"choices": [', b"[]", b"{}", b'"x"', b"\xff"])
    def test_a_malformed_reply_is_an_error(self, protocol: str, body: bytes) -> None:
        with ModelServer(Step(body)) as server:
            model = Model(point(server, protocol))
            assert trouble(model).reason is Trouble.MALFORMED
        assert model.output_tokens == model.endpoint.max_output_tokens

    @pytest.mark.parametrize(
        "hole",
        [
            {"choices": None, "content": None},
            {"choices": [1], "content": 1},
            {"choices": [{"message": "x"}], "content": "x"},
        ],
    )
    def test_json_of_another_shape_is_malformed(self, protocol: str, hole: Any) -> None:
        with ModelServer(Step(json.dumps(hole).encode())) as server:
            assert trouble(Model(point(server, protocol))).reason is Trouble.MALFORMED

    @pytest.mark.slow
    def test_a_slow_reply_is_a_timeout_and_counts(self, protocol: str) -> None:
        slow = replace(says("late", protocol), waits=True)
        with ModelServer(slow) as server:
            model = Model(point(server, protocol, timeout_s=0.3))
            assert trouble(model).reason is Trouble.TIMEOUT
        assert model.output_tokens == model.endpoint.max_output_tokens

    @pytest.mark.slow
    def test_a_reply_that_never_ends_is_a_timeout(self, protocol: str) -> None:
        with ModelServer(Step(b"", drips=True)) as server:
            model = Model(point(server, protocol))
            assert trouble(model, within_s=0.5).reason is Trouble.TIMEOUT

    def test_too_many_requests_are_tried_again(self, protocol: str) -> None:
        busy = fails(429, "later", retry_after_ms="10", retry_after="0")
        with ModelServer(busy, says("It is.", protocol)) as server:
            reply = Model(point(server, protocol, retries=1)).ask("Be brief.", ASKED)
        assert reply.text == "It is."
        assert len(server.requests) == 2

    @pytest.mark.parametrize(
        ("status", "reason"),
        [
            (429, Trouble.BUSY),
            (500, Trouble.SERVER),
            (529, Trouble.SERVER),
            (400, Trouble.REJECTED),
            (401, Trouble.REJECTED),
            (404, Trouble.REJECTED),
            (408, Trouble.TIMEOUT),
        ],
    )
    def test_a_status_has_its_reason(self, protocol: str, status: int, reason: Trouble) -> None:
        with ModelServer(fails(status, "that is why")) as server:
            error = trouble(Model(point(server, protocol)))
        assert error.reason is reason
        assert "that is why" in str(error)

    def test_an_empty_reply_is_a_refusal(self, protocol: str) -> None:
        with ModelServer(says("", protocol), says(None, protocol)) as server:
            model = Model(point(server, protocol))
            assert [trouble(model).reason for _ in range(2)] == [Trouble.REFUSED] * 2

    def test_a_reply_that_its_maker_stopped_is_a_refusal(self, protocol: str) -> None:
        ended = "refusal" if protocol == "anthropic" else "content_filter"
        with ModelServer(says("I would rather", protocol, ended=ended)) as server:
            assert trouble(Model(point(server, protocol))).reason is Trouble.REFUSED

    def test_a_reply_that_was_cut_before_it_began_is_no_refusal(self, protocol: str) -> None:
        ended = "max_tokens" if protocol == "anthropic" else "length"
        with ModelServer(says("", protocol, ended=ended)) as server:
            assert trouble(Model(point(server, protocol))).reason is Trouble.MALFORMED

    def test_nobody_at_the_address_is_unreachable(self, protocol: str) -> None:
        with ModelServer(says("x", protocol)) as server:
            gone = point(server, protocol)
        assert trouble(Model(gone)).reason is Trouble.UNREACHABLE


class TestOpenAi:
    def test_a_refusal_in_the_message_is_one(self) -> None:
        body = json.loads(says(None, "openai").body)
        body["choices"][0]["message"]["refusal"] = "I cannot help with that."
        with ModelServer(Step(json.dumps(body).encode())) as server:
            error = trouble(Model(point(server, "openai")))
        assert (error.reason, "cannot help" in str(error)) == (Trouble.REFUSED, True)

    def test_an_older_server_gets_the_older_name_of_the_limit(self) -> None:
        older = fails(400, "Unsupported parameter: max_completion_tokens")
        with ModelServer(older, says("It is.", "openai")) as server:
            model = Model(point(server, "openai"))
            for _ in range(2):
                assert model.ask("Be brief.", ASKED).text == "It is."
        names = ["max_completion_tokens", "max_tokens", "max_tokens"]
        assert [
            next(name for name in sent.body if name.startswith("max")) for sent in server.requests
        ] == names


@PROTOCOLS
class TestCap:
    def test_the_cost_cap_stops_before_it_is_passed(self, protocol: str, tmp_path: Path) -> None:
        with ModelServer(says("x", protocol, tokens=(0, 400))) as server:
            priced = point(server, protocol, prices=(0.0, 1000.0), max_output_tokens=400)
            model = Model(priced, cost_limit_usd=1.0, folder=tmp_path)
            model.ask("Be brief.", ASKED)
            model.ask("Be brief.", ASKED)
            error = trouble(model)
        assert error.reason is Trouble.SPENT
        assert model.cost_usd == pytest.approx(0.8)
        assert len(server.requests) == 2
        assert transcript(tmp_path)[-1]["error"] == str(error)

    def test_without_prices_the_tokens_are_capped(self, protocol: str) -> None:
        with ModelServer(says("x", protocol, tokens=(100, 400))) as server:
            model = Model(point(server, protocol, max_output_tokens=400), token_limit=1000)
            model.ask("Be brief.", ASKED)
            model.ask("Be brief.", ASKED)
            assert trouble(model).reason is Trouble.SPENT
        assert len(server.requests) == 2
        assert model.cost_usd is None

    def test_a_cap_below_one_request_sends_none(self, protocol: str) -> None:
        with ModelServer(says("x", protocol)) as server:
            priced = point(server, protocol, prices=(2.0, 10.0))
            assert trouble(Model(priced, cost_limit_usd=0.01)).reason is Trouble.SPENT
        assert server.requests == []


class TestFromEnvironment:
    def test_nothing_configured_is_no_endpoint(self) -> None:
        assert Endpoint.from_environment(environ={}) is None

    @pytest.mark.parametrize(
        "environ",
        [
            {"OPENAI_API_KEY": KEY},
            {"ANTHROPIC_API_KEY": KEY},
            {"UNHACK_LLM_MODEL": "m"},
            {"UNHACK_LLM_MODEL": "m", "OPENAI_API_KEY": " "},
        ],
    )
    def test_half_an_environment_is_none(self, environ: dict[str, str]) -> None:
        assert Endpoint.from_environment(environ=environ) is None

    @pytest.mark.parametrize(
        ("environ", "protocol", "url"),
        [
            ({"OPENAI_API_KEY": KEY}, "openai", "https://api.openai.com/v1"),
            ({"ANTHROPIC_API_KEY": KEY}, "anthropic", "https://api.anthropic.com"),
            ({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://a/v1"}, "openai", "http://a/v1"),
            (
                {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "http://b/v1"},
                "anthropic",
                "http://b",
            ),
        ],
    )
    def test_an_environment_names_the_endpoint(
        self, environ: dict[str, str], protocol: str, url: str
    ) -> None:
        found = Endpoint.from_environment(environ={**environ, "UNHACK_LLM_MODEL": "m"})
        assert found == Endpoint(protocol, url, "m", KEY)

    def test_with_both_keys_the_model_decides(self) -> None:
        both = {"OPENAI_API_KEY": "a" * 9, "ANTHROPIC_API_KEY": "b" * 9}
        for model, protocol in (("claude-x", "anthropic"), ("other", "openai")):
            found = Endpoint.from_environment(model=model, environ=both)
            assert found is not None
            assert found.protocol == protocol

    def test_a_key_goes_to_no_other_address_unless_it_is_named(self) -> None:
        environ = {"OPENAI_API_KEY": KEY}
        url = "http://127.0.0.1:8000/v1"
        alone = Endpoint.from_environment(url=url, model="m", environ=environ)
        named = Endpoint.from_environment(
            url=url, model="m", key_env="OPENAI_API_KEY", environ=environ
        )
        assert alone is not None
        assert named is not None
        assert (alone.key, named.key) == ("", KEY)

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"url": "http://a/v1"}, "--llm-model"),
            ({"model": "m"}, "OPENAI_API_KEY"),
            ({"model": "m", "key_env": "MY_KEY"}, "MY_KEY"),
            ({"model": "m", "url": "ftp://a"}, "--llm-url"),
            ({"model": "m", "protocol": "gopher"}, "gopher"),
            ({"model": "m", "url": "http://a", "prices": (-1.0, 1.0)}, "price"),
        ],
    )
    def test_options_that_make_no_endpoint_are_refused(
        self, options: dict[str, Any], named: str
    ) -> None:
        with pytest.raises(UsageError, match=named):
            Endpoint.from_environment(**options, environ={})

    @pytest.mark.parametrize("protocol", ["openai", "anthropic"])
    def test_a_missing_client_is_named(
        self, protocol: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, protocol, None)
        with pytest.raises(UsageError, match=r"\.\[llm\]"):
            Model(Endpoint(protocol, "http://a", "m"))
