"""Claims about `/run_code`: SandboxFusion's words over our sandbox."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from starlette.testclient import TestClient

SECRET = base64.b64encode(b"seven\n").decode()


@pytest.fixture
def run(client: TestClient, key: str) -> Any:
    """Sends one run by a key in the path."""

    def send(code: str, language: str = "python", **more: Any) -> Any:
        asked = {"code": code, "language": language, **more}
        return client.post(f"/k/{key}/run_code", json=asked)

    return send


def test_a_program_prints_what_it_read(run: Any) -> None:
    told = run("print(input()[::-1])", stdin="abc").json()
    assert told["status"] == "Success"
    assert told["run_result"]["stdout"] == "cba\n"
    assert told["run_result"]["return_code"] == 0
    assert told["run_result"]["status"] == "Finished"
    assert (told["compile_result"], told["files"], told["message"]) == (None, {}, "")


@pytest.mark.parametrize(
    ("language", "code", "out"),
    [
        ("bash", "cat; exit 3", "abc"),
        ("perl", "print <STDIN>; exit 3;", "abc"),
        ("python", "import subprocess\nprint(end=input(), flush=True); exit(3)", "abc"),
    ],
)
def test_a_code_of_an_exit_is_failed(run: Any, language: str, code: str, out: str) -> None:
    told = run(code, language, stdin="abc").json()
    assert (told["status"], told["run_result"]["return_code"]) == ("Failed", 3)
    assert told["run_result"]["stdout"] == out


def test_a_program_in_cpp_is_built_first(run: Any) -> None:
    right = '#include <cstdio>\nint main() { puts("hi"); }'
    told = run(right, "cpp", compile_timeout=120).json()
    assert told["compile_result"]["return_code"] == 0
    assert told["run_result"]["stdout"] == "hi\n"
    wrong = run("int main() {", "cpp", compile_timeout=120).json()
    assert (wrong["status"], wrong["run_result"]) == ("Failed", None)
    assert "error" in wrong["compile_result"]["stderr"]


@pytest.mark.slow
def test_a_run_that_takes_too_long_has_its_own_word(run: Any) -> None:
    for code, language in (("while True: pass", "python"), ("sleep 60", "bash")):
        told = run(code, language, run_timeout=0.5).json()
        assert (told["status"], told["run_result"]["status"]) == ("Failed", "TimeLimitExceeded")
        assert told["run_result"]["return_code"] is None


def test_files_go_in_and_come_out(run: Any) -> None:
    code = "open('out/b.txt', 'w').write(open('in/a.txt').read().upper())"
    told = run(
        f"import os; os.mkdir('out'); {code}",
        files={"in/a.txt": SECRET, "none": None},
        fetch_files=["out/b.txt", "not/there"],
    ).json()
    assert told["status"] == "Success"
    assert {name: base64.b64decode(text) for name, text in told["files"].items()} == {
        "out/b.txt": b"SEVEN\n"
    }


def test_a_language_that_is_not_here_is_named(run: Any) -> None:
    told = run("(display 1)", "racket").json()
    assert told["status"] == "SandboxError"
    assert "racket" in told["message"]
    assert "python" in told["message"]


def test_a_run_sees_nothing_of_the_server(run: Any) -> None:
    told = run("ls -A /home /root /tmp /var /proc/1/cwd; env", "bash").json()
    assert "sqlite" not in told["run_result"]["stdout"]
    assert "UNHACK" not in told["run_result"]["stdout"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"files": {"../a": SECRET}}, "files"),
        ({"files": {"/etc/a": SECRET}}, "files"),
        ({"files": {"a\0": SECRET}}, "files"),
        ({"files": {"a": "no base64!"}}, "files"),
        ({"files": {"a": SECRET, "a/b": SECRET}}, "files"),
        ({"files": {"solution.py": SECRET}}, "files"),
        ({"fetch_files": ["../../etc/passwd"]}, "fetch_files"),
        ({"run_timeout": -1}, "run_timeout"),
        ({"run_timeout": 1e9}, "run_timeout"),
        ({"run_timeout": "5"}, "run_timeout"),
        ({"stdin": 5}, "stdin"),
        ({"language": None}, "language"),
        ({"code": None}, "code"),
    ],
)
def test_a_wrong_run_names_its_field(run: Any, more: Any, field: str) -> None:
    asked = {"code": "pass", "language": "python"} | more
    told = run(asked.pop("code"), asked.pop("language"), **asked)
    assert told.status_code in (400, 422)
    assert told.json()["error"]["field"].startswith(field)


def test_a_run_wants_a_key(client: TestClient) -> None:
    asked = {"code": "print(1)", "language": "python"}
    assert client.post("/run_code", json=asked).status_code == 401
    assert client.post("/k/uh_x/run_code", json=asked).status_code == 401


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_ping_is_answered_without_a_key(client: TestClient, method: str) -> None:
    assert client.request(method, "/v1/ping").text == "pong"
