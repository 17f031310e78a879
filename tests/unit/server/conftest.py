"""A server in this process: its app, its keys, a client that speaks to it without a socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.database.schema import metadata
from unhack.server.service import ServerSettings, Service, make_service


@pytest.fixture
def service(tmp_path: Path) -> Service:
    made = make_service(ServerSettings(data=tmp_path / "data"))
    metadata.create_all(made.database.engine)
    return made


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    with TestClient(make_app(service), raise_server_exceptions=False) as found:
        yield found


@pytest.fixture
def key(service: Service) -> str:
    return service.directory.add_key("alpha", list(Grant))
