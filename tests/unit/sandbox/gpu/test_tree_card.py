"""The card of a process tree: in it where it is given one, and nowhere else."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from unhack.agents.options import read_options
from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.gpu import tree_card
from unhack.sandbox.gpu.cards import Card
from unhack.sandbox.gpu.driver_files import DriverFiles
from unhack.sandbox.gpu.tree_card import TreeCard, watched, with_card
from unhack.sandbox.workspace.process_tree import ProcessTree, ProcessTreePlan
from unhack.tournament.contest import AGENTS_DEVICE, agents_card

FILES = DriverFiles(("/dev/zero",), environ={"CUDA_HOME": "/cuda", "LD_LIBRARY_PATH": "/driver"})
PLAN = ProcessTreePlan(environ={"PATH": "/usr/bin:/bin"}, disk_bytes=16 << 20)
CARD = TreeCard("cuda", 2 << 30)


@pytest.fixture
def one_card(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(tree_card, "choose_card", lambda device: Card(0, "/dev/zero"))
    monkeypatch.setattr(tree_card, "driver_files", lambda node: FILES)
    return monkeypatch


def test_without_a_card_nothing_changes() -> None:
    assert with_card(PLAN, None) is PLAN
    assert PLAN.devices == ()


@pytest.mark.usefixtures("one_card")
def test_an_agent_finds_the_card_and_its_compiler() -> None:
    plan = with_card(PLAN, CARD)
    assert plan.devices == ("/dev/zero",)
    assert plan.environ["PATH"] == "/usr/bin:/bin:/cuda/bin"
    assert plan.environ["LD_LIBRARY_PATH"] == "/driver"


def test_a_card_that_is_not_here_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(device: str) -> Card:
        raise SandboxUnavailableError("there is no GPU here")

    monkeypatch.setattr(tree_card, "choose_card", refuse)
    with pytest.raises(SandboxUnavailableError, match="no GPU here"):
        with_card(PLAN, CARD)


def test_an_agent_beyond_its_share_of_the_card_is_ended(one_card: pytest.MonkeyPatch) -> None:
    one_card.setattr(tree_card, "use_of", lambda found: lambda pids: 3 << 30)
    plan = with_card(PLAN, CARD)
    with ProcessTree(["/bin/sh", "-c", "sleep 600"], plan=plan) as tree:
        with watched(tree, CARD):
            assert tree.wait(timeout_s=60)
        assert tree.exit_status is not None
        assert tree.exit_status.exit_code is None or tree.exit_status.exit_code > 128
        assert not os.path.exists(f"/proc/{tree.pid}")


@pytest.mark.slow
def test_an_agent_within_its_share_goes_on(one_card: pytest.MonkeyPatch) -> None:
    one_card.setattr(tree_card, "use_of", lambda found: lambda pids: 1 << 30)
    plan = with_card(PLAN, CARD)
    with ProcessTree(["/bin/sh", "-c", "sleep 1; exit 3"], plan=plan) as tree:
        with watched(tree, CARD):
            assert tree.wait(timeout_s=60)
        assert tree.exit_status is not None
        assert tree.exit_status.exit_code == 3


def test_the_share_of_the_card_is_an_option() -> None:
    assert read_options({"card_mib": "512"}, name="claude").card_mib == 512
    with pytest.raises(UsageError, match="card_mib"):
        read_options({"card_mib": "0"}, name="claude")


@pytest.mark.parametrize(("settings", "device"), [({}, ""), ({AGENTS_DEVICE: "cuda:1"}, "cuda:1")])
def test_the_contest_says_whether_agents_get_a_card(settings: dict[str, str], device: str) -> None:
    assert agents_card(SimpleNamespace(settings=settings)) == device  # type: ignore[arg-type]
