"""Parts of the judge on a card that need none: options, the shared memory, poison, the history."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import SandboxUnavailableError, UnknownNameError, UsageError
from unhack.sandbox.gpu import cards, driver_files
from unhack.tournament.contests.registry import load_contest
from unhack_contests.kernels import contest as kernels
from unhack_contests.kernels.gpu import settings, shared_memory, side

torch: Any = pytest.importorskip("torch")

from unhack_contests.kernels.gpu import oracle  # noqa: E402
from unhack_contests.kernels.gpu.guest import device_memory  # noqa: E402
from unhack_contests.kernels.gpu.oracle import AnswerHistory  # noqa: E402


class TestTheOptions:
    def test_the_processors_are_asked_for_by_name_or_by_nothing(self) -> None:
        options = {"problem": "scan", "pairs": "1"}
        for more in ({}, {"device": "cpu"}):
            found = load_contest("kernels", {**options, **more})
            assert isinstance(found, kernels.Kernels)

    def test_an_option_of_the_other_contest_is_told_with_what_there_is(self) -> None:
        with pytest.raises(UnknownNameError, match=r"threads.*pairs"):
            settings.parse({"device": "cuda", "threads": "2"})

    def test_an_unknown_problem_is_told_with_the_nearest(self) -> None:
        with pytest.raises(UnknownNameError, match="softmax"):
            settings.parse({"device": "cuda", "problem": "sofmax"})

    @pytest.mark.parametrize("pairs", ["0", "2", "x", "1001", "-1"])
    def test_a_number_of_pairs_that_makes_no_sense_is_refused(self, pairs: str) -> None:
        with pytest.raises(UsageError, match="pairs"):
            settings.parse({"device": "cuda", "pairs": pairs})

    def test_without_a_card_nothing_is_begun(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cards, "card_nodes", lambda: ())
        with pytest.raises(SandboxUnavailableError, match="there is no GPU here"):
            load_contest("kernels", {"device": "cuda:3"})

    def test_a_torch_without_cuda_is_told_before_anything_is_spent(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        from unhack_contests.kernels.gpu import measure

        if torch.cuda.is_available():
            pytest.skip("PyTorch can use a card here")
        monkeypatch.setattr(measure, "choose_card", lambda device: cards.Card(0, "/dev/nvidia0"))
        monkeypatch.setattr(measure, "require_nvcc", lambda: "nvcc")
        measure.setting_of.cache_clear()
        with pytest.raises(SandboxUnavailableError, match=r"PyTorch .* CUDA"):
            load_contest("kernels", {"device": "cuda"})

    def test_a_missing_nvcc_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(driver_files, "_TOOLKITS", ())
        monkeypatch.setattr(driver_files.shutil, "which", lambda name: None)
        monkeypatch.setattr(driver_files.glob, "glob", lambda pattern: [])
        with pytest.raises(SandboxUnavailableError, match="nvcc is not here"):
            cards.require_nvcc()


def planned(seed: int = 1) -> shared_memory.MemoryPlan:
    sets = [([((7, 3), torch.float32), ((5,), torch.int64)], ((7,), torch.bfloat16))] * 3
    return shared_memory.plan(
        torch, [sets, sets[:2]], {"w": ((9,), torch.float16)}, random.Random(seed)
    )


def sets_of(made: shared_memory.MemoryPlan, group: int) -> list[shared_memory.BufferSet]:
    return made.sets[3:] if group else made.sets[:3]


class TestTheArena:
    def test_sets_of_both_shapes_share_their_memory_within_a_bound(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(oracle, "DEVICE", "cpu")
        case = oracle.load(torch, "softmax", seed=1, small=True)
        for room, listed in ((100_000, 4), (1 << 30, 16), (1, 2)):  # a listed set has 20,720
            made, numbers = side.layout(torch, case, seed=1, room=room)
            assert numbers[False] == range(listed)
            assert numbers[True].start == listed
            assert len(made.sets) == numbers[True].stop
            ends = [max(end for _, end in fences) for fences in made.fences]
            assert made.size == max(ends) + shared_memory.FENCE
            assert made.size < sum(ends)

    def test_a_group_in_use_finds_the_pattern_where_others_were(self, on_the_host: None) -> None:
        shared = shared_memory.SharedMemory(torch, planned(), "cpu")
        place = shared.plan.sets[0].output
        shared.view(place).fill_(1.0)
        assert not shared.breached()
        shared.use(1)
        assert not shared.breached()
        assert int((shared.raw(place) != 0xA5).sum()) == 0
        shared.bytes[shared.plan.fences[1][-1][0]] = 1
        assert shared.breached()
        shared.close()

    @pytest.mark.parametrize("group", [0, 1])
    def test_buffers_lie_apart_within_the_block(self, group: int) -> None:
        made = planned()
        places = [place for one in sets_of(made, group) for place in (*one.inputs, one.output)]
        spans = sorted(
            (place[0], place[0] + torch.Size(place[2]).numel() * getattr(torch, place[1]).itemsize)
            for place in [*places, *made.weights.values()]
        )
        assert spans[0][0] >= shared_memory.FENCE
        assert spans[-1][1] + shared_memory.FENCE <= made.size
        for (_, end), (start, _) in itertools.pairwise(spans):
            assert start - end >= 2 * shared_memory.FENCE

    def test_another_seed_gives_other_places(self) -> None:
        assert planned(1).sets[0].output[0] != planned(2).sets[0].output[0]

    def test_a_view_has_the_format_and_the_shape(self) -> None:
        made = planned()
        block = torch.zeros(made.size, dtype=torch.uint8)
        view = device_memory.view(torch, block, made.sets[1].inputs[0])
        view.fill_(1.0)
        assert view.shape == (7, 3)
        assert int((block != 0).sum()) == 7 * 3 * 2  # 1.0 has two bytes that are not zero


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_poison_of_floats_is_no_number_and_differs_from_call_to_call(dtype: str) -> None:
    kind = getattr(torch, dtype)
    words = [shared_memory.poison(torch, kind, number, "cpu") for number in (3, 4)]
    assert all(bool(torch.isnan(word.view(kind)).all()) for word in words)
    assert not torch.equal(*words)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "bool"])
def test_poison_of_integers_is_no_small_number(dtype: str) -> None:
    kind = getattr(torch, dtype)
    word = shared_memory.poison(torch, kind, 3, "cpu")
    assert word.numel() == kind.itemsize
    assert int(word[0]) not in (0, 1, 255)


def test_the_history_knows_the_first_answer_of_each_address_and_the_last_ones() -> None:
    history = AnswerHistory(torch)
    for number in range(12):
        history.add(number % 2, torch.full((2,), float(number), dtype=torch.float64), torch.float32)
    assert {float(one[0]) for one in history.truths()} == {0.0, 1.0, 9.0, 10.0, 11.0}
    assert all(one.dtype is torch.float64 for one in history.truths())
