"""Claims about the description of the API."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from unhack.server.app import ROUTES

pytestmark = pytest.mark.slow


@pytest.fixture
def document(client: TestClient) -> Any:
    return client.get("/v1/openapi.json").json()


def test_every_route_is_described(document: Any) -> None:
    told = {(path, method) for path, methods in document["paths"].items() for method in methods}
    wanted = {
        (route.path_format, route.method.lower()) for route in ROUTES if route.include_in_schema
    }
    assert told == wanted


def test_every_reference_leads_somewhere(document: Any) -> None:
    names = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert names <= set(document["components"]["schemas"])
    assert "$defs" not in json.dumps(document)


def test_ids_of_operations_are_unique(document: Any) -> None:
    ids = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(ids) == len(set(ids))


def test_only_open_routes_want_no_key(document: Any) -> None:
    free = {
        path
        for path, methods in document["paths"].items()
        for one in methods.values()
        if not one["security"]
    }
    assert free == {route.path for route in ROUTES if route.open and route.include_in_schema}


def test_every_operation_tells_its_scope_and_its_errors(document: Any) -> None:
    operations = {
        (path, method): one
        for path, methods in document["paths"].items()
        for method, one in methods.items()
    }
    told = {place: set(one["responses"]) for place, one in operations.items()}
    assert told["/v1/health", "get"] == {"200", "500", "503"}
    assert told["/v1/batches", "get"] == {"200", "401", "403", "422", "429", "500", "503"}
    assert told["/v1/audits", "post"] >= {"202", "400", "401", "409", "413", "422", "504"}
    assert told["/v1/jobs/{job_id}", "get"] >= {"200", "404"}
    needed = operations["/v1/score", "post"]["security"]
    assert needed == [{"bearer": ["score"]}, {"header": ["score"]}]
    assert "HTTPValidationError" not in json.dumps(document)
