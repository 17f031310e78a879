"""Claims about the description of the API."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from pydantic import create_model
from starlette.testclient import TestClient

from unhack.server.app import ROUTES
from unhack.server.http.openapi import describe


@pytest.fixture
def document(client: TestClient) -> Any:
    return client.get("/v1/openapi.json").json()


def test_every_route_is_described(document: Any) -> None:
    told = {(path, method) for path, methods in document["paths"].items() for method in methods}
    wanted = {
        (re.sub(r"{(\w+):\w+}", r"{\1}", route.path), route.method.lower())
        for route in ROUTES
        if route.described
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
    assert free == {route.path for route in ROUTES if route.open and route.described}


def test_two_models_of_one_name_are_an_error() -> None:
    route = next(route for route in ROUTES if route.body is not None)
    other: Any = create_model(str(getattr(route.body, "__name__", "")), x=(int, 1))
    with pytest.raises(ValueError, match="two models"):
        describe([route, replace(route, path="/other", body=other)])
