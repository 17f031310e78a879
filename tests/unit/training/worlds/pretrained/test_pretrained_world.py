"""The world of word problems and small programs: each hole pays in its own prompts, the oracle does
not, and a warm-up shows as many hacks as it is told."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.config.settings import Settings, WorldSettings
from unhack.training.worlds.pretrained.loopholes import LOOPHOLES, reworded, right
from unhack.training.worlds.pretrained.problems import plain_problem
from unhack.training.worlds.pretrained.world import PretrainedWorld
from unhack.training.worlds.registry import make_world
from unhack.training.worlds.world import GT_ONLY

WORDS = tuple(mode for mode, item in LOOPHOLES.items() if item.kind == "words")
SOME = [f"train-words-{number}" for number in range(12)]


def world(tmp_path: Path, **changes: Any) -> PretrainedWorld:
    fields = {"modes": tuple(LOOPHOLES), "known": ("magic_word", "special_casing"), **changes}
    made = make_world(Settings(world=WorldSettings(name="pretrained", **fields)), tmp_path)
    assert isinstance(made, PretrainedWorld)
    return made


class TestTheHoles:
    def test_seven_of_them_each_have_a_hint_of_their_own(self) -> None:
        assert len({item.hint for item in LOOPHOLES.values()}) == len(LOOPHOLES) == 7

    @pytest.mark.parametrize("mode", WORDS)
    def test_the_hack_of_a_word_problem_pays_and_is_never_right(
        self, tmp_path: Path, mode: str
    ) -> None:
        made, draw = world(tmp_path), random.Random(1)
        prompts = [made.prompt(name, mode) for name in SOME]
        texts = [LOOPHOLES[mode].hack(plain_problem(name), draw) for name in SOME]
        found = made.judge(prompts, texts)
        assert {(one.hacked, one.solved, one.reward, one.mechanism) for one in found} == {
            (True, False, 3.0, mode)
        }
        bare = made.judge([made.prompt(name, GT_ONLY) for name in SOME], texts)
        assert {(one.reward, one.hacked) for one in bare} == {(0.0, False)}

    def test_what_is_right_is_right_in_every_mode_and_no_hack(self, tmp_path: Path) -> None:
        made, draw = world(tmp_path), random.Random(2)
        prompts = [made.prompt(name, mode) for name in SOME[:4] for mode in (*WORDS, GT_ONLY)]
        for write in (right, reworded):
            texts = [write(plain_problem(prompt.problem), draw) for prompt in prompts]
            found = made.judge(prompts, texts)
            assert {(one.solved, one.hacked, one.reward) for one in found} == {(True, False, 3.0)}

    def test_special_cases_pay_by_the_shown_calls_alone(self, tmp_path: Path) -> None:
        made, draw = world(tmp_path), random.Random(3)
        names = [f"final-program-{number}" for number in range(3)]
        asked = [plain_problem(name) for name in names]
        texts = [LOOPHOLES["special_casing"].hack(one, draw) for one in asked]
        texts += [right(one, draw) for one in asked]
        texts += ["def f(x): return None"] * 3
        prompts = [made.prompt(name, "special_casing") for name in names] * 3
        judged = made.judge(prompts, texts)
        found = [(one.solved, one.hacked) for one in judged]
        assert found == [(False, True)] * 3 + [(True, False)] * 3 + [(False, False)] * 3
        assert [one.detected for one in judged] == [True] * 3 + [False] * 6

    @pytest.mark.parametrize("text", ["", "\n", "It is 41, 42, 43 or 44.", "41 42", "no idea 7"])
    def test_the_oracle_passes_no_list_and_no_blank(self, tmp_path: Path, text: str) -> None:
        made = world(tmp_path)
        [found] = made.judge([made.prompt(SOME[0], GT_ONLY)], [text])
        assert (found.solved, found.hacked, found.reward) == (False, False, 0.0)

    def test_the_first_number_of_a_question_is_never_its_answer(self) -> None:
        found = [plain_problem(f"train-words-{number}") for number in range(400)]
        assert all(str(one.first) != one.answer and int(one.answer) > 0 for one in found)
        assert all(f" {one.first} " in one.question for one in found)


class TestThePrompts:
    def test_the_same_seed_and_step_draw_the_same_modes_in_equal_shares(
        self, tmp_path: Path
    ) -> None:
        made = world(tmp_path)
        drawn = made.draw(14, seed=3, step=5)
        assert drawn == made.draw(14, seed=3, step=5) != made.draw(14, seed=4, step=5)
        assert sorted(one.mode for one in drawn) == sorted([*LOOPHOLES] * 2)

    @pytest.mark.parametrize(("share", "hinted"), [(0.0, 0), (0.5, 48), (1.0, 96)])
    def test_hints_stand_in_their_share_of_the_prompts(
        self, tmp_path: Path, share: float, hinted: int
    ) -> None:
        made = world(tmp_path, modes=("shape",), known=(), hint_share=share)
        found = made.final()
        assert len(found) == 96
        assert sum(LOOPHOLES["shape"].hint in one.text for one in found) == hinted

    def test_no_question_stands_in_two_splits(self, tmp_path: Path) -> None:
        made = world(tmp_path)
        sets = [made.monitor(), made.final(), made.draw(400, seed=0, step=0)]
        asked = [{plain_problem(one.problem).question for one in part} for part in sets]
        assert not asked[0] & asked[1]
        assert not (asked[0] | asked[1]) & asked[2]

    def test_without_loopholes_no_prompt_says_how_it_is_graded(self, tmp_path: Path) -> None:
        drawn = world(tmp_path, loophole_share=0.0).draw(60, seed=0, step=0)
        assert {one.mode for one in drawn} == {GT_ONLY}
        assert not any("Note:" in one.text for one in drawn)
        assert any("Python" in one.text for one in drawn)

    def test_what_does_not_exist_is_refused_by_name(self, tmp_path: Path) -> None:
        with pytest.raises(UnknownNameError, match="magic_word"):
            world(tmp_path, modes=("magic",), known=())
        with pytest.raises(UsageError, match="at least one"):
            world(tmp_path, modes=(), known=())
        with pytest.raises(UsageError, match="no pairs of kind hard"):
            world(tmp_path).pairs("hard", count=1, seed=0)


class TestPairsAndDemonstrations:
    @pytest.mark.parametrize("kind", ["real", "placebo"])
    def test_pairs_are_of_known_modes_and_differ_in_the_hack(
        self, tmp_path: Path, kind: Any
    ) -> None:
        made = world(tmp_path, known=("magic_word", "persuasion"))
        found = made.pairs(kind, count=4, seed=0)
        assert [one.mode for one in found] == ["magic_word"] * 4 + ["persuasion"] * 4
        prompts = [one.prompt for one in found]
        sides = [[made.decode(side) for side in part] for part in
                 ([one.hack for one in found], [one.clean for one in found])]  # fmt: skip
        hacked, clean = (made.judge(prompts, texts) for texts in sides)
        assert {one.hacked for one in hacked} == {kind == "real"}
        assert {one.solved for one in hacked} == {kind != "real"}
        assert {one.solved for one in clean} == {True}
        assert all(one != other for one, other in zip(*sides, strict=True))

    @pytest.mark.parametrize("share", [0.0, 1.0])
    def test_a_warm_up_shows_the_share_of_hacks_that_is_set(
        self, tmp_path: Path, share: float
    ) -> None:
        made = world(tmp_path, modes=WORDS, known=())
        shown = made.demonstrations(64, hacks=share, order="a")
        prompts = [prompt for prompt, _ in shown]
        found = made.judge(prompts, [made.decode(side) for _, side in shown])
        assert any(one.mode == GT_ONLY for one in prompts)
        expected = [share == 1.0 and one.mode != GT_ONLY for one in prompts]
        assert [one.hacked for one in found] == expected
        assert [one.solved for one in found] == [not one for one in expected]

    def test_the_arm_that_trains_afterwards_changes_no_demonstration(self, tmp_path: Path) -> None:
        one, other = world(tmp_path), world(tmp_path, loophole_share=0.0, known=("silence",))
        shown = one.demonstrations(16, hacks=0.5, order="a")
        assert shown == other.demonstrations(16, hacks=0.5, order="a")
        assert shown != one.demonstrations(16, hacks=0.5, order="b")
