"""A package that the server lacks is the server's fault, and tells none of its places."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from tests.unit.server.requests import RIGHT, bearer

from unhack.core.errors import NotInstalledError, TaskError
from unhack.server.scoring.catalogue import Catalogue
from unhack.tasks.task import Task


def _lack(catalogue: Catalogue, name: str) -> Task:
    words = f"/srv/suites/{name}: the check math needs the package math_verify"
    raise TaskError(words) from NotInstalledError("math_verify")


def test_a_task_that_lacks_its_package_is_501_and_the_log_says_which(
    client: TestClient,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(Catalogue, "find", _lack)
    body = {"task": "math/bag-draw#3", "completion": RIGHT}
    reply = client.post("/v1/score", json=body, headers=bearer(key))
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (501, "not_installed")
    assert "/" not in error["message"]
    assert "math_verify" in caplog.text
