"""Every route of a real server, by its own description, with a key and with ids that are there.

A request that fits its schema may be refused: it names a task that there is not. One that does not
fit is never taken. 504 is a deadline that the request itself set.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.service import ServerSettings, Service

CONFIG = """
[parameters]
"path.job_id" = "{job}"
"path.episode_id" = "{episode}"
"path.suite" = "strings"
"path.task_id" = "strings/knit-rows"

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "4xx", "503", "504"]

[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "503", "504"]
"""
AUDIT = {"task": "strings/knit-rows", "tiers": [1], "calls": 3, "seconds": 5}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of a server, and a key."""
    service = Service(ServerSettings(data=tmp_path / "data"))
    key = service.directory.add_key("alpha", list(Grant))
    config = uvicorn.Config(make_app(service), port=0, log_level="critical")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    [listener, *_] = running.servers[0].sockets
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", key
    running.should_exit = True
    thread.join()


@pytest.mark.parametrize("grants", ["all", "none"])
def test_nothing_is_found(served: tuple[str, str], tmp_path: Path, grants: str) -> None:
    url, key = served
    headers = {"Authorization": f"Bearer {key}"}
    job = httpx.post(f"{url}/v1/audits", json=AUDIT, headers=headers).json()["id"]
    place = f"{url}/v1/environments/strings/episodes"
    episode = httpx.post(place, json={}, headers=headers).json()["id"]
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG.format(job=job, episode=episode))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"]
    command += [f"{url}/v1/openapi.json", "--phases", "examples,coverage,fuzzing", "-n", "30"]
    command += ["--no-color", "--request-timeout", "120", "--continue-on-failure"]
    if grants == "all":
        command += ["-H", f"Authorization: Bearer {key}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-20_000:]
