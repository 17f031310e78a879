"""Forward passes in PyTorch, as they run on a card: the numbers of NumPy, told to a millionth."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unhack.core.errors import SandboxUnavailableError  # noqa: E402
from unhack.sandbox.gpu.cards import Card  # noqa: E402
from unhack.tournament.contest import DataPool  # noqa: E402
from unhack_contests.interpretability import score as scoring  # noqa: E402
from unhack_contests.interpretability.dialogue.dialogue import questions  # noqa: E402
from unhack_contests.interpretability.dialogue.experiment_service import ExperimentService  # noqa: E402
from unhack_contests.interpretability.models import torch_runs  # noqa: E402
from unhack_contests.interpretability.models.draw import CircuitModel  # noqa: E402
from unhack_contests.interpretability.models.network import (  # noqa: E402
    KINDS,
    Array,
    Edge,
    Intervention,
    Network,
    Node,
)
from unhack_contests.interpretability.models.runs import NUMPY, Disturbance, NetworkRuns  # noqa: E402
from unhack_contests.interpretability.models.torch_runs import TorchBackend  # noqa: E402
from unhack_contests.interpretability.settings import settings  # noqa: E402

NEAR = 2e-6
"""Of NumPy in float64: what is told is rounded to a millionth, and to float32."""
ROUNDED = 2e-3
"""Of NumPy in float32, which decoys with large outputs and sharp attention make coarse."""


@pytest.fixture(autouse=True)
def one_thread() -> Generator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@functools.cache
def model_of(level: str, number: int = 0) -> CircuitModel:
    return settings({"level": level}).model(DataPool.JUDGE, seed=6, number=number)


def drawn(net: Network, *, count: int, seed: int) -> list[Intervention]:
    """Interventions of all kinds, on components and paths at once, and on nothing."""
    rng = np.random.default_rng(seed)
    nodes = net.nodes
    ends = [*nodes, (net.layers, 0)]
    found = [Intervention()]
    for number in range(count):
        ablate: set[Node] = {
            nodes[int(n)] for n in rng.permutation(len(nodes))[: int(rng.integers(0, 6))]
        }
        edges: set[Edge] = set()
        for _ in range(int(rng.integers(0, 6))):
            start = nodes[int(rng.integers(len(nodes)))]
            later = [end for end in ends if end[0] > start[0]]
            edges.add((*start, *later[int(rng.integers(len(later)))]))
        found.append(Intervention(frozenset(ablate), frozenset(edges), KINDS[number % 3]))
    return found


def exact(net: Network) -> Network:
    """The same weights in float64, in which NumPy then computes."""
    return Network(*(getattr(net, name).astype(np.float64) for name in Network.__slots__))


def both(model: CircuitModel, *, rows: int = 6) -> tuple[NetworkRuns, NetworkRuns, Any]:
    """The runs of NumPy in float64 and of PyTorch, with two batches each, and its backend."""
    backend = TorchBackend("cpu")
    pair = NUMPY.runs(exact(model.network)), backend.runs(model.network)
    for seed in (0, 1):
        batch = model.draw(rows, rng=np.random.default_rng(seed))
        assert {runs.add(batch) for runs in pair} == {seed}
    return *pair, backend


@pytest.mark.parametrize("level", ["standard", "hard"])
class TestAgreement:
    @pytest.mark.slow
    def test_losses_of_drawn_interventions_are_those_of_numpy(self, level: str) -> None:
        model = model_of(level)
        plain, card, backend = both(model)
        asked: list[Disturbance] = [
            (plan, -1 if at % 3 else 1)
            for at, plan in enumerate(drawn(model.network, count=40, seed=3))
        ]
        with backend.turn():
            found = card.losses(0, asked)
        wanted = plain.losses(0, asked)
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        assert np.allclose(found, wanted, rtol=NEAR, atol=NEAR)
        assert len(np.unique(np.round(wanted.mean(1), 5))) > 20  # they differ from each other

    @pytest.mark.slow
    def test_logits_and_attention_are_those_of_numpy(self, level: str) -> None:
        model = model_of(level, 1)
        plain, card, backend = both(model)
        for plan in drawn(model.network, count=8, seed=4):
            with backend.turn():
                found = card.logits(1, (plan, 0))
            assert np.allclose(found, plain.logits(1, (plan, 0)), rtol=NEAR, atol=NEAR)
        with backend.turn():
            pattern = card.attention(0)
        wanted = plain.attention(0)
        assert pattern.dtype == np.float32
        assert pattern.shape == wanted.shape
        assert np.allclose(pattern, wanted, atol=NEAR)
        assert not np.triu(pattern, 1).any()


@pytest.mark.slow
def test_numbers_do_not_depend_on_what_runs_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("standard")
    _, card, backend = both(model)
    asked: list[Disturbance] = [
        (plan, (-1, 0, 1)[at % 3]) for at, plan in enumerate(drawn(model.network, count=30, seed=6))
    ]
    with backend.turn():
        together = card.losses(0, asked)
        backward = card.losses(0, asked[::-1])[::-1]
    monkeypatch.setattr(torch_runs, "_SIDE_BY_SIDE_BYTES", 1)
    with backend.turn():
        alone = card.losses(0, asked)
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backward)


def test_numbers_are_told_to_a_millionth_and_zero_has_no_sign() -> None:
    told = torch_runs._told(torch.tensor([0.12345678, -1e-9, 3.0], dtype=torch.float64))
    assert told.tolist() == [np.float32(0.123457), 0.0, 3.0]
    assert not np.signbit(told).any()


@pytest.mark.slow
def test_a_claim_is_worth_the_same_on_both() -> None:
    model = model_of("standard", 2)
    asked = questions(model.network.nodes, rng=np.random.default_rng(3))
    found: list[Array] = []
    for backend in (NUMPY, TorchBackend("cpu")):
        rng = np.random.default_rng(0)
        stand = scoring.bench(model, count=24, rng=rng, backend=backend)
        with backend.turn():
            effects = scoring.effects(stand, asked)
            parts = [
                scoring._faithful(stand, nodes, rng=np.random.default_rng(1))
                for nodes in (model.truth.nodes, frozenset(model.network.nodes[:3]))
            ]
        found.append(np.array([*effects, *parts]))
    assert np.allclose(*found, rtol=ROUNDED, atol=ROUNDED)
    assert found[0][-2] > 0.9


def test_a_service_answers_alike_and_takes_a_turn_for_each_request() -> None:
    model = model_of("standard")
    turns: list[int] = []

    class Counted(TorchBackend):
        @contextlib.contextmanager
        def turn(self) -> Generator[None]:
            turns.append(1)
            with super().turn():
                yield

    labs = [
        ExperimentService(model, np.random.default_rng(0), 500, backend=backend)
        for backend in (NUMPY, Counted("cpu"))
    ]
    nodes = [[0, 1], [1, 2]]
    requests: list[Any] = [
        ["sample", 8],
        ["sample", 8],
        ["losses", 0, [[nodes, [], "mean", -1], [[], [[0, 1, 3, 0]], "resample", 1]]],
        ["logits", 1, [nodes, [], "zero", -1]],
        ["attention", 0],
    ]
    for request in requests:
        one, two = (lab.answer(request) for lab in labs)
        for mine, theirs in zip(one, two, strict=True):
            assert np.allclose(mine, theirs, rtol=ROUNDED, atol=ROUNDED)
    assert len(turns) == 3
    assert {(lab.used, lab.distinguishing) for lab in labs} == {(40, 4)}


def test_nothing_is_kept_between_two_turns() -> None:
    _, card, backend = both(model_of("standard"))
    with backend.turn():
        card.losses(0, [(Intervention(), -1)])
        with backend.turn():  # within one it is free, and ends nothing
            assert backend.held()
        assert backend.held()
    with pytest.raises(AssertionError, match="within a turn"):
        backend.held()
    with backend.turn():
        assert backend.held() == {}


class TestQueue:
    def test_a_turn_is_one_in_the_queue_of_the_card(self, monkeypatch: pytest.MonkeyPatch) -> None:
        said: list[str] = []

        class Queue:
            def __init__(self, key: str) -> None:
                self.key = key

            @contextlib.contextmanager
            def turn(self, *, timeout_s: float) -> Generator[None]:
                said.append(f"{self.key} taken")
                yield
                said.append("left")

        monkeypatch.setattr(torch_runs, "CardQueue", Queue)
        monkeypatch.setattr(torch_runs, "check_free", lambda card, *, ours: said.append("looked"))
        backend = TorchBackend("cpu", Card(0, "/dev/null", "Some Card", "GPU-1"))
        with backend.turn(), backend.turn():
            said.append("computed")
        assert said == ["GPU-1 taken", "looked", "computed", "left"]
        assert backend.waits_s > 3600 > NUMPY.waits_s == 0

    def test_a_card_without_room_says_what_to_do(self) -> None:
        backend = TorchBackend("cpu")
        told = pytest.raises(SandboxUnavailableError, match=r"too little memory.*sequences=")
        with told, backend.turn():
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nmore")
        with backend.turn():
            assert backend.held() == {}
