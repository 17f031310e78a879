"""The requests on the page about serving are answered as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from unhack.server.app import ROUTES

from .requests import bearer

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "server" / "serve.md"
SENT = re.findall(
    r"curl (?:-N )?http://127\.0\.0\.1:8700(\S+) .*? -d '(.*?)'\n```",
    PAGE.read_text(encoding="utf-8"),
    re.DOTALL,
)


@pytest.mark.parametrize(("path", "body"), SENT)
def test_a_request_of_the_page_is_answered(
    client: TestClient, key: str, path: str, body: str
) -> None:
    assert json.loads(body)
    reply = client.post(path, content=body, headers=bearer(key))
    assert reply.status_code == 200, reply.text


def test_the_page_shows_requests_and_names_routes_that_are() -> None:
    assert len(SENT) == 3
    known = {
        (route.method, route.path.replace("{batch_id}", "ID").replace("{position}", "N"))
        for route in ROUTES
    }
    told = re.findall(r"`(GET|POST|DELETE) (/[^`?]*)", PAGE.read_text(encoding="utf-8"))
    assert set(told) <= known
