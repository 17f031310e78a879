"""Claims about keys: whatever a client does with one, no log and no figure holds it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from io import StringIO
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from unhack.server.observing.logs import JsonLines

from ..requests import bearer  # noqa: TID252


@pytest.fixture
def log() -> Iterator[StringIO]:
    """The lines of the server's log, as they are written."""
    text = StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("unhack.server")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield text
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.parametrize(
    "path",
    [
        "/k/{key}/v1/batches", "/k/{key}/k/{key}/v1/tasks", "//k/{key}/v1/tasks", "/K/{key}/x",
        "/k/{key}/nothing", "/v1/batches/{key}", "/v1/tasks/{key}", "/x/{once}/y", "/x/{twice}/y",
        "/v1/tasks?key={key}", "/k/{key}/v1/batches/", "/k/{key}", "/k/{key}/../{key}",
        "/k%2F{key}%2Fv1%2Ftasks", "/v1/jobs/{key}", "/v1/episodes/{key}", "/ui/batches/{key}",
    ],
)  # fmt: skip
def test_a_key_in_a_path_is_in_no_log_no_figure_and_no_redirect(
    client: TestClient, key: str, log: StringIO, path: str
) -> None:
    secret = key[16:]
    once = "".join(f"%{ord(letter):02x}" for letter in key)
    asked = path.format(key=key, once=once, twice=quote(once))
    reply = client.get(asked, headers=bearer(key), follow_redirects=False)
    assert secret not in reply.headers.get("location", "")
    assert secret not in log.getvalue()
    assert log.getvalue()
    assert secret not in client.get("/metrics", headers=bearer(key)).text
    if "{key}/v1/batches" in path:
        assert reply.status_code < 400


def test_a_client_invents_no_label_of_the_metrics(client: TestClient, key: str) -> None:
    for number in range(20):
        client.request(f"ZZ{number}", "/v1/health")
        client.get(f"/nothing/{number}")
    found = client.get("/metrics", headers=bearer(key)).text
    assert "ZZ" not in found
    assert "nothing" not in found
    assert 'method="other"' in found
