"""Cards of host memory in the workers of a Ray: judge, sealed workers and queue are the real ones.

A raylet that is started with `environ(log)` has, behind each GPU that it offers to Ray, a card of
its own. Each turn with a card leaves two lines in the log: begin and end, card, pid, time.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
LOG = "UNHACK_TEST_CARD_LOG"
NAME = "host memory"
DEVICE = "/dev/tty"
"""The node of a card: a tree sees it where it is given one, and nowhere else."""
_ON_START = """
import importlib.util, sys


class Finder:
    def __init__(self, name, change):
        self.name, self.change = name, change

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            from tests.integrations.ray import host_cards
            getattr(host_cards, self.change)(module)

        spec.loader.exec_module = exec_module
        return spec


for name, change in CHANGES.items():
    sys.meta_path.insert(0, Finder(name, change))
"""
_ON_NODES = {
    "unhack.tasks.execution.ray.remote_calls": "before_each_answer",
    "unhack.tasks.execution.ray.tree_supervisor": "before_each_tree",
}
_HERE = {"unhack_contests.kernels.gpu.contest": "in_this_process"}
"""Module -> what is done here once it is loaded."""


def environ(folder: Path) -> dict[str, str]:
    """Of raylets; `folder` holds the log and what their workers run on their start, and a folder
    `here` the same for a process with a card of its own."""
    (folder / "here").mkdir()
    for place, changes in ((folder, _ON_NODES), (folder / "here", _HERE)):
        text = _ON_START.replace("CHANGES", repr(changes))
        (place / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": f"{folder}:{ROOT}", LOG: str(folder / "log.jsonl")}


def before_each_answer(calls: Any) -> None:
    """Puts the card in place before a call is made."""
    answer = calls.answer

    @functools.wraps(answer)
    def answered(*given: Any) -> Any:
        put_in_place()
        return answer(*given)

    calls.answer = answered


def before_each_tree(supervisor: Any) -> None:
    """Has a supervisor find the cards of its node."""
    begin = supervisor.TreeSupervisor.begin

    @functools.wraps(begin)
    def begun(*given: Any) -> int:
        find_cards_of_node()
        return begin(*given)

    supervisor.TreeSupervisor.begin = begun


def in_this_process(contest: Any) -> None:
    """Puts a card in place, whose node is this process's machine."""
    from unhack.sandbox.gpu import cards

    del contest
    cards.find_cards = lambda: (cards.Card(0, DEVICE, NAME, "GPU-here-0"),)
    measure_over_host_memory()


def find_cards_of_node() -> None:
    """Have this process find four cards, of which Ray lets it see some."""
    import ray

    from unhack.sandbox.gpu import cards

    node = ray.get_runtime_context().get_node_id()[:12]
    found = tuple(cards.Card(n, DEVICE, NAME, f"GPU-{node}-{n}") for n in range(4))
    cards.find_cards = lambda: found


def put_in_place() -> None:
    """Have this process find the cards of its node, and measure over host memory."""
    find_cards_of_node()
    measure_over_host_memory()


def measure_over_host_memory() -> None:
    """Have this process measure kernels in host memory in the place of a card's."""
    import torch
    from packages.contests.tests.kernels.gpu import conftest as host

    from unhack.sandbox.gpu import cards
    from unhack_contests.kernels import score
    from unhack_contests.kernels.gpu import (
        contest,
        judge,
        measure,
        oracle,
        probe,
        shared_memory,
        side,
    )

    def setting_of(device: str) -> Any:
        return replace(host.SETTING, card=cards.choose_card(device))

    measure.setting_of = contest.setting_of = setting_of  # type: ignore[assignment]
    measure.check_card = contest.check_card = setting_of  # type: ignore[assignment]
    measure.check_free = lambda card, *, ours: None
    measure.wait_until_idle = lambda card, *, others: ()
    measure.roof_of = lambda device: host.RULES.roof  # type: ignore[assignment]
    measure.torch_with_cuda = lambda: torch
    measure.GpuRules = lambda pairs, roof, given: host.GpuRules(1, roof, 1 << 12, given)  # type: ignore[misc]
    measure.CardQueue = LoggedQueue  # type: ignore[misc]
    torch.cuda.set_device = torch.cuda.synchronize = lambda *_: None  # type: ignore[assignment]
    torch.cuda.empty_cache = lambda: None
    torch.set_num_threads(1)
    shared_memory.allocate = host.allocate
    oracle.DEVICE = "cpu"
    if not isinstance(oracle.load, functools.partial):
        oracle.load = functools.partial(oracle.load, small=True)
    command = [side.interpreter(), "-B", "-P", "-s", "-c", host.STAND_IN]
    side.command = lambda: command
    judge._WAIT_SHARE, judge._MOST_S, judge._QUIET_S = 1e9, 0.0, 2.0
    probe._BUSY, score._HOST_S = 1e9, 1.0  # a busy host slows what the judge does before a call


class LoggedQueue:
    """The queue of a card, with its turns in the log."""

    def __init__(self, key: str) -> None:
        from unhack.sandbox.gpu.card_queue import CardQueue

        self.key, self.queue = key, CardQueue(key)

    @contextlib.contextmanager
    def turn(self, *, timeout_s: float) -> Generator[None]:
        """See `CardQueue.turn`."""
        with self.queue.turn(timeout_s=timeout_s):
            self._note("begin")
            try:
                yield
            finally:
                self._note("end")

    def _note(self, what: str) -> None:
        line = {"what": what, "card": self.key, "pid": os.getpid(), "at": time.monotonic()}
        with Path(os.environ[LOG]).open("a") as log:
            log.write(json.dumps(line) + "\n")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn with a card; `end` is infinite for one that was cut off."""

    card: str
    pid: int
    begin: float
    end: float


def turns(log: Path) -> list[Turn]:
    """All turns so far, in the order of their beginnings."""
    found: list[Turn] = []
    lines = log.read_text().splitlines() if log.exists() else []
    for line in map(json.loads, lines):
        if line["what"] == "begin":
            found.append(Turn(line["card"], line["pid"], line["at"], float("inf")))
            continue
        [at] = [
            at for at, turn in enumerate(found)
            if (turn.card, turn.pid, turn.end) == (line["card"], line["pid"], float("inf"))
        ]  # fmt: skip
        found[at] = replace(found[at], end=line["at"])
    return found
