"""Claims about audits over HTTP: what is run, what is refused, what is told."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from unhack.server.access.caller import Grant
from unhack.server.app import make_app
from unhack.server.http.job_models import ENDED
from unhack.server.service import ServerSettings, Service


@pytest.fixture
def order(client: TestClient, headers: dict[str, str]) -> Any:
    return lambda asked: client.post("/v1/audits", json=asked, headers=headers)


@pytest.mark.slow
def test_a_reward_is_audited_and_its_report_comes_back(
    client: TestClient, headers: dict[str, str], small_audit: Any, ended: Any, service: Service
) -> None:
    told = client.post("/v1/audits", json=small_audit, headers=headers)
    assert told.status_code == 202
    assert told.headers["location"] == f"jobs/{told.json()['id']}"
    job = ended(told.json()["id"])
    assert (job["state"], job["error"]) == ("done", None)
    assert job["result"]["conclusion"] == "exploitable"
    assert job["started_at"] <= job["finished_at"]
    page = client.get(job["page"], headers=headers)
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for text in (json.dumps(job), page.text):
        assert str(service.settings.data) not in text


@pytest.mark.slow
def test_a_data_folder_that_is_named_from_here_is_in_no_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_audit: Any
) -> None:
    """The default, `unhack-server`, is such a one."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    service = Service(ServerSettings(data=Path("link/data")))
    headers = {"Authorization": f"Bearer {service.directory.add_key('alpha', list(Grant))}"}
    with TestClient(make_app(service)) as client:
        for wrong in ("def score(:", "def other(): return 1"):
            asked = {"reward": {**small_audit["reward"], "source": wrong}}
            told = client.post("/v1/audits", json=asked, headers=headers)
            assert told.json()["error"]["field"] == "reward.source"
            assert "/" not in told.json()["error"]["message"]
        job = client.post("/v1/audits", json=small_audit, headers=headers).json()
        until = time.monotonic() + 240
        while job["state"] not in ENDED and time.monotonic() < until:
            time.sleep(0.05)
            job = client.get(f"/v1/jobs/{job['id']}", headers=headers).json()
        assert job["state"] == "done"
        for text in (json.dumps(job), client.get(job["page"], headers=headers).text):
            assert str(tmp_path) not in text
            assert "link/data" not in text


@pytest.mark.slow
def test_a_task_is_audited_by_its_name(order: Any, ended: Any) -> None:
    asked = {"task": "strings/knit-rows", "tiers": [1], "calls": 5, "seconds": 20}
    job = ended(order(asked).json()["id"])
    assert job["state"] == "done"
    assert job["result"]["subject"] == "strings/knit-rows"


@pytest.mark.parametrize(
    "target", ["/etc/x.py:f", "os:system", "./strings", "../strings/knit-rows", "strings", "a.py"]
)
def test_a_target_names_nothing_of_the_server(order: Any, target: str) -> None:
    told = order({"task": target})
    assert told.status_code == 400
    assert told.json()["error"]["message"].startswith("task: unknown task")


@pytest.mark.parametrize(
    ("source", "entry", "said"),
    [
        ("from os import system as score", "score", "reward.source"),
        ("from unhack.core.hashing import content_hash as score", "score", "reward.entry"),
        ("from unhack.tasks.suite import *", "find_task", "reward.entry"),
        ("def score(a, b): return 1", "other", "other"),
        ("def score(:", None, "reward.source"),
        ("x = 1", None, "reward.source"),
        ("\0", None, "reward.source"),
        ("(" * 5000, None, "reward.source"),
        ("x = " + "-" * 200_000 + "1", None, "reward.source"),
    ],
)
def test_a_source_that_is_no_reward_is_refused(
    order: Any, service: Service, source: str, entry: str | None, said: str
) -> None:
    told = order({"reward": {"source": source, "entry": entry}})
    assert told.status_code == 400
    message = told.json()["error"]["message"]
    assert said in message
    assert str(service.settings.data) not in message
    assert not list((service.settings.data / "jobs").glob("*/*"))


def test_an_import_does_not_widen_the_folder(order: Any, service: Service) -> None:
    names = [part for part in service.settings.data.parts if part.isidentifier()]
    assert names
    for name in names:
        source = f"import {name}\ndef score(completion, answer): return 1.0"
        told = order({"reward": {"source": source, "entry": "score"}})
        assert told.status_code == 400, name
        assert "reward.source" in told.json()["error"]["message"]


@pytest.mark.slow
def test_a_reward_sees_no_other_tenants_files(
    order: Any, ended: Any, small_audit: Any, service: Service
) -> None:
    secret = service.settings.data / "jobs" / "tenant-9" / "secret.txt"
    secret.parent.mkdir(parents=True)
    secret.write_text("other")
    source = (
        "import os\n"
        f"if os.path.exists({str(secret)!r}) or os.path.exists({str(secret.parents[2])!r}):\n"
        "    raise SystemExit('seen')\n" + small_audit["reward"]["source"]
    )
    job = ended(order({**small_audit, "reward": {"source": source}}).json()["id"])
    assert job["state"] == "done"
    assert "seen" not in json.dumps(job)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"tiers": []}, "tiers"),
        ({"tiers": [5]}, "tiers"),
        ({"tiers": [1, 1]}, "tiers"),
        ({"calls": 0}, "calls"),
        ({"calls": 1.5}, "calls"),
        ({"seconds": 1e9}, "seconds"),
        ({"seconds": "1"}, "seconds"),
        ({"seed": -1}, "seed"),
        ({"run": "/tmp/x"}, "run"),
        ({"task": "strings/knit-rows"}, "task"),
        ({"reward": None}, "task"),
        ({"reward": {"source": "def f(a, b): pass", "signature": "x"}}, "signature"),
        ({"reward": {"source": "def f(a, b): pass", "entry": "a/b"}}, "reward.entry"),
        ({"reward": {"source": "def f(a, b): pass", "rows": [{}]}}, "reward.rows.0"),
        ({"reward": {"source": "def f(a, b): pass", "rows": {"a": 1}}}, "reward.rows"),
    ],
)
def test_a_wrong_order_names_its_field(
    order: Any, small_audit: Any, more: dict[str, Any], field: str
) -> None:
    told = order(small_audit | more)
    assert told.status_code in (400, 422)
    assert field in told.json()["error"]["message"]


@pytest.mark.slow
def test_the_job_folder_is_the_tenants_own(
    order: Any, service: Service, small_audit: Any, ended: Any
) -> None:
    job = ended(order(small_audit).json()["id"])
    [folder] = (service.settings.data / "jobs").glob("*/*")
    assert folder == Path(service.settings.data, "jobs", "tenant-1", f"job-{job['id']}")
