"""Whose processes may hold a part of a card: this one's, and agents that it was told of."""

from __future__ import annotations

import os
import subprocess

import pytest

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.gpu import cards
from unhack.sandbox.gpu.cards import Card, agents_processes, cotenants, own_processes


def test_agents_of_another_process_are_ours_while_they_are_known() -> None:
    stranger = os.getppid()
    assert stranger not in own_processes()
    with cotenants((stranger,)):
        assert {stranger, os.getpid()} <= own_processes()
        assert stranger in agents_processes()
        assert os.getpid() not in agents_processes()
    assert stranger not in own_processes()


def test_the_tree_below_an_agent_is_ours_too() -> None:
    line = "sleep 600 & echo $!; wait"
    with subprocess.Popen(["/bin/sh", "-c", line], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        child = int(shell.stdout.readline())
        try:
            with cotenants((shell.pid,)):
                assert {shell.pid, child} <= own_processes()
        finally:
            os.kill(child, 9)


def test_a_card_that_agents_of_the_node_hold_is_not_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    class Driver:
        def processes(self, index: int) -> dict[int, int]:
            return {1: 8 << 30}

    monkeypatch.setattr(cards, "nvml", Driver)
    card = Card(0, "/dev/null")
    with pytest.raises(SandboxUnavailableError, match="process 1"):
        cards.check_free(card, ours=own_processes())
    with cotenants((1,)):
        cards.check_free(card, ours=own_processes())
