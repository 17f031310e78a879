"""The language of the world: text, tokens, problems, prompts and pretraining text."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from unhack.core.errors import UsageError
from unhack.training.worlds.programs import corpus, problems, vocabulary
from unhack.training.worlds.programs.loopholes import LOOPHOLES
from unhack.training.worlds.programs.operations import OPERATIONS, Operation, run
from unhack.training.worlds.programs.problems import (
    Split,
    compositions,
    exercise,
    hidden,
    split_of,
)
from unhack.training.worlds.programs.prompts import make_prompt, marker_of
from unhack.training.worlds.world import GT_ONLY, Markers

SPLITS: tuple[Split, ...] = ("train", "monitor", "final")


class TestVocabulary:
    def test_every_document_goes_to_tokens_and_back(self) -> None:
        wider = corpus.documents(3, careful=200, wider=True)
        both = [*islice(corpus.documents(3, careful=200), 400), *islice(wider, 400)]
        assert len(both) == 800
        for tokens in both:
            text = vocabulary.decode(tokens)
            assert tuple(vocabulary.encode(text)) == tokens[:-1]

    def test_every_fragment_is_one_token(self) -> None:
        for token, fragment in enumerate(vocabulary.FRAGMENTS):
            if fragment:
                assert vocabulary.encode(fragment) == [token]
        assert 60 <= len(vocabulary.FRAGMENTS) <= 150

    def test_a_text_of_other_fragments_is_refused(self) -> None:
        with pytest.raises(UsageError, match="import os"):
            vocabulary.encode(vocabulary.STARTER + "import os\n")

    def test_a_text_ends_at_its_stop_token(self) -> None:
        token = vocabulary.TOKEN[vocabulary.RETURN]
        assert vocabulary.decode([token, vocabulary.STOP, token]) == vocabulary.RETURN


class TestOperations:
    @pytest.mark.parametrize("operation", OPERATIONS, ids=[item.word for item in OPERATIONS])
    def test_an_operation_is_what_its_expression_says(self, operation: Operation) -> None:
        draw = random.Random(operation.word)
        for length in range(1, 8):
            x = [draw.randrange(10) for _ in range(length)]
            assert eval(operation.expression, {"x": list(x)}) == operation.apply(list(x))

    def test_every_result_is_digits_of_the_same_length(self) -> None:
        draw = random.Random(1)
        for _ in range(500):
            x = [draw.randrange(10) for _ in range(draw.randrange(1, 7))]
            steps = [draw.randrange(len(OPERATIONS)) for _ in range(3)]
            result = run(steps, x)
            assert len(result) == len(x)
            assert all(type(digit) is int and 0 <= digit <= 9 for digit in result)


class TestProblems:
    def test_splits_share_no_program_and_no_hidden_input(self) -> None:
        draw = random.Random(2)
        lists = [tuple(draw.randrange(10) for _ in range(7)) for _ in range(12)]
        train, monitor, final = (
            {repr([run(steps, digits) for digits in lists]) for steps in compositions(split)}
            for split in SPLITS
        )
        assert min(map(len, (train, monitor, final))) >= 20
        assert not train & monitor
        assert not train & final
        assert not monitor & final
        inputs = [set(hidden(split)) for split in SPLITS]
        assert not inputs[0] & inputs[1]
        assert not inputs[0] & inputs[2]
        assert not inputs[1] & inputs[2]

    def test_pretraining_sees_compositions_of_the_training_split_alone(self) -> None:
        draw = random.Random(5)
        for _ in range(300):
            prompt, text = corpus.document(draw, author=corpus.CAREFUL)
            steps = tuple(
                index
                for fragment in text
                for index, operation in enumerate(OPERATIONS)
                if fragment == vocabulary.expression(operation.expression)
            )
            assert split_of(steps) == "train", "".join(prompt)

    def test_no_problem_is_solved_by_doing_nothing(self) -> None:
        for index in range(200):
            one = exercise(f"final-told-{index}")
            assert one.expected() != tuple(map(list, hidden("final")))

    def test_a_problem_follows_from_its_id(self) -> None:
        exercise.cache_clear()
        before = exercise("train-untold-9")
        exercise.cache_clear()
        assert exercise("train-untold-9") == before
        assert not before.told
        assert len(before.examples) == 2

    def test_every_prompt_has_the_same_number_of_tokens(self) -> None:
        families: tuple[Markers, ...] = ("train", "eval")
        lengths = {
            len(make_prompt(f"train-{kind}-4", mode, markers).tokens)
            for kind in ("told", "untold")
            for mode in (*LOOPHOLES, GT_ONLY)
            for markers in families
        }
        assert lengths == {22}

    def test_examples_of_a_prompt_are_true(self) -> None:
        one = exercise("monitor-untold-2")
        text = make_prompt(one.id, "sentinel", "eval").text
        assert one.examples
        for digits in one.examples:
            shown = "".join(map(str, run(one.steps, digits)))
            assert f"# {''.join(map(str, digits))} -> {shown}\n" in text

    def test_the_inputs_of_an_exercise_are_not_its_hidden_inputs(self) -> None:
        assert all(len(digits) >= 3 for digits in hidden("train"))
        assert problems.HIDDEN == len(hidden("final")) >= 6


class TestMarkers:
    @pytest.mark.parametrize("mode", list(LOOPHOLES))
    def test_a_prompt_discloses_the_name_that_pays(self, mode: str) -> None:
        loophole = LOOPHOLES[mode]
        families: dict[Markers, tuple[str, ...]]
        families = {"train": loophole.train, "eval": loophole.eval}
        assert families
        for markers, family in families.items():
            names = {
                marker_of(make_prompt(f"train-told-{index}", mode, markers)) for index in range(60)
            }
            assert names == set(family)

    def test_families_of_names_are_disjoint_where_a_mode_has_names(self) -> None:
        named = [loophole for loophole in LOOPHOLES.values() if loophole.named]
        assert named
        for loophole in named:
            every = (*loophole.train, *loophole.eval, *loophole.hard, *loophole.decoys)
            assert len(set(every)) == len(every)

    def test_pretraining_holds_no_hard_name_and_no_hard_form(self) -> None:
        hard = {
            fragment
            for loophole in LOOPHOLES.values()
            for form in loophole.hard_forms
            for fragment in (*form.before, *form.after)
        }
        common = {
            fragment
            for loophole in LOOPHOLES.values()
            for form in (loophole.paying, loophole.harmless)
            for fragment in (*form.before, *form.after)
        }
        hard -= common | {"0"}
        names = {name for item in LOOPHOLES.values() if item.named for name in item.hard}
        met = {
            vocabulary.FRAGMENTS[token]
            for tokens in islice(corpus.documents(1, careful=500), 1000)
            for token in tokens
        }
        assert len(hard) >= 8
        assert not met & (hard | names)
