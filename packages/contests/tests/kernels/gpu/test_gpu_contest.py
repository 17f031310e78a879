"""The contest on a card as a round sees it: what it gives, measures and tells. Host memory stands
in for the card's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.tournament.contest import DECLINED, DataPool, Terms, agents_card
from unhack_contests.kernels import score
from unhack_contests.kernels.gpu import measure
from unhack_contests.kernels.gpu.contest import GpuKernels
from unhack_contests.kernels.gpu.settings import GpuOptions

from .conftest import RULES, SETTING

NAMES = ("softmax", "rmsnorm")


@pytest.fixture
def contest(on_the_host: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> GpuKernels:
    for module in (measure.__name__, GpuKernels.__module__):
        monkeypatch.setattr(f"{module}.setting_of", lambda device: SETTING)
    monkeypatch.setattr(measure, "roofline_of", lambda device: RULES.roofline)
    monkeypatch.setattr(measure, "torch_with_cuda", lambda: torch)
    monkeypatch.setattr(measure, "CardQueue", lambda key: CardQueue(key, root=tmp_path))
    monkeypatch.setattr(measure.GpuRules, "__init__", _small(measure.GpuRules.__init__))
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    return GpuKernels(GpuOptions("cuda", NAMES, 2), SETTING.card.name)


def _small(make: Callable[..., None]) -> Callable[..., None]:
    def made(self: object, pairs: int, roofline: object, **more: object) -> None:
        make(self, pairs, roofline, thrash_bytes=1 << 12, **more)

    return made


def test_an_agent_gets_references_a_statement_and_the_card(contest: GpuKernels) -> None:
    files = contest.workspace(Terms(1))
    assert {"softmax.py", "rmsnorm.py", "STATEMENT.md"} <= set(files)
    assert agents_card(contest) == "cuda"
    assert DECLINED in contest.declared.optional
    assert len(contest.submissions.honest()) >= 2


def test_null_and_identity_play_every_problem(contest: GpuKernels) -> None:
    for files in (contest.submissions.null(), contest.submissions.identity()):
        assert set(files) == {"softmax.py", "rmsnorm.py"}


@pytest.mark.slow
def test_a_measurement_has_its_control_and_tells_what_was_noted(
    contest: GpuKernels, tmp_path: Path
) -> None:
    folder = tmp_path / "handed-in"
    folder.mkdir()
    (folder / "softmax.py").write_bytes(contest.submissions.identity()["softmax.py"])
    found = contest.measure(folder, pool=DataPool.JUDGE, seed=3)
    assert found.valid, found.reason  # rmsnorm has no file and plays the reference
    groups = {name for name in found.metrics if name.startswith("ms.")}
    assert groups == {"ms.softmax", "ms.softmax.hidden", "ms.rmsnorm", "ms.rmsnorm.hidden"}
    assert {score.AA_GAIN, score.AA_NOISE, "round_trip_us", "peak_card_mib"} <= set(found.metrics)
    assert contest.bounds(found) == ()
    with contextlib.suppress(FileNotFoundError):
        assert list((tmp_path / "unhack-gpu-zero").iterdir()) == []


@pytest.mark.slow
def test_what_does_nothing_earns_nothing(contest: GpuKernels, tmp_path: Path) -> None:
    for path, text in contest.submissions.null().items():
        (tmp_path / path).write_bytes(text)
    found = contest.measure(tmp_path, pool=DataPool.AUDIT, seed=3)
    assert not found.valid
    assert found.fitness == 0
    assert found.flags == ()
