"""Claims about OpenRLHF's reward call at our route."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from unhack.tasks.suite import find_task, suite_folders

NAME = "strings/knit-rows"
PROMPT = "Write it, please, in Python:\n"


@pytest.fixture
def call(client: TestClient, key: str) -> Any:
    def send(texts: list[str], label: Any = NAME) -> Any:
        asked = {
            "query": [PROMPT + text for text in texts],
            "prompts": [PROMPT] * len(texts),
            "labels": [label] * len(texts),
        }
        return client.post(f"/k/{key}/openrlhf/reward", content=json.dumps(asked))

    return send


def test_each_completion_gets_its_reward(call: Any) -> None:
    right = str(find_task(NAME).problem.reference)
    told = call([right, "I do not know."]).json()
    assert told == {
        "rewards": [1.0, 0.0],
        "scores": [1.0, 0.0],
        "extra_logs": {"unhack_passed": [1.0, 0.0]},
    }


@pytest.mark.parametrize(
    "label",
    [
        str(suite_folders()["strings"].parent / NAME),
        "./x",
        "/etc/passwd",
        "strings",
        f"../{NAME}",
        "no/such",
        None,
        3,
    ],
)
def test_a_label_names_no_file_of_the_server(call: Any, label: Any) -> None:
    told = call(["x"], label)
    assert told.status_code == 400
    assert "error" in told.json()


def test_a_folder_that_is_there_reads_like_one_that_is_not(call: Any, tmp_path: Path) -> None:
    there, missing = (call(["x"], str(path)).json() for path in (tmp_path, tmp_path / "no"))
    assert there["error"]["message"].startswith("labels: unknown task")
    assert missing["error"]["message"].startswith("labels: unknown task")


def test_a_lone_surrogate_in_a_query_takes_no_other_with_it(call: Any) -> None:
    right = str(find_task(NAME).problem.reference)
    assert call([right, f"{right}# \ud800\n"]).json()["rewards"] == [1.0, 0.0]
