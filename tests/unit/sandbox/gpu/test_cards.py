"""The cards of a host, and what is said where one cannot be used. No card is needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.doctor import gpu as doctor
from unhack.sandbox.gpu import cards, driver_files
from unhack.sandbox.gpu.cards import Card, check_free, choose_card, find_cards

TWO = [
    Card(0, "/dev/nvidia0", "First", "GPU-a"),
    Card(1, "/dev/nvidia1", "Second", "GPU-b"),
    Card(2, "/dev/nvidia7", "Elsewhere", "GPU-c"),
]


class FakeDriver:
    """Tells what it is told."""

    def __init__(self, held: dict[int, int] | None = None, load: list[int] | None = None) -> None:
        self.held, self.loads = held or {}, load or [0]

    def cards(self) -> list[Card]:
        return TWO

    def processes(self, index: int) -> dict[int, int]:
        return self.held

    def load(self, index: int) -> int:
        return self.loads.pop(0) if len(self.loads) > 1 else self.loads[0]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A host with two cards, nodes and libraries."""
    monkeypatch.setattr(cards, "card_nodes", lambda: ("/dev/nvidia0", "/dev/nvidia1"))
    monkeypatch.setattr(cards, "CONTROL", "/dev/null")
    monkeypatch.setattr(cards, "MEMORY", "/dev/null")
    monkeypatch.setattr(cards, "find_library", lambda name: f"/usr/lib/{name}")
    monkeypatch.setattr(cards, "nvml", FakeDriver)
    return monkeypatch


@pytest.mark.usefixtures("host")
class TestChoosing:
    def test_the_first_card_is_the_one_without_a_number(self) -> None:
        assert choose_card("cuda") == choose_card("cuda:0")
        assert choose_card("cuda:1").name == "Second"

    def test_a_card_whose_node_is_not_here_is_not_counted(self) -> None:
        assert [card.name for card in find_cards()] == ["First", "Second"]

    def test_a_card_that_is_not_there_is_told_with_those_that_are(self) -> None:
        with pytest.raises(UsageError, match=r"no cuda:2.*cuda:0 \(First\), cuda:1 \(Second\)"):
            choose_card("cuda:2")

    @pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "CUDA", "cuda:0 ", ""])
    def test_another_word_is_refused(self, device: str) -> None:
        with pytest.raises(UsageError, match="cpu, cuda or cuda:N"):
            choose_card(device)

    @pytest.mark.parametrize(
        ("visible", "names"),
        [
            ("1", ["Second"]),
            ("1,0", ["Second", "First"]),
            ("GPU-b", ["Second"]),
            ("0,9,1", ["First"]),
        ],
    )
    def test_cards_are_counted_as_cuda_shows_them(
        self, host: pytest.MonkeyPatch, visible: str, names: list[str]
    ) -> None:
        host.setenv("CUDA_VISIBLE_DEVICES", visible)
        found = [choose_card(f"cuda:{number}").name for number in range(len(names))]
        assert found == names
        with pytest.raises(UsageError, match=f"no cuda:{len(names)}"):
            choose_card(f"cuda:{len(names)}")
        host.setattr(doctor, "find_nvcc", lambda: "/usr/bin/nvcc")
        assert [card.name for card in doctor.find_gpu().cards] == names

    @pytest.mark.parametrize("visible", ["", "-1", "7"])
    def test_a_variable_that_hides_all_is_named(
        self, host: pytest.MonkeyPatch, visible: str
    ) -> None:
        host.setenv("CUDA_VISIBLE_DEVICES", visible)
        with pytest.raises(SandboxUnavailableError, match="CUDA_VISIBLE_DEVICES="):
            choose_card("cuda")
        here = doctor.find_gpu()
        assert not here.cards
        assert "CUDA_VISIBLE_DEVICES=" in here.detail


class TestWhatIsMissing:
    def test_a_host_without_a_node_is_told_how_to_get_one(self, host: pytest.MonkeyPatch) -> None:
        host.setattr(cards, "card_nodes", lambda: ())
        with pytest.raises(SandboxUnavailableError, match="no GPU here"):
            find_cards()

    def test_a_missing_node_is_told_how_to_make_it(self, host: pytest.MonkeyPatch) -> None:
        host.setattr(cards, "MEMORY", "/dev/no-such-node")
        with pytest.raises(SandboxUnavailableError, match="nvidia-modprobe"):
            find_cards()

    def test_a_missing_library_is_told_where_to_put_it(self, host: pytest.MonkeyPatch) -> None:
        host.setattr(cards, "find_library", lambda name: "")
        with pytest.raises(SandboxUnavailableError, match="LD_LIBRARY_PATH"):
            find_cards()

    def test_a_driver_that_names_no_card_leaves_the_nodes(self, host: pytest.MonkeyPatch) -> None:
        def refuse() -> None:
            raise SandboxUnavailableError("no library")

        host.setattr(cards, "nvml", refuse)
        assert [card.node for card in find_cards()] == ["/dev/nvidia0", "/dev/nvidia1"]


class TestSomebodyElse:
    CARD = Card(0, "/dev/nvidia0", "First", "GPU-a")

    def test_a_card_that_somebody_uses_is_busy_and_names_them(
        self, host: pytest.MonkeyPatch
    ) -> None:
        host.setattr(cards, "nvml", lambda: FakeDriver({os.getpid(): 5 << 30}))
        with pytest.raises(SandboxUnavailableError, match=f"process {os.getpid()} .*5.0 GiB"):
            check_free(self.CARD, ours=frozenset())
        check_free(self.CARD, ours=frozenset({os.getpid()}))

    def test_a_little_use_is_not_somebody(self, host: pytest.MonkeyPatch) -> None:
        host.setattr(cards, "nvml", lambda: FakeDriver({1: 100 << 20}))
        check_free(self.CARD, ours=frozenset())

    def test_a_kernel_that_an_agent_left_running_ends_with_its_process(
        self, host: pytest.MonkeyPatch
    ) -> None:
        killed: list[int] = []
        host.setattr(cards, "_PATIENCE_S", 0.0)
        host.setattr(cards.os, "kill", lambda pid, number: killed.append(pid))
        driver = FakeDriver({7: 1, 8: 1}, [90, 0])
        host.setattr(cards, "nvml", lambda: driver)
        ended = cards.wait_until_idle(self.CARD, others=lambda: frozenset({7, 9}))
        assert ended == (7,)
        assert killed == [7]

    def test_a_card_at_work_for_others_is_an_error(self, host: pytest.MonkeyPatch) -> None:
        host.setattr(cards, "_PATIENCE_S", 0.0)
        host.setattr(cards, "nvml", lambda: FakeDriver({8: 1}, [90]))
        with pytest.raises(SandboxUnavailableError, match="nvidia-smi"):
            cards.wait_until_idle(self.CARD, others=frozenset)


class TestTheFilesOfTheDriver:
    def test_only_one_card_and_the_two_shared_nodes_are_given(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"):
            (tmp_path / name).touch()
        monkeypatch.setattr(driver_files, "CONTROL", str(tmp_path / "nvidiactl"))
        monkeypatch.setattr(driver_files, "MEMORY", str(tmp_path / "nvidia-uvm"))
        found = driver_files.driver_files(str(tmp_path / "nvidia1"))
        names = [os.path.basename(path) for path in found.devices]
        assert names == ["nvidia1", "nvidiactl", "nvidia-uvm"]

    def test_a_library_outside_usr_is_bound(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "libcuda.so.1").touch()
        monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
        found = driver_files.driver_files("/dev/nvidia0")
        assert (str(tmp_path), str(tmp_path)) in found.binds
        assert found.environ["TRITON_LIBCUDA_PATH"] == str(tmp_path)

    def test_nothing_of_the_hosts_environment_crosses(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SECRET_KEY", "hidden")
        assert "hidden" not in driver_files.driver_files("/dev/nvidia0").environ.values()
