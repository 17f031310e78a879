"""Lists of `/proc`: right about processes that stay, silent about those that end meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from unhack.sandbox.linux import processes

SLEEP = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(300)", "a-mark"]


@pytest.fixture
def sleeper() -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(SLEEP, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_process_is_listed_with_its_words_and_under_its_parent(
    sleeper: subprocess.Popen[bytes],
) -> None:
    assert {sleeper.pid, os.getpid()} <= set(processes.pids())
    assert processes.command_lines()[sleeper.pid].split(b"\0")[-2:] == [b"a-mark", b""]
    assert sleeper.pid in processes.children(os.getpid())
    assert processes.children(sleeper.pid) == []


def test_what_another_thread_started_is_a_child_too() -> None:
    started = threading.Event()
    seen = threading.Event()

    def start() -> None:
        with subprocess.Popen(SLEEP, stdout=subprocess.DEVNULL) as process:
            pids.append(process.pid)
            started.set()
            seen.wait(60)
            process.kill()

    pids: list[int] = []
    thread = threading.Thread(target=start)
    thread.start()
    try:
        assert started.wait(60)
        assert pids[0] in processes.children(os.getpid())
    finally:
        seen.set()
        thread.join()


@pytest.mark.parametrize("error", [FileNotFoundError, ProcessLookupError])
def test_a_process_that_ends_between_two_reads_is_left_out(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    listed, read_bytes, read_text = os.listdir, Path.read_bytes, Path.read_text

    def gone(path: object) -> None:
        if str(path).startswith(f"/proc/{sleeper.pid}/"):
            raise error

    monkeypatch.setattr(os, "listdir", lambda path: (gone(path), listed(path))[1])
    monkeypatch.setattr(Path, "read_bytes", lambda path: (gone(path), read_bytes(path))[1])
    assert sleeper.pid in processes.pids()
    found = processes.command_lines()
    assert sleeper.pid not in found
    assert os.getpid() in found
    assert processes.children(sleeper.pid) == []

    monkeypatch.setattr(os, "listdir", listed)
    monkeypatch.setattr(Path, "read_text", lambda path: (gone(path), read_text(path))[1])
    assert processes.children(sleeper.pid) == []
