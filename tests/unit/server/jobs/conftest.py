"""Jobs that are ordered and waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from unhack.server.http.job_models import ENDED

SOURCE = """
def score(completion, answer):
    return 1.0 if answer in completion else 0.0
"""
ROWS = [
    {"prompt": "What is 17 + 25?", "answer": "42"},
    {"prompt": "What is 12 * 12?", "answer": "144"},
]


@pytest.fixture
def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def small_audit() -> dict[str, Any]:
    """An order that needs a second."""
    reward = {"source": SOURCE, "entry": "score", "rows": ROWS}
    return {
        "reward": reward, "tiers": [1], "calls": 400, "seconds": 60, "stop_at_first": True,
    }  # fmt: skip


@pytest.fixture
def ended(client: TestClient, headers: dict[str, str]) -> Callable[[str], dict[str, Any]]:
    """The job of an id, once it has ended."""

    def wait(job_id: str) -> dict[str, Any]:
        until = time.monotonic() + 240
        while time.monotonic() < until:
            found = client.get(f"/v1/jobs/{job_id}", headers=headers).json()
            if found["state"] in ENDED:
                return found
            time.sleep(0.05)
        raise AssertionError(f"job {job_id} did not end")

    return wait
