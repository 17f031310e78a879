"""The contest `interp` with a card: options, sizes, whose card, and what it measures there.

The card is a stand-in: PyTorch computes in this machine's memory, by the same code.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unhack.core.errors import SandboxUnavailableError, UnknownNameError, UsageError  # noqa: E402
from unhack.sandbox.gpu import cards  # noqa: E402
from unhack.sandbox.gpu.card_queue import CardQueue  # noqa: E402
from unhack.sandbox.gpu.cards import Card  # noqa: E402
from unhack.tournament.contest import DataPool, Measurement, NeedsCard, Terms  # noqa: E402
from unhack.tournament.contests.registry import load_contest  # noqa: E402
from unhack_contests import torch_card  # noqa: E402
from unhack_contests.interpretability.models import torch_runs, trained  # noqa: E402
from unhack_contests.interpretability.models.runs import NUMPY  # noqa: E402
from unhack_contests.interpretability.models.torch_runs import TorchBackend  # noqa: E402
from unhack_contests.interpretability.settings import settings  # noqa: E402

CARD = Card(0, "/dev/null", "Some Card", "GPU-1")
SMALL = {"models": "1", "dev_models": "1", "sequences": "16"}
ON_CARD = {**SMALL, "size": "default", "device": "cuda"}


@pytest.fixture(autouse=True)
def one_thread() -> Generator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def card_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A card in this machine, with a queue of its own, whose memory is the host's."""
    monkeypatch.setattr(torch_card, "choose_card", lambda device: CARD)
    monkeypatch.setattr(torch_card, "torch_with_cuda", SimpleNamespace)
    monkeypatch.setattr(torch_card, "torch_device", lambda torch, card: "cpu")
    monkeypatch.setattr(
        torch_runs, "CardQueue", functools.partial(CardQueue, root=tmp_path / "queues")
    )
    (tmp_path / "queues").mkdir()


def measured(contest: Any, name: str, folder: Path) -> Measurement:
    folder.mkdir()
    for path, data in contest.submissions.honest()[name].items():
        (folder / path).write_bytes(data)
    return contest.measure(folder, pool=DataPool.JUDGE, seed=4)


def checkpoints(folder: Path) -> str:
    """A folder of one checkpoint: a network that does the task of trained ones."""
    drawn = (settings({}).model(DataPool.CONFIRM, seed=9, number=n) for n in range(4))
    model = next(found for found in drawn if found.behaviour.family == "induction")
    fields = {name: getattr(model.network, name) for name in type(model.network).__slots__}
    folder.mkdir()
    np.savez(folder / "one.npz", family=np.array("induction"), **fields)
    return str(folder)


class TestOptions:
    def test_a_card_takes_larger_models_and_more_sequences(self) -> None:
        here, there = settings({}), settings({"device": "cuda"})
        assert there == settings({"device": "cuda", "size": "large"})
        assert (there.size.layers, there.size.heads) > (here.size.layers, here.size.heads)
        assert there.budget > here.budget
        assert there.sequences > here.sequences
        hard = settings({"device": "cuda", "level": "hard"})
        assert (hard.size.relays, hard.size.layers) == (1, there.size.layers)
        assert hard.budget < there.budget

    def test_a_demo_is_small_and_single_options_change_it(self) -> None:
        found = settings({"size": "demo", "models": "2"})
        assert (found.models, found.sequences) == (2, 64)
        assert found.size == settings({}).size
        assert settings({"size": "demo", "level": "hard"}).size == settings({"level": "hard"}).size

    @pytest.mark.slow
    def test_the_largest_models_can_be_drawn(self) -> None:
        model = settings({"size": "large"}).model(DataPool.JUDGE, seed=1, number=0)
        assert len(model.network.nodes) == 104

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"size": "lage"}, "did you mean large"),
            ({"device": "gpu"}, "device is cpu, cuda or cuda:N"),
            ({"device": "cuda:x"}, "device is cpu, cuda or cuda:N"),
            ({"card": "Some Card"}, "add --option device=cuda"),
            ({"devise": "cuda"}, "interp has no option 'devise'; it has .*card.*device.*size"),
        ],
    )
    def test_what_does_not_do_is_told(self, options: dict[str, str], match: str) -> None:
        with pytest.raises((UsageError, UnknownNameError), match=match):
            load_contest("interp", options)

    def test_without_the_option_nothing_about_cards_decides(self) -> None:
        contest = load_contest("interp", {"device": "cpu"})
        assert not isinstance(contest, NeedsCard)
        assert contest.settings == load_contest("interp").settings
        assert not {"device", "card"} & set(contest.settings)


class TestCard:
    def test_one_that_is_absent_is_said_before_anything_is_spent(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cards, "card_nodes", lambda: ())
        with pytest.raises(SandboxUnavailableError, match="there is no GPU here"):
            load_contest("interp", {"device": "cuda:1"})

    @pytest.mark.usefixtures("card_here")
    def test_one_that_somebody_uses_is_said_before_anything_is_spent(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        held = {1: 20 << 30}
        monkeypatch.setattr(cards, "nvml", lambda: SimpleNamespace(processes=lambda index: held))
        with pytest.raises(SandboxUnavailableError, match="is busy: process 1"):
            load_contest("interp", ON_CARD)

    def test_pytorch_without_cuda_is_said_with_the_way_to_get_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(torch_card, "choose_card", lambda device: CARD)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        monkeypatch.setattr(torch.version, "cuda", None)
        with pytest.raises(SandboxUnavailableError, match="is built without CUDA"):
            load_contest("interp", ON_CARD)

    @pytest.mark.usefixtures("card_here")
    def test_agents_get_none_and_the_judge_names_its_own(self) -> None:
        contest = load_contest("interp", ON_CARD)
        assert isinstance(contest, NeedsCard)
        assert (contest.settings["device"], contest.settings["card"]) == ("cuda", "Some Card")
        assert "agents_device" not in contest.settings


@pytest.mark.slow
@pytest.mark.usefixtures("card_here")
class TestMeasured:
    def test_a_measurement_is_repeated_exactly_and_near_that_of_numpy(self, tmp_path: Path) -> None:
        contest = load_contest("interp", ON_CARD)
        one, two = (measured(contest, "elimination", tmp_path / name) for name in ("one", "two"))
        plain = measured(load_contest("interp", SMALL), "elimination", tmp_path / "plain")
        assert one.valid, one.reason
        assert one == two
        assert one.fitness == pytest.approx(plain.fitness, abs=0.1)
        assert one.fitness > 30
        assert one.metrics["node_f1"] == plain.metrics["node_f1"]

    def test_it_waits_in_the_queue_of_the_card(self, tmp_path: Path) -> None:
        contest = load_contest("interp", ON_CARD)
        with CardQueue(CARD.key, root=tmp_path / "queues").turn(timeout_s=1):
            short = pytest.MonkeyPatch()
            short.setattr(torch_runs, "_QUEUE_S", 0.2)
            with (
                short.context(),
                pytest.raises(SandboxUnavailableError, match=f"in use by .*{os.getpid()}"),
            ):
                measured(contest, "single", tmp_path / "one")
            short.undo()

    def test_checkpoints_are_judged_there(self, tmp_path: Path) -> None:
        given = {"trained": checkpoints(tmp_path / "stored"), "models": "2", "dev_models": "2"}
        contest = load_contest("interp", {**ON_CARD, **given})
        found = measured(contest, "elimination", tmp_path / "one")
        assert found.valid, found.reason
        assert (found.flags, found.metrics["models"]) == ((), 2)


@pytest.mark.slow
def test_the_circuit_of_a_checkpoint_is_the_same_with_and_without_a_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoints(tmp_path / "stored")
    found = [
        trained.model(folder, pool=DataPool.DEV, seed=0, number=1, backend=backend).truth
        for backend in (NUMPY, TorchBackend("cpu"))
    ]
    assert found[0] == found[1]
    assert found[0].nodes
    monkeypatch.setattr(cards, "card_nodes", lambda: ())
    elsewhere = {"device": "cuda", "card": "Some Card", "size": "default", "dev_models": "2"}
    contest = load_contest("interp", {**elsewhere, "trained": folder})
    told = contest.workspace(Terms(1))["dev/circuits.json"].decode()
    assert all(f"{list(edge)}".replace(" ", "") in "".join(told.split()) for edge in found[0].edges)


@pytest.mark.slow
def test_the_sealed_bytes_of_checkpoints_need_no_circuit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoints(tmp_path / "stored")
    contest = load_contest("interp", {"trained": folder, "models": "2"})
    monkeypatch.setattr(trained, "measured", None)
    net = trained.unmeasured(folder, pool=DataPool.JUDGE, seed=4, number=1).network
    assert net.embed.tobytes() in contest.sealed(seed=4)
