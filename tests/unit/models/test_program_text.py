"""The library's sources as a corpus, and the programs that are made of their shapes."""

from __future__ import annotations

import random

import pytest

from unhack.models import corpus, programs
from unhack.models.corpus import CorpusPart
from unhack.models.programs import Slot


class TestCorpus:
    @pytest.mark.slow
    def test_every_file_has_one_part(self) -> None:
        found = [name for part in CorpusPart for name in corpus.names(part)]
        assert len(found) == len(set(found)) == len(corpus.files())
        assert all(len(corpus.names(part)) >= 10 for part in CorpusPart)

    def test_a_part_follows_from_the_path_alone(self) -> None:
        assert corpus.part_of("json/decoder.py") is corpus.part_of("json/decoder.py")
        assert {corpus.part_of(f"module_{number}.py") for number in range(200)} == set(CorpusPart)

    def test_tests_and_tables_are_left_out(self) -> None:
        names = [name for name, _ in corpus.files()]
        assert not [name for name in names if "/test/" in f"/{name}" or "encodings/" in name]


class TestPrograms:
    def test_the_same_seed_gives_the_same_text(self) -> None:
        block = next(
            block for name in corpus.names(CorpusPart.SEALED) for block in programs.blocks(name)
        )
        first, again, other = (programs.fill(block, rng=random.Random(seed)) for seed in (3, 3, 4))
        assert first == again != other

    def test_a_word_becomes_the_same_word_throughout_a_text(self) -> None:
        block = (Slot("reader", "lower"), " ", Slot("reader", "title"), " ", Slot("12", "lower"))
        text = programs.fill(block, rng=random.Random(0))
        word, title, number = text.split(" ")
        assert title == word.capitalize()
        assert len(number) == 2
        assert word != "reader"

    def test_keywords_and_layout_stay(self) -> None:
        line = "    def fetch_rows(self, limit=20):\n"
        text = programs.fill(programs._join(programs._pieces(line)), rng=random.Random(0))
        assert text.startswith("    def ")
        assert text.endswith("):\n")
        assert "(self, " in text
        assert "fetch" not in text
        assert "rows" not in text

    def test_two_texts_of_one_shape_differ_in_what_is_drawn(self) -> None:
        block = next(
            block for name in corpus.names(CorpusPart.SEALED) for block in programs.blocks(name)
        )
        first, second = (programs.fill_parts(block, rng=random.Random(seed)) for seed in (1, 2))
        assert [part for part, drawn in first if not drawn] == [
            part for part, drawn in second if not drawn
        ]
        words = [{part for part, drawn in text if drawn} for text in (first, second)]
        assert len(words[0] & words[1]) < 0.2 * len(words[0])

    @pytest.mark.slow
    def test_a_stream_has_the_size_that_was_asked_for(self) -> None:
        assert len(programs.stream(CorpusPart.DEV, seed=1, size=10_000)) == 10_000

    @pytest.mark.parametrize("parts", [("a", 1), ("a", 2), ("b", 1)])
    def test_seeds_of_other_values_are_unrelated(self, parts: tuple[str, int]) -> None:
        others = [("a", 1), ("a", 2), ("b", 1), ("a\x1f1",)]
        drawn = {item: programs.make_rng(*item).random() for item in others[:3]}
        assert programs.make_rng(*parts).random() == drawn[parts]
        assert len(set(drawn.values())) == 3
