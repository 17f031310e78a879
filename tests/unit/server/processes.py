"""Servers as processes of their own, as an operator starts them."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
from typer.testing import CliRunner

from unhack.cli.app import BAD_USAGE, app
from unhack.core.errors import UsageError

_START_S = 300
_SERVE = [sys.executable, "-c", "from unhack.cli.app import main; main()", "serve"]


def command(*words: str) -> tuple[int, str]:
    """The exit code of `unhack serve` with these words, and what it said; run in this process."""
    found = CliRunner().invoke(app, ["serve", *words])
    if isinstance(found.exception, UsageError):
        return BAD_USAGE, str(found.exception)
    return found.exit_code, found.output


@dataclass
class Server:
    """A server that runs."""

    process: subprocess.Popen[bytes]
    url: str
    key: str
    """The key that it printed; empty where it printed none."""
    log: Path

    def client(self, key: str = "") -> httpx.Client:
        """A client with a key."""
        headers = {"Authorization": f"Bearer {key or self.key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=180)

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def serving(folder: Path, *more: str) -> Iterator[Server]:
    """A server with its data in `folder`; SIGTERM at the end of the block."""
    out, log = folder.with_suffix(".out"), folder.with_suffix(".log")
    with out.open("wb") as stdout, log.open("ab") as stderr:
        process = subprocess.Popen(
            [*_SERVE, "--port", "0", "--data", str(folder), *more], stdout=stdout, stderr=stderr
        )
    try:
        url, key = _wait_until_ready(process, out, log)
        yield Server(process, url, key, log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(90)
            process.kill()
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], out: Path, log: Path) -> tuple[str, str]:
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        text = out.read_text()
        url = re.search(r"http://\S+", text)
        if url:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{url[0]}/v1/ready", timeout=5).status_code == 200:
                    key = re.search(r"uh_\S+", text)
                    return url[0], key[0] if key else ""
        time.sleep(0.1)
    raise AssertionError(f"the server did not start: {log.read_text()}")
