"""Two measurements where one is too noisy: which of them counts."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from unhack_contests.kernels.calls.session import CallRecord, KernelCall
from unhack_contests.kernels.calls.verdict import OutputKind, OutputVerdict
from unhack_contests.kernels.gpu import measure
from unhack_contests.kernels.gpu.probe import GpuNotes


def _played(twin_s: float, *, submission_s: float = 1e-2, kind: str = "right") -> measure.Played:
    """Ten calls of 10 ms, of which the twin takes `twin_s`."""
    record = CallRecord()
    for _ in range(10):
        finding = OutputVerdict(OutputKind(kind))
        times = (1e-2, submission_s, submission_s, 1e-6)
        record.calls.append(KernelCall("p", False, *times, finding, twin_s=twin_s))
    return measure.Played(record, GpuNotes())


def test_twins_that_are_alike_are_measured_once() -> None:
    first = _played(1.01e-2)
    assert measure.closest(iter([first])) is first


def test_twins_that_differ_are_measured_again_and_the_closer_pair_counts() -> None:
    far, near, farther = _played(1.1e-2), _played(1.03e-2), _played(1.3e-2)
    assert measure.closest(iter([far, near])) is near
    assert measure.closest(iter([far, farther])) is far


def test_which_of_two_measurements_counts_has_nothing_to_do_with_the_submission() -> None:
    far, near = _played(1.1e-2, submission_s=1e-3), _played(1.03e-2, submission_s=5e-2)
    assert measure.closest(iter([far, near])) is near


def test_a_second_measurement_that_finds_something_is_the_one_that_counts() -> None:
    first, second = _played(1.1e-2), _played(1.2e-2, kind="wrong")
    assert measure.closest(iter([first, second])) is second


def test_who_is_wrong_at_once_is_measured_once() -> None:
    first = _played(1.3e-2, kind="wrong")
    assert measure.closest(iter([first])) is first
