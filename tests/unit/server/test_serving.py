"""Claims about a server as a process: its keys, its log, its end."""

from __future__ import annotations

import importlib.util
import json
import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from .processes import command, serving
from .requests import FOUR, PLUS_ONE, answers

pytestmark = pytest.mark.slow


@pytest.mark.slow
def test_the_first_start_prints_a_key_and_keys_change_while_it_runs(tmp_path: Path) -> None:
    data = tmp_path / "data"
    body = {"task": FOUR, "completion": "secret completion \\boxed{4}"}
    with serving(data) as server:
        assert server.key
        assert "another server" in command("--port", "0", "--data", str(data))[1]
        code, key = command("keys", "add", "lab", "--scopes", "score", "--data", str(data))
        assert code == 0, key
        key = key.strip()
        for path in (f"/k/{key}/v1/score", f"//k/{key}/v1/score", f"/v1/{key}?key={key}"):
            reply = httpx.post(server.url + path, json=body, timeout=60)
        in_path = httpx.post(f"{server.url}/k/{key}/v1/score", json=body, timeout=60)
        assert in_path.json()["reward"] == 1.0
        with server.client(key) as client:
            reply = client.get("/v1/batches")
            assert (reply.status_code, "read" in reply.text) == (403, True)
        with server.client() as client:
            figures = client.get("/metrics").text
            assert 'unhack_verdicts_total{status="passed"} 2.0' in figures
        _, listed = command("keys", "list", "--data", str(data))
        assert "lab" in listed
        assert key not in listed
        assert command("keys", "revoke", key.split("_")[1], "--data", str(data))[0] == 0
        assert "revoked" in command("keys", "list", "--data", str(data))[1]
    log = server.log.read_text()
    for secret in (key, key.split("_", 2)[2], server.key, "secret completion"):
        assert secret not in log
    lines = [json.loads(line) for line in log.splitlines()]
    assert "/v1/score" in {line.get("path") for line in lines}


def test_wrong_use_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "taken" / "unhack.sqlite").mkdir(parents=True)
    for words, told in (
        (("keys", "list", "--data", str(tmp_path / "none")), "no such folder"),
        (("keys", "add", "a", "--scopes", "scor", "--data", str(tmp_path)), "did you mean score"),
        (("keys", "add", "a b", "--data", str(tmp_path)), "is not a name"),
        (("keys", "revoke", "x", "--data", str(tmp_path)), "keys list"),
        (("--database", "mysql://x/y"), "sqlite or postgresql"),
        (("--database", "nothing"), "--database"),
        (("--database", ""), "--database is not a URL"),
        (("--database", "postgresql://u:se:cr@et@127.0.0.1/x"), "%40"),
        (("--database", "postgresql://u:secret@127.0.0.1:se/x"), "%40"),
        (("keys", "add", "a", "--scopes", "", "--data", str(tmp_path)), "unknown scope ''"),
        (("keys", "add", "a" * 101, "--data", str(tmp_path)), "at most 100"),
        (("--data", str(tmp_path / "file")), "can be written to"),
        (("--data", "/proc/none/data"), "can be written to"),
        (("--data", str(tmp_path / "taken")), "unhack.sqlite"),
        (("--data", str(tmp_path), "--tasks", str(tmp_path / "none")), "no such"),
    ):
        code, said = command(*words)
        assert (code, told in said) == (2, True), said
        assert "se:cr" not in said
        assert "@et" not in said


def test_without_its_packages_the_server_says_which_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "alembic" else known(name)
    )
    for words in (("--data", str(tmp_path)), ("keys", "list")):
        code, said = command(*words)
        assert (code, "pip install '.[server]'" in said, "alembic" in said) == (2, True, True)


@pytest.mark.slow
def test_an_ending_server_finishes_what_is_inside(tmp_path: Path) -> None:
    sleeps = "import time\ndef f(x):\n    time.sleep(600)\n"
    slow = {"task": {**PLUS_ONE, "wall_s": 15.0}, "completion": sleeps}
    many = {"task": FOUR, "completions": answers(50), "wait": False}
    with serving(tmp_path / "data") as server, server.client() as client:
        assert client.get("/v1/tasks").status_code == 200
        replies: list[Any] = []
        inside = threading.Thread(
            target=lambda: replies.append(
                httpx.post(
                    f"{server.url}/v1/score",
                    json=slow,
                    headers=dict(client.headers),
                    timeout=120,
                )
            )
        )
        inside.start()
        while "unhack_places_taken 1.0" not in client.get("/metrics").text:
            time.sleep(0.05)
        server.process.send_signal(signal.SIGTERM)
        while (ready := client.get("/v1/ready")).status_code == 200:
            time.sleep(0.05)
        assert (ready.status_code, ready.json()["error"]["code"]) == (503, "draining")
        refused = client.post("/v1/batches", json=many)
        assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
        inside.join()
        assert replies[0].json()["verdict"]["status"] == "timeout"
        assert server.process.wait(60) == 0
