"""Our server through OpenEnv's own application, client and validation."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("default")

from openenv.core.generic_client import GenericEnvClient  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from unhack.core.errors import UsageError  # noqa: E402
from unhack.environments.suites import find_repository_tasks  # noqa: E402
from unhack.integrations.openenv import create_task_app, environment_factory  # noqa: E402
from unhack.tasks.suite import find_task, find_tasks  # noqa: E402
from unhack.tasks.template import new_task  # noqa: E402

EXAMPLE = Path(__file__).parents[3] / "examples" / "openenv"
TASK = "strings/knit-rows"
NUMBERS = find_tasks("numbers")
RIGHT = find_task(TASK).problem.reference or ""


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A server over two splits."""
    with TestClient(create_task_app([TASK, "numbers"], tries=2, max_sessions=3)) as made:
        yield made


def asked(socket: Any, kind: str, **data: Any) -> Any:
    """The answer to a message."""
    socket.send_json({"type": kind, "data": data} if kind != "state" else {"type": kind})
    answer = socket.receive_json()
    return answer["data"] if answer["type"] != "error" else f"error: {json.dumps(answer)}"


class TestTheSocket:
    def test_a_right_reply_after_a_wrong_one_is_paid(self, client: TestClient) -> None:
        with client.websocket_connect("/ws") as ws:
            first = asked(ws, "reset", task=TASK)
            assert (first["reward"], first["done"]) == (None, False)
            assert "knitting" in first["observation"]["text"]
            wrong = asked(ws, "step", text="I do not know")
            assert (wrong["reward"], wrong["done"]) == (0.0, False)
            assert "not right" in wrong["observation"]["text"]
            right = asked(ws, "step", text=RIGHT)
            assert (right["reward"], right["done"]) == (1.0, True)
            assert right["observation"]["metadata"]["passed"] is True
            state = asked(ws, "state")
            assert (state["task"], state["step_count"]) == (TASK, 2)
            assert "has ended" in asked(ws, "step", text=RIGHT)

    def test_sessions_side_by_side_do_not_meet(self, client: TestClient) -> None:
        with client.websocket_connect("/ws") as one, client.websocket_connect("/ws") as two:
            asked(one, "reset", task=TASK)
            asked(two, "reset", split="numbers", index=2)
            assert asked(one, "step", text=RIGHT)["reward"] == 1.0
            assert asked(two, "state")["task"] == NUMBERS[2].id
            answer = NUMBERS[2].problem.reference
            assert asked(two, "step", text=answer)["reward"] == 1.0

    def test_a_seed_names_a_task(self, client: TestClient) -> None:
        with client.websocket_connect("/ws") as ws:
            ids = [asked(ws, "reset", seed=7)["observation"]["task"] for _ in range(2)]
        assert ids[0] == ids[1]

    def test_bad_messages_are_named_and_the_session_goes_on(self, client: TestClient) -> None:
        with client.websocket_connect("/ws") as ws:
            assert "reset the environment" in asked(ws, "step", text="x")
            asked(ws, "reset", task=TASK)
            for data, words in (
                ({}, "text"), ({"text": 3}, "text"), ({"text": None}, "text"),
                ({"txt": "x"}, "txt"), ({"text": "x" * (9 << 20)}, "text"),
            ):  # fmt: skip
                assert words in asked(ws, "step", **data)
            ws.send_text("no json")
            assert ws.receive_json()["data"]["code"] == "INVALID_JSON"
            assert "did you mean" in asked(ws, "reset", task="strings/knit-row")
            assert "index is 77" in asked(ws, "reset", split="numbers", index=77)
            assert "unknown split" in asked(ws, "reset", split="x", index=0)
            asked(ws, "reset", task=TASK)
            assert asked(ws, "step", text=RIGHT)["reward"] == 1.0

    def test_tasks_are_listed_without_answers(self, client: TestClient) -> None:
        found = client.post("/unhack/tasks", json={"split": "numbers"})
        assert found.status_code == 200, found.text
        assert NUMBERS[2].id in found.text
        assert "def " not in found.text
        assert client.get("/schema").status_code == 200


def test_an_end_that_cannot_be_scored_has_no_reward(tmp_path: Path) -> None:
    folder = new_task(tmp_path / "broken", kind="function")
    (folder / "checker.py").write_text("def check(*a):\n    raise OSError\n")
    app = create_task_app([str(folder)])
    with TestClient(app) as client, client.websocket_connect("/ws") as ws:
        asked(ws, "reset")
        step = asked(ws, "step", text=find_task(folder).problem.reference)
    assert (step["reward"], step["done"]) == (None, True)
    assert step["observation"]["scored"] is False


def test_a_repository_task_takes_tool_calls() -> None:
    task = next(find_repository_tasks("repos"))
    with TestClient(create_task_app([task.id])) as client, client.websocket_connect("/ws") as ws:
        assert "submit" in asked(ws, "reset")["observation"]["text"]
        for path, text in task.reference.items():
            call = {"name": "write", "arguments": {"path": path, "text": text}}
            assert asked(ws, "step", text=json.dumps(call))["done"] is False
        ended = asked(ws, "step", text='{"name": "submit", "arguments": {}}')
    assert (ended["reward"], ended["done"]) == (1.0, True)


def test_a_server_without_tasks_is_refused() -> None:
    with pytest.raises(UsageError, match="names is a list"):
        environment_factory("strings")
    with pytest.raises(UsageError, match="tries is 0"):
        environment_factory([TASK], tries=0)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The example, served."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "server.app:app", "--port", str(port)]
    started = subprocess.Popen(command, cwd=EXAMPLE)
    url = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 300
        while started.poll() is None and time.monotonic() < until:
            try:
                urllib.request.urlopen(f"{url}/health").close()
                break
            except OSError:
                time.sleep(0.25)
        yield url
    finally:
        started.terminate()
        started.wait()


class TestTheirTools:
    def test_their_client_plays_a_session(self, server: str) -> None:
        async def work() -> float | None:
            async with GenericEnvClient(base_url=server) as client:
                await client.reset(task=TASK)
                return (await client.step({"text": RIGHT})).reward

        assert asyncio.run(work()) == 1.0

    def test_their_validation_passes_a_running_server(self, server: str) -> None:
        command = [sys.executable, "-m", "openenv.cli", "validate", "--url", server]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, "Verdict: PASS" in done.stdout) == (0, True), done.stdout

    def test_their_static_validation_passes_the_folder(self) -> None:
        command = [sys.executable, "-m", "openenv.cli", "validate", "--level", "static"]
        command += ["--skip-build", str(EXAMPLE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, "Verdict: PASS" in done.stdout) == (0, True), done.stdout
