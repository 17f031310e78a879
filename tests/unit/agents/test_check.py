"""`unhack-check`, the script: what its exit code says."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from unhack.agents.check import SCRIPT


def run(port: int, folder: Path) -> subprocess.CompletedProcess[str]:
    script = folder / "unhack-check"
    script.write_text(SCRIPT.format(python=sys.executable, port=port, token="t"))
    return subprocess.run(
        [sys.executable, "-I", str(script)], capture_output=True, text=True, check=False
    )


def answering(answer: Mapping[str, Any], folder: Path) -> subprocess.CompletedProcess[str]:
    class Host(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    with HTTPServer(("127.0.0.1", 0), Host) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        found = run(server.server_port, folder)
        thread.join()
        return found


@pytest.mark.parametrize(("valid", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_says_whether_the_files_are_valid(
    valid: bool, code: int, tmp_path: Path
) -> None:
    found = answering({"valid": valid, "text": "so it is"}, tmp_path)
    assert (found.returncode, found.stdout) == (code, "so it is\n")


def test_no_answer_is_told_from_files_that_are_not_valid(tmp_path: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        port = closed.server_port
    found = run(port, tmp_path)
    assert found.returncode == 3
    assert found.stderr.startswith("no answer: ")
