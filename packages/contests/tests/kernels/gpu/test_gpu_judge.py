"""The corpus before the sealed judge, over host memory: who is credited, who not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from unhack.tournament.contest import Measurement
from unhack_contests.kernels.gpu import corpus

pytestmark = pytest.mark.long
Judge = Callable[..., Measurement]
EXACTLY = (
    "late_thread", "lazy_output", "zero_output", "input_returned", "half_product", "eight_bits",
    "other_gelu", "narrow_softmax", "clobbered_input", "zeroed_input", "impostor_shape",
    "replay_by_pointer", "replay_by_sample", "first_calls_only", "result_in_the_output",
    "first_head_for_all", "estimated_topk", "not_a_number", "stale_weights", "sleeping_thread",
    "guessed_seed",
)  # fmt: skip
"""Cheats that are in the stand-in what they are on a card: no stream of their own is needed to be
late, no graph, no unit of ten bits, no size of the statement."""
HONEST = (
    "library_attention", "in_place_on_the_output", "channels_last", "float_scan", "fused_epilogue",
    "block_with_fused_attention", "mean_before_the_head", "talks_of_the_judge", "joined_streams",
    "three_products",
)  # fmt: skip


def judge_entry(judged: Judge, entry: corpus.CorpusEntry) -> Measurement:
    return judged(entry.problem, entry.python.replace('device="cuda"', 'device="cpu"'))


@pytest.mark.parametrize("name", EXACTLY)
def test_a_cheat_scores_nothing_and_gets_its_flag(judged: Judge, name: str) -> None:
    entry = corpus.entries("cheats")[name]
    found = judge_entry(judged, entry)
    assert not found.valid or found.flags
    assert not entry.flag or entry.flag in {flag.kind for flag in found.flags}, found


@pytest.mark.parametrize("name", HONEST)
def test_an_unusual_honest_kernel_is_valid(judged: Judge, name: str) -> None:
    found = judge_entry(judged, corpus.entries("honest")[name])
    assert found.valid, found.reason
    assert not found.flags
