"""Claims about `/submit`: what is judged, by which rule, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from unhack.server.foreign.fusion_judging import is_accepted

DOUBLE = "```python\nprint(2 * int(input()))\n```"
CASES = [{"input": {"stdin": f"{at}\n"}, "output": {"stdout": f"{2 * at}\n"}} for at in range(4)]


@pytest.fixture
def submit(client: TestClient, key: str) -> Any:
    def send(completion: str, **config: Any) -> Any:
        given = {"language": "python", "provided_data": {"id": 1, "test": CASES}, **config}
        asked = {"dataset": "mine", "id": 1, "completion": completion, "config": given}
        return client.post("/submit", json=asked, headers={"Authorization": f"Bearer {key}"})

    return send


def test_a_right_program_is_accepted(submit: Any) -> None:
    told = submit(DOUBLE, dataset_type="CommonOJDataset").json()
    assert told["accepted"] is True
    assert [test["passed"] for test in told["tests"]] == [True] * 4
    assert told["extracted_code"].strip() == "print(2 * int(input()))"
    assert told["extracted_type"] == "fenced"
    assert told["tests"][3]["exec_info"]["run_result"]["stdout"] == "6\n"


def test_a_wrong_program_ends_at_its_first_failure(submit: Any) -> None:
    wrong = "```python\nprint(0)\n```"
    assert [test["passed"] for test in submit(wrong).json()["tests"]] == [True, False]
    every = submit(wrong, extra={"run_all_cases": True}).json()
    assert [test["passed"] for test in every["tests"]] == [True, False, False, False]
    assert every["accepted"] is False


def test_a_text_without_code_passes_nothing(submit: Any) -> None:
    told = submit("").json()
    assert (told["accepted"], told["extracted_type"]) == (False, "empty")


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"custom_extract_logic": "import os"}, "config.custom_extract_logic"),
        ({"dataset_type": "AutoEvalDataset"}, "config.dataset_type"),
        ({"language": "cobol"}, "config.language"),
        ({"language": None}, "config.language"),
        ({"provided_data": None}, "config.provided_data"),
        ({"provided_data": [{"id": 2, "test": CASES}]}, "config.provided_data"),
        ({"provided_data": {"test": []}}, "config.provided_data.test"),
        ({"provided_data": {"test": "[["}}, "config.provided_data.test"),
        ({"provided_data": {"test": [{"input": {}}]}}, "config.provided_data.test.0"),
        (
            {"provided_data": {"test": [{"input": {"f": ""}, "output": {"stdout": ""}}]}},
            "config.provided_data.test.0",
        ),
    ],
)
def test_what_is_not_judged_is_refused_by_its_field(submit: Any, config: Any, field: str) -> None:
    told = submit(DOUBLE, **config)
    assert told.status_code == 400
    assert told.json()["error"]["field"] == field


def test_the_code_for_the_servers_own_process_is_refused_with_the_reason(submit: Any) -> None:
    told = submit(DOUBLE, custom_extract_logic="x").json()["error"]["message"]
    assert "the server's own process" in told


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("YES\n", "yes", True),
        (" 1 \n2", "1\n2\n", True),
        ("1\n\n2", "1\n2", False),
        ("0.3333334", "0.3333333", True),
        ("0.34", "0.33", False),
        ("nan", "nan", True),
        ("inf", "1", False),
        ("nan", "1", False),
        ("", "", True),
    ],
)
def test_lines_are_compared_by_their_rule(printed: str, expected: str, same: bool) -> None:
    assert is_accepted(printed, expected) is same
