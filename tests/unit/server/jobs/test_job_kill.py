"""A claim about kill -9: an accepted job is never lost, and goes on with what it has."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit.server.processes import serving
from tests.unit.server.requests import BOTH

from unhack.server.http.job_models import ENDED

TOURNAMENT = {
    "contest": "reward_hacking",
    "agents": ["baseline", "null"],
    "rounds": 2,
    "options": {"track": "detect", "pairs": "6", "dev_pairs": "2"},
    "seed": 3,
}


@pytest.mark.slow
@pytest.mark.parametrize("database", BOTH, indirect=True)
def test_a_server_killed_in_the_middle_ends_all_jobs(
    tmp_path: Path, small_audit: Any, database: str | None
) -> None:
    # Bound by calls, not by time: beside other work the time is up before the server is killed. The
    # calls sleep, so that the audit lasts however late this process is to look.
    source = small_audit["reward"]["source"].replace(
        "return", "__import__('time').sleep(.1); return"
    )
    reward = small_audit["reward"] | {"source": source}
    long = small_audit | {"calls": 600, "seconds": 900, "stop_at_first": False, "tiers": [1, 2, 3]}
    long |= {"reward": reward}
    folder = tmp_path / "data"
    more = ("--database", database) if database else ()
    with serving(folder, *more) as server:
        key = server.key
        with server.client() as client:
            first = client.post("/v1/audits", json=long).json()["id"]
            played = client.post("/v1/tournaments", json=TOURNAMENT).json()["id"]
            waits = client.post("/v1/audits", json=small_audit).json()["id"]
            until = time.monotonic() + 120
            run = next((folder / "jobs").glob(f"*/job-{first}")) / "run"
            while time.monotonic() < until and not _scores(run):
                time.sleep(0.05)
            assert client.get(f"/v1/jobs/{first}").json()["state"] == "running"
        server.kill()
    before = _scores(run)
    assert before
    with serving(folder, *more) as server, server.client(key) as client:
        found: dict[str, Any] = {}
        for job_id in (first, played, waits):
            while server.process.poll() is None:
                found[job_id] = client.get(f"/v1/jobs/{job_id}").json()
                if found[job_id]["state"] in ENDED:
                    break
                time.sleep(0.1)
        assert [one["state"] for one in found.values()] == ["done"] * 3, found
        assert [one["error"] for one in found.values()] == [None] * 3
        assert found[played]["result"]["finished"] is True
    assert _scores(run)[: len(before)] == before


def _scores(run: Path) -> bytes:
    """The log of an audit's scores."""
    logs = [path for path in run.glob("*.jsonl") if path.stat().st_size]
    return logs[0].read_bytes() if logs else b""
