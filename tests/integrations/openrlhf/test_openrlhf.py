"""The reward file and the server under OpenRLHF's own executor, which is loaded alone."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn

from unhack.core.errors import UnhackError
from unhack.core.problem import Problem
from unhack.core.verdict import Verdict
from unhack.integrations.openrlhf import reward, server
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task
from unhack.verifiers.base import VerifierFault

[SOURCE] = Path(os.environ["UNHACK_STACK_SOURCE"]).rglob("openrlhf/utils/agent.py")
NAME = "strings/knit-rows"
KNIT = find_task(NAME)
RIGHT = str(KNIT.problem.reference)
PROMPT = "<|im_start|>user\n" + str(KNIT.prompt) + "<|im_end|>\n<|im_start|>assistant\n"


class Characters:
    """A tokenizer with a token for each character."""

    def __call__(self, *, text: str, **_: Any) -> Any:
        ids = [ord(one) for one in text]
        return {"input_ids": [SimpleNamespace(tolist=lambda: ids)]}

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(map(chr, ids))


class Engine:
    """Says one text, and remembers the prompt that it saw."""

    def __init__(self, text: str) -> None:
        self.text, self.prompt = text, ""

    async def generate(self, ids: list[int], params: Any, **_: Any) -> Any:
        self.prompt = "".join(map(chr, ids))
        tokens = [ord(one) for one in self.text]
        output = SimpleNamespace(token_ids=tokens, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


class Broken:
    """Never judges anything, its controls neither."""

    def verify(self, problem: Problem, completion: str) -> Generator[Any, Any, Verdict]:
        raise VerifierFault("the disk is full")
        yield []


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Any:
    """OpenRLHF's `utils/agent.py`, without the package around it."""
    known = SimpleNamespace(init_logger=logging.getLogger)
    monkeypatch.setitem(sys.modules, "openrlhf.utils.logging_utils", known)
    spec = importlib.util.spec_from_file_location("_openrlhf_agent", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def rolled_out(executor: Any, text: str, *, label: Any = NAME, room: int = 100_000) -> Any:
    """What the executor makes of a completion; `room` characters fit before and in it."""
    params = SimpleNamespace(max_tokens=len(text), logprobs=None)
    engine = Engine(text)
    found = await executor.execute(PROMPT, label, params, room, Characters(), engine)
    return found | {"seen": engine.prompt}


@pytest.fixture
def address() -> Iterator[str]:
    """A server of ours on a free port."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(server.application(), log_level="warning")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/get_reward"
    running.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture(params=["file", "http"])
def executor(request: pytest.FixtureRequest, agent: Any) -> Any:
    """OpenRLHF's executor with either kind of reward."""
    if request.param == "file":
        return agent.SingleTurnAgentExecutor(str(Path(reward.__file__)))
    return agent.SingleTurnAgentExecutor(request.getfixturevalue("address"))


class TestExecutor:
    @pytest.mark.parametrize(
        "end", ["", "<|im_end|>", "</s>", "<|im_end|>\n", "<｜end▁of▁sentence｜>"]
    )
    def test_it_gets_the_reward_of_the_completion(self, executor: Any, end: str) -> None:
        for text, wanted in ((RIGHT, [1.0]), ("I do not know.", [0.0])):
            found = asyncio.run(rolled_out(executor, text + end))
            assert (list(found["reward"]), list(found["scores"])) == (wanted, wanted)
            assert list(found["extra_logs"]["unhack_passed"]) == wanted

    def test_a_prompt_that_was_cut_off_is_not_judged(self, executor: Any) -> None:
        room = len(RIGHT) + len(PROMPT) // 2
        found = asyncio.run(rolled_out(executor, RIGHT, room=room))
        assert found["seen"] != PROMPT
        assert PROMPT.endswith(found["seen"])
        assert list(found["reward"]) == [1.0]

    def test_rollouts_of_one_time_get_their_own_rewards(self, executor: Any) -> None:
        async def main() -> list[float]:
            texts = [f"{RIGHT}\n# {at}" if at % 2 else f"x = {at}" for at in range(16)]
            found = await asyncio.gather(*(rolled_out(executor, text) for text in texts))
            return [one["reward"][0] for one in found]

        assert asyncio.run(main()) == [0.0, 1.0] * 8


def test_what_the_executor_swallows_is_logged_as_an_error_and_no_zero(
    agent: Any, caplog: pytest.LogCaptureFixture
) -> None:
    executor = agent.SingleTurnAgentExecutor(str(Path(reward.__file__)))
    found = asyncio.run(rolled_out(executor, RIGHT, label="strings/knit-row"))
    assert (found["reward"], found["scores"]) == (None, None)
    [told] = [one for one in caplog.records if one.name == "unhack.openrlhf"]
    assert told.levelno == logging.ERROR
    assert "knit-rows" in told.getMessage()


def test_what_could_not_be_scored_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    broken: Any = Broken()
    monkeypatch.setattr(reward, "labelled_task", lambda label: Task(KNIT.problem, broken))
    with pytest.raises(UnhackError, match=r"not a 0.*the disk is full"):
        reward.reward_func([PROMPT + RIGHT], [PROMPT], [NAME])


class TestCompletion:
    @pytest.mark.parametrize("kept", [len(PROMPT), len(PROMPT) - 1, 200, 40])
    @pytest.mark.parametrize("text", ["", "x", "assistant\n", PROMPT, PROMPT[-30:], "42\n"])
    def test_it_is_what_follows_the_prompts_end(self, kept: int, text: str) -> None:
        assert reward.completion_of(PROMPT[-kept:] + text, PROMPT) == reward.without_end(text)

    def test_half_a_character_at_the_cut_is_no_part_of_it(self) -> None:
        assert reward.completion_of("\ufffd\ufffd" + PROMPT[-80:] + "4", PROMPT) == "4"

    def test_the_search_takes_time_that_grows_with_the_text(self) -> None:
        prompt = "a" * 200_000 + "b"
        assert reward.completion_of("a" * 100_000 + "b" + "done", prompt) == "done"

    @pytest.mark.parametrize("text", [" " * (4 << 20), "</s> " * 500_000, "<|" * (1 << 20)])
    def test_so_does_the_search_for_the_end_of_the_turn(self, text: str) -> None:
        assert reward.without_end("42" + text + "<|im_end|>").startswith("42")
        assert reward.without_end("42 </s><|im_end|> \n") == "42 "
        assert reward.without_end("a </s> b\n") == "a </s> b\n"

    @pytest.mark.parametrize("query", ["", "something else", "assistant\n 42"])
    def test_a_query_without_its_prompt_is_refused(self, query: str) -> None:
        with pytest.raises(UnhackError, match="neither with its prompt"):
            reward.completion_of(query, PROMPT)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ((["q"], ["p"], []), "0 labels for 1"),
        (("q", ["p"], [NAME]), "query is a str"),
        (([3], ["p"], [NAME]), "query holds an int"),
        ((["q"], [None], [NAME]), "prompts holds None"),
        ((["q"], ["q"], [float("nan")]), "'label' holds a float"),
        ((["q"], ["q"], [None]), "'label' holds None"),
        ((["q"], ["q"], [""]), "'label' holds an empty text"),
    ],
)
def test_a_wrong_call_names_its_field(call: Any, said: str, address: str) -> None:
    with pytest.raises(UnhackError, match=said):
        reward.reward_func(*call)
    body = json.dumps(dict(zip(("query", "prompts", "labels"), call, strict=True)))
    answer = httpx.post(address, content=body)
    assert answer.status_code == 400
    assert said in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "no JSON"),
        (b"[]", 400, "no JSON object"),
        (b'{"query": [], "labels": []}', 400, "'prompts'"),
        (b"\xff", 400, "no JSON"),
        (b"[" * 100_000, 400, "no JSON"),
        (b'"' + b"x" * (100 << 20), 413, "33,554,432"),
    ],
)
def test_a_wrong_body_is_answered_with_what_is_wrong(
    address: str, body: bytes, status: int, said: str
) -> None:
    answer = httpx.post(address, content=body, timeout=60)
    assert answer.status_code == status
    assert said in answer.json()["error"]


def test_half_a_surrogate_pair_is_a_completion_like_others(address: str) -> None:
    call = {"query": [PROMPT + "\ud800"], "prompts": [PROMPT], "labels": [NAME]}
    assert httpx.post(address, content=json.dumps(call)).json()["rewards"] == [0.0]


def test_what_could_not_be_scored_is_503(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken: Any = Broken()
    monkeypatch.setattr(server, "named_task", lambda name: Task(KNIT.problem, broken))
    call = {"query": [PROMPT + "x"], "prompts": [PROMPT], "labels": [NAME]}
    answer = httpx.post(address, json=call, timeout=60)
    assert answer.status_code == 503
    assert "the disk is full" in answer.json()["error"]


def test_the_example_runs(tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "openrlhf_rewards.py"
    done = subprocess.run(
        [sys.executable, example], check=True, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-2:] == ["right [1.0]", "wrong [0.0]"]
    [row] = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert json.loads(row)["task"] == NAME
