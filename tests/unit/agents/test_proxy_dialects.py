"""What the proxy knows of the providers' interfaces."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.agents.metering.meter import TokenCounts
from unhack.agents.proxy import dialects
from unhack.agents.proxy.dialects import Dialect

ANTHROPIC, OPENAI, GEMINI = Dialect.ANTHROPIC, Dialect.OPENAI, Dialect.GEMINI


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"usage": {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 3,
                    "cache_creation_input_tokens": 2}}, TokenCounts(5, 7, 3, 2)),
        ({"type": "message_start", "message": {"usage": {"input_tokens": 5}}}, TokenCounts(5)),
        ({"response": {"usage": {"input_tokens": 10, "output_tokens": 4,
                                 "input_tokens_details": {"cached_tokens": 6}}}},
         TokenCounts(4, 4, 6)),
        ({"usage": {"prompt_tokens": 10, "completion_tokens": 4,
                    "prompt_tokens_details": {"cached_tokens": 6}}}, TokenCounts(4, 4, 6)),
        ({"usage": {"prompt_tokens": 10, "completion_tokens": 4}}, TokenCounts(10, 4)),
        ({"usageMetadata": {"promptTokenCount": 10, "cachedContentTokenCount": 6,
                            "candidatesTokenCount": 3, "thoughtsTokenCount": 2}},
         TokenCounts(4, 5, 6)),
        ({"usage": {"input_tokens": -5, "output_tokens": "7"}}, TokenCounts()),
        ({"usage": None}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_tokens_are_read_wherever_a_provider_tells_them(
    document: dict[str, Any], expected: TokenCounts | None
) -> None:
    assert dialects.usage(document) == expected


@pytest.mark.parametrize(
    ("dialect", "path", "metered"),
    [
        (ANTHROPIC, "v1/messages", True),
        (OPENAI, "v1/responses", True),
        (OPENAI, "v1/chat/completions", True),
        (GEMINI, "v1beta/models/gemini-2.5-pro:streamGenerateContent", True),
        (GEMINI, "v1beta/models/gemini-2.5-pro:generateContent", True),
        (ANTHROPIC, "v1/messages/count_tokens", False),
        (OPENAI, "v1/models", False),
        (GEMINI, "v1beta/models/gemini-2.5-pro:countTokens", False),
    ],
)
def test_a_path_is_metered_or_free(dialect: Dialect, path: str, metered: bool) -> None:
    assert dialects.is_metered(dialect, path) is metered
    assert dialects.is_free(dialect, path) is not metered


@pytest.mark.parametrize(
    ("dialect", "path"),
    [
        (ANTHROPIC, "v1/messages/batches"),
        (ANTHROPIC, "v1/files"),
        (ANTHROPIC, "v1/organizations/api_keys"),
        (OPENAI, "v1/files"),
        (OPENAI, "v1/fine_tuning/jobs"),
        (OPENAI, "v1/responses/resp_1"),
        (OPENAI, "v1/../v1/files"),
        (GEMINI, "v1beta/files"),
        (GEMINI, "upload/v1beta/files"),
        (GEMINI, "v1beta/models/m:batchGenerateContent"),
        (GEMINI, "v1beta/models/../files:generateContent"),
    ],
)
def test_an_unmetered_path_is_closed(dialect: Dialect, path: str) -> None:
    assert not dialects.is_metered(dialect, path)
    assert not dialects.is_free(dialect, path)


def test_hosted_tools_are_taken_out_and_local_ones_stay() -> None:
    body: dict[str, Any] = {
        "mcp_servers": [{"url": "x"}],
        "tools": [{"name": "Bash"}, {"type": "bash_20250124", "name": "bash"},
                  {"type": "web_search_20250305", "name": "web_search"},
                  {"type": "web_fetch_20250910", "name": "f"},
                  {"type": "code_execution_20250825", "name": "c"}],
    }  # fmt: skip
    taken = dialects.keep_inside(ANTHROPIC, body)
    assert [tool["name"] for tool in body["tools"]] == ["Bash", "bash"]
    assert "mcp_servers" not in body
    assert len(taken) == 4


def test_hosted_tools_are_found_in_groups_and_in_the_input() -> None:
    search = {"type": "web_search"}
    body: dict[str, Any] = {
        "previous_response_id": "resp_1",
        "tools": [search, {"type": "function", "name": "exec_command"}],
        "input": [
            "words",
            {"type": "additional_tools",
             "tools": [search, {"type": "namespace", "name": "n",
                                "tools": [{"type": "custom", "name": "exec"}, search]}]},
        ],
    }  # fmt: skip
    taken = dialects.keep_inside(OPENAI, body)
    assert taken == ["previous_response_id", "web_search", "web_search", "web_search"]
    assert "web_search" not in str(body)
    assert "exec_command" in str(body)
    assert "'exec'" in str(body)


def test_a_request_with_hosted_tools_only_loses_its_choice_of_tools_too() -> None:
    body: dict[str, Any] = {"tools": [{"googleSearch": {}}, {"codeExecution": {}}]}
    assert dialects.keep_inside(GEMINI, body) == ["googleSearch", "codeExecution"]
    assert body == {}
    body = {"tools": [{"type": "mcp"}], "tool_choice": "required"}
    dialects.keep_inside(OPENAI, body)
    assert body == {}


def test_streamed_chat_has_to_tell_its_tokens() -> None:
    body: dict[str, Any] = {"stream": True, "messages": []}
    dialects.keep_inside(OPENAI, body)
    assert body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "document", "source": {"type": "url", "url": "https://host/file.pdf"}},
        {"type": "input_image", "image_url": "https://host/picture.png"},
        {"type": "image_url", "image_url": {"url": "http://host/picture.png"}},
        {"type": "input_file", "file_url": "https://host/file.pdf"},
        {"fileData": {"fileUri": "https://host/film.mp4"}},
    ],
)
def test_a_document_by_address_is_found_wherever_it_stands(part: dict[str, Any]) -> None:
    assert dialects.address_in({"messages": [{"content": ["words", {"deep": [part]}]}]})


def test_words_about_addresses_and_own_pictures_are_no_documents_by_address() -> None:
    parts = [
        {"type": "text", "text": "see https://host"},
        {"type": "tool_use", "name": "WebFetch", "input": {"url": "https://host"}},
        {"type": "input_image", "image_url": "data:image/png;base64,AA"},
        {"type": "object", "properties": {"url": {"type": "string"}}},
    ]
    assert dialects.address_in({"messages": parts}) == ""


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.parametrize("kind", ["auth", "path", "request", "cost", "upstream"])
def test_an_error_has_the_form_of_its_provider(dialect: Dialect, kind: str) -> None:
    status, body = dialects.error(dialect, kind, "because")
    assert 400 <= status < 600
    assert body["error"]["message"] == "because"
    assert (body.get("type") == "error") is (dialect is ANTHROPIC)
