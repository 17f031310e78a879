"""The judge's probe of the card: what a kernel that stays there costs whoever left it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

from unhack.tournament.contest import Measurement
from unhack_contests.kernels import score
from unhack_contests.kernels.calls.gains import TrimmedGains
from unhack_contests.kernels.calls.session import CallRecord, KernelCall
from unhack_contests.kernels.calls.verdict import OutputKind, OutputVerdict
from unhack_contests.kernels.gpu import probe
from unhack_contests.kernels.gpu.probe import CardProbe


def probed(monkeypatch: pytest.MonkeyPatch, clean: float, beside: list[float]) -> CardProbe:
    """A probe whose passes take these seconds."""
    times = iter([1.0, *[clean] * 9, *beside])
    monkeypatch.setattr(CardProbe, "_timed", lambda self: next(times))
    made = CardProbe(None, None)
    for _ in beside:
        made.look()
    return made


def judged(excess: float) -> Measurement:
    """Twenty calls of 10 ms whose submission takes 5."""
    record = CallRecord()
    right = OutputVerdict(OutputKind.RIGHT)
    for _ in range(20):
        call = KernelCall("p", False, 1e-2, 5e-3, 5e-3, 1e-6, right, twin_s=1e-2)
        record.calls.append(call)
    record.early_s = excess * 20 * 1e-2
    return score.decide(record, charge_load=False, gains=TrimmedGains)


def test_a_card_that_is_free_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = probed(monkeypatch, 3e-3, [3.1e-3, 2.9e-3, 3e-3])
    assert found.ratio() == pytest.approx(1.0)
    assert found.excess() == 0.0


def test_a_host_that_stumbles_now_and_then_accuses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    found = probed(monkeypatch, 3e-3, [3e-3, 40e-3, 3e-3, 3.2e-3, 30e-3])
    assert found.excess() == 0.0


def test_a_card_that_was_slow_before_and_is_not_now_accuses_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert probed(monkeypatch, 6e-3, [3e-3] * 5).excess() == 0.0


def test_a_kernel_that_stays_is_charged_what_the_reference_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = probed(monkeypatch, 3e-3, [6e-3] * 5)
    assert found.excess() == pytest.approx(1.0)
    measured = judged(found.excess())
    assert "work_after_done" in {flag.kind for flag in measured.flags}
    assert not measured.valid


def test_without_such_a_kernel_the_same_calls_are_credited() -> None:
    measured = judged(0.0)
    assert measured.fitness == pytest.approx(1.0, abs=0.05)
    assert measured.flags == ()


def test_before_a_look_there_is_nothing_to_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    assert probed(monkeypatch, 3e-3, []).excess() == 0.0


def test_a_pass_writes_the_buffer_and_waits_for_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    waited: list[Any] = []
    stand_in = SimpleNamespace(cuda=SimpleNamespace(synchronize=lambda: waited.append(1)))
    buffer = torch.zeros(8)
    made = CardProbe(stand_in, buffer)
    before = buffer.clone()
    made.look()
    assert bool((buffer == before + probe._REPEATS).all())
    assert len(waited) == 2 * (1 + probe._CLEAN_LOOKS + 1)
