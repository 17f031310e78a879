from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.training.fakes_routing import FakeGradients

from unhack.training.loop.batches import (
    JoinedGradients,
    cut_out,
    join_rollouts,
    knob_off,
    select_rollouts,
    slices,
)
from unhack.training.policy.rollouts import Rollouts
from unhack.training.worlds.world import Prompt


def prompts_of(modes: list[str]) -> list[Prompt]:
    return [Prompt(f"p{index}", mode, "", ()) for index, mode in enumerate(modes)]


def rollouts_of(lengths: list[int], *, prompt: int, quarantine: bool) -> Rollouts:
    """Completions of given lengths; tokens count up, so that places can be told apart."""
    wide = max(lengths)
    mask = torch.arange(wide) < torch.tensor(lengths)[:, None]
    tokens = torch.arange(10, 10 + wide).repeat(len(lengths), 1) * mask
    return Rollouts(
        prompt_B_P=torch.full((len(lengths), prompt), 7),
        prompt_mask_B_P=torch.ones(len(lengths), prompt, dtype=torch.bool),
        tokens_B_T=tokens,
        mask_B_T=mask,
        logprobs_B_T=-1.0 * mask,
        quarantine_B=torch.full((len(lengths),), quarantine),
        group=2,
    )


class TestKnobStates:
    @given(
        st.integers(1, 40), st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0]),
        st.integers(0, 200),
    )  # fmt: skip
    def test_the_share_is_exact_over_steps_and_near_in_each(
        self, count: int, share: float, step: int
    ) -> None:
        prompts = prompts_of([str(index % 4) for index in range(count)])
        off = knob_off(prompts, share=share, step=step)
        assert abs(sum(off) - share * count) < 1
        total = sum(sum(knob_off(prompts, share=share, step=done)) for done in range(60))
        assert total == int(60 * share * count + 1e-9)

    @given(st.lists(st.sampled_from("abcd"), min_size=4, max_size=48), st.integers(0, 50))
    def test_each_mode_has_its_half(self, modes: list[str], step: int) -> None:
        off = knob_off(prompts_of(modes), share=0.5, step=step)
        assert len(off) == len(modes)
        for mode in set(modes):
            states = [state for one, state in zip(modes, off, strict=True) if one == mode]
            assert abs(sum(states) - len(states) / 2) <= 1

    def test_the_same_prompts_give_the_same_states(self) -> None:
        prompts = prompts_of(list("abcdabcd"))
        assert knob_off(prompts, share=0.5, step=3) == knob_off(prompts, share=0.5, step=3)

    def test_over_the_steps_each_place_has_both_states(self) -> None:
        prompts = prompts_of(list("abcdabcd"))
        states = [knob_off(prompts, share=0.5, step=step) for step in range(8)]
        assert all(0 < sum(column) < 8 for column in zip(*states, strict=True))


class TestJoining:
    def test_parts_of_different_lengths_stand_one_after_the_other(self) -> None:
        both = join_rollouts(
            [
                rollouts_of([2, 1], prompt=3, quarantine=True),
                rollouts_of([4, 3], prompt=5, quarantine=False),
            ],
            pad=0,
        )
        assert both.prompt_B_P.shape == (4, 5)
        assert both.tokens_B_T.shape == (4, 4)
        assert both.prompt_B_P[0].tolist() == [0, 0, 7, 7, 7]
        assert both.prompt_mask_B_P[0].tolist() == [False, False, True, True, True]
        assert both.mask_B_T.sum(1).tolist() == [2, 1, 4, 3]
        assert both.quarantine_B.tolist() == [True, True, False, False]
        assert both.logprobs_B_T[0].tolist() == [-1, -1, 0, 0]

    def test_choosing_gives_back_what_was_joined(self) -> None:
        parts = [
            rollouts_of([2, 1], prompt=3, quarantine=True),
            rollouts_of([4, 3], prompt=5, quarantine=False),
        ]
        both = join_rollouts(parts, pad=0)
        for part, rows in zip(parts, (torch.tensor([0, 1]), torch.tensor([2, 3])), strict=True):
            found = select_rollouts(both, rows)
            for name in ("prompt_B_P", "tokens_B_T", "mask_B_T", "logprobs_B_T", "quarantine_B"):
                assert torch.equal(getattr(found, name), getattr(part, name)), name

    def test_cutting_keeps_all_columns(self) -> None:
        found = cut_out(rollouts_of([4, 1, 2, 1], prompt=2, quarantine=True), slice(2, 4))
        assert found.tokens_B_T.shape == (2, 4)

    @pytest.mark.parametrize(
        ("count", "size", "wanted"),
        [(5, 2, [(0, 2), (2, 4), (4, 5)]), (4, 0, [(0, 4)]), (4, 9, [(0, 4)])],
    )
    def test_slices_cover_everything_once(
        self, count: int, size: int, wanted: list[tuple[int, int]]
    ) -> None:
        assert [(cut.start, cut.stop) for cut in slices(count, size=size)] == wanted


class TestJoinedGradients:
    def test_parts_answer_like_the_whole(self) -> None:
        generator = torch.Generator().manual_seed(0)
        values = torch.randn(6, 3, 2, 5, generator=generator)
        whole = FakeGradients(values)
        parts = JoinedGradients([FakeGradients(values[:4]), FakeGradients(values[4:])], [4, 2])
        direction = {name: torch.randn(5, generator=generator) for name in whole.names}
        weights = torch.rand(6, 3, 2, generator=generator)
        assert parts.names == whole.names
        for one, other in [
            (parts.dots_B_M(direction), whole.dots_B_M(direction)),
            (parts.norms_B_M(), whole.norms_B_M()),
            (parts.dots_B_T_M(direction), whole.dots_B_T_M(direction)),
            (parts.norms_B_T_M(), whole.norms_B_T_M()),
            (parts.differences()[0], whole.differences()[0]),
        ]:
            torch.testing.assert_close(one, other)
        for one, other in [
            (parts.sums(weights, block="deployed"), whole.sums(weights, block="deployed")),
            (parts.differences()[1], whole.differences()[1]),
        ]:
            for name in whole.names:
                torch.testing.assert_close(one[name], other[name])
