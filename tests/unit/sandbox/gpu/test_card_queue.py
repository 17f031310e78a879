"""The queue for a card: one at a time, first come first served, whatever kills the one before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.sandbox.host_start import PACKAGE_PATH

HOLDER = """
import sys, time
sys.path.insert(0, {path!r})
from pathlib import Path
from unhack.sandbox.gpu.card_queue import CardQueue
with CardQueue("card", root=Path({root!r})).turn(timeout_s=60):
    print("mine", flush=True)
    time.sleep(600)
"""


def start_holder(root: Path) -> subprocess.Popen[bytes]:
    code = HOLDER.format(path=PACKAGE_PATH, root=str(root))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)


def test_a_free_card_is_had_at_once_and_given_back(tmp_path: Path) -> None:
    queue = CardQueue("card", root=tmp_path)
    for _ in range(2):
        with queue.turn(timeout_s=0):
            assert str(os.getpid()) in queue.holder()
    assert queue.holder() == ""
    assert list(queue.folder.iterdir()) == []


def test_the_holder_is_named_when_the_card_is_not_free_in_time(tmp_path: Path) -> None:
    told: list[str] = []
    with CardQueue("card", root=tmp_path).turn(timeout_s=0):
        second = CardQueue("card", root=tmp_path)
        wanted = f"in use by process {os.getpid()}"
        with (
            pytest.raises(SandboxUnavailableError, match=wanted),
            second.turn(timeout_s=0.2, waiting=told.append),
        ):
            pytest.fail("two have the card")
    assert len(told) == 1
    assert len(list(second.folder.iterdir())) == 0


def test_another_card_has_another_queue(tmp_path: Path) -> None:
    with (
        CardQueue("GPU-1", root=tmp_path).turn(timeout_s=0),
        CardQueue("GPU-2", root=tmp_path).turn(timeout_s=0),
    ):
        assert len(list(tmp_path.iterdir())) == 2


def test_a_killed_holder_gives_the_card_up(tmp_path: Path) -> None:
    with start_holder(tmp_path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"mine\n"
        queue = CardQueue("card", root=tmp_path)
        assert str(holder.pid) in queue.holder()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with queue.turn(timeout_s=60):
            assert str(os.getpid()) in queue.holder()
    assert list(queue.folder.iterdir()) == []


def test_who_came_first_is_served_first(tmp_path: Path) -> None:
    order: list[int] = []
    threads: list[threading.Thread] = []
    queue = CardQueue("card", root=tmp_path)

    def wait(number: int) -> None:
        with queue.turn(timeout_s=60):
            order.append(number)

    with queue.turn(timeout_s=0):
        for number in range(4):
            threads.append(threading.Thread(target=wait, args=(number,)))
            threads[-1].start()
            while len(list(queue.folder.iterdir())) < number + 2:  # until it stands in line
                time.sleep(0.005)
        assert order == []
    for thread in threads:
        thread.join(60)
    assert order == [0, 1, 2, 3]


def test_no_two_ever_have_the_card(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(5):
            with CardQueue("card", root=tmp_path).turn(timeout_s=60):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most == [1] * 20


def test_a_link_in_the_place_of_the_queue_is_refused(tmp_path: Path) -> None:
    queue = CardQueue("card", root=tmp_path)
    (tmp_path / "elsewhere").mkdir()
    queue.folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SandboxUnavailableError, match="remove it"), queue.turn(timeout_s=0):
        pass
