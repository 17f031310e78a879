"""A package that the server lacks is the server's fault, and tells none of its places."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.unit.server.requests import RIGHT, bearer


def test_a_task_that_lacks_its_package_is_501_and_the_log_says_which(
    client: TestClient,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    real = importlib.util.find_spec

    def without(name: str, *rest: Any) -> Any:
        return None if name == "math_verify" else real(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    body = {"task": "math/bag-draw#3", "completion": RIGHT}
    reply = client.post("/v1/score", json=body, headers=bearer(key))
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (501, "not_installed")
    assert "/" not in error["message"]
    assert "math_verify" in caplog.text
