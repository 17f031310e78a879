"""Our resources server on NeMo Gym's own server class; the wheel asks for Python 3.12, its source
runs on 3.11."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, os.environ["UNHACK_STACK_SOURCE"])
pytestmark = pytest.mark.filterwarnings("default")

from fastapi.testclient import TestClient  # noqa: E402
from nemo_gym.base_resources_server import BaseResourcesServerConfig  # noqa: E402
from nemo_gym.server_utils import ServerClient  # noqa: E402

from unhack.core.errors import UsageError  # noqa: E402
from unhack.integrations.nemo_gym.folder import task_rows, write_server  # noqa: E402
from unhack.integrations.nemo_gym.server import TaskResourcesServer  # noqa: E402
from unhack.tasks.suite import find_task  # noqa: E402
from unhack.tasks.template import new_task  # noqa: E402

TASK = "strings/knit-rows"
RIGHT = find_task(TASK).problem.reference or ""


@pytest.fixture(scope="module")
def server() -> TaskResourcesServer:
    """The server, as their tests make one."""
    config = BaseResourcesServerConfig(host="127.0.0.1", port=8080, entrypoint="", name="unhack")
    return TaskResourcesServer(config=config, server_client=ServerClient.model_construct())


@pytest.fixture(scope="module")
def client(server: TaskResourcesServer) -> Iterator[TestClient]:
    """Its HTTP routes."""
    with TestClient(server.setup_webserver()) as made:
        yield made


def message(text: str, role: str = "assistant") -> dict[str, Any]:
    """A message of a response."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "m", "type": "message", "role": role, "status": "completed", "content": [part]}


def body(*output: dict[str, Any], task: Any = TASK, **columns: Any) -> dict[str, Any]:
    """A request of the collector."""
    response = {
        "id": "r", "created_at": 0.0, "model": "m", "object": "response", "output": list(output),
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    asked = {"input": [{"role": "user", "content": "?"}]}
    return {
        "responses_create_params": asked, "response": response,
        "verifier_metadata": {"task": task}, **columns,
    }  # fmt: skip


def test_right_and_wrong_replies_and_the_rows_columns(client: TestClient) -> None:
    found = client.post("/verify", json=body(message(RIGHT), difficulty="hard")).json()
    assert (found["reward"], found["mask_sample"], found["passed"]) == (1.0, False, 1.0)
    assert (found["difficulty"], found["verifier_metadata"]["task"]) == ("hard", TASK)
    wrong = client.post("/verify", json=body(message("no code"))).json()
    assert (wrong["reward"], wrong["mask_sample"], wrong["status"]) == (0.0, False, "invalid")


def test_the_last_message_of_the_assistant_is_judged(client: TestClient) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    tool = {"type": "function_call_output", "call_id": "c", "output": RIGHT}
    posted = body(message("I call"), call, tool)
    assert client.post("/verify", json=posted).json()["reward"] == 0.0
    both = body(message("```python\nx = 1\n```"), message(RIGHT))
    assert client.post("/verify", json=both).json()["reward"] == 1.0
    assert client.post("/verify", json=body()).json()["reward"] == 0.0


def test_what_cannot_be_scored_is_masked(client: TestClient, tmp_path: Path) -> None:
    folder = new_task(tmp_path / "broken", kind="function")
    (folder / "checker.py").write_text("def check(*a):\n    raise OSError\n")
    right = find_task(folder).problem.reference or ""
    found = client.post("/verify", json=body(message(right), task=str(folder))).json()
    assert (found["mask_sample"], found["unscored"]) == (True, 1.0)
    assert "OSError" in found["reason"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verifier_metadata": {}}, "task"),
        ({"verifier_metadata": None}, "verifier_metadata"),
        ({"verifier_metadata": {"task": 3}}, "task"),
        ({"verifier_metadata": {"task": "strings/knit-row"}}, "did you mean"),
        ({"verifier_metadata": {"task": "strings"}}, "stands for"),
        ({"response": {}}, "response"),
    ],
)
def test_a_bad_row_is_422_and_names_the_field(
    client: TestClient, change: dict[str, Any], words: str
) -> None:
    answer = client.post("/verify", json={**body(message(RIGHT)), **change})
    assert (answer.status_code, words in answer.text) == (422, True), answer.text


def test_odd_texts_are_judged(client: TestClient) -> None:
    raw = json.dumps(body(message("\ud800 surrogate")))
    answer = client.post("/verify", content=raw, headers={"content-type": "application/json"})
    assert (answer.status_code, "surrogate" in answer.text) == (422, True)
    assert client.post("/verify", content="{no", headers={}).status_code == 422
    huge = client.post("/verify", json=body(message("x" * (20 << 20)))).json()
    assert (huge["reward"], huge["mask_sample"]) == (0.0, False)


def test_the_metrics_leave_masked_items_out(server: TaskResourcesServer) -> None:
    rollouts = [[{"reward": 1.0}, {"reward": 0.0, "mask_sample": True}]]
    found = server.get_key_metrics(server.compute_metrics(rollouts))
    assert found == {"unhack/unscored": 0.5, "unhack/reward": 1.0}
    assert server.compute_metrics([]) == {}


def test_the_folder_is_one_that_their_config_reads(tmp_path: Path) -> None:
    from omegaconf import OmegaConf

    write_server(tmp_path / "unhack_tasks", ["strings"])
    config = OmegaConf.load(tmp_path / "unhack_tasks/configs/unhack_tasks.yaml")
    agent = config.unhack_tasks_simple_agent.responses_api_agents.simple_agent
    assert agent.resources_server.name == "unhack_tasks"
    lines = (tmp_path / "unhack_tasks/data/example.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == list(task_rows(["strings"]))[:5]
    for folder, names, words in (
        (tmp_path / "unhack_tasks", ["strings"], "not empty"),
        (tmp_path / "a b", ["strings"], "no name of a server"),
        (tmp_path / "other", [], "names is a list"),
    ):
        with pytest.raises(UsageError, match=words):
            write_server(folder, names)


def test_the_example_runs(tmp_path: Path) -> None:
    place = Path(__file__).parents[3] / "examples" / "nemo_gym.py"
    command = [sys.executable, place, tmp_path / "unhack_tasks"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "10 rows" in done.stdout
