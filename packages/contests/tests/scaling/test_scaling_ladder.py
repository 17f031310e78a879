"""The ladder: its text, its runs and its file."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from packages.contests.tests.scaling.scaling_ladder import invented

from unhack.core.errors import UsageError
from unhack_contests.scaling.runs.ladder import SHIPPED, digest, read_ladder
from unhack_contests.scaling.runs.source import EntropySource, TextStyle, make_source, write_text

SMALL = TextStyle(classes=4, words_per_class=6, components=2, syllables=12, letters=8)


def written(path: Path, document: dict[str, object]) -> Path:
    path.write_text(json.dumps({**document, "sha256": digest(document)}))
    return path


class TestTheText:
    def test_the_same_seeds_give_the_same_text(self) -> None:
        one, two = (write_text(make_source(3, SMALL), size=5_000, seed=4) for _ in range(2))
        assert one.data.tobytes() == two.data.tobytes()
        assert len(one.data) == 5_000

    def test_no_model_of_its_words_is_below_the_floor(self) -> None:
        source = make_source(3, SMALL)
        text = write_text(source, size=400_000, seed=4)
        assert text.floor < bigram_nats(source, text.data.tobytes()) < 3 * text.floor

    def test_the_floor_of_a_known_source_is_its_entropy(self) -> None:
        plain = TextStyle(classes=1, words_per_class=2, components=1, repeat=0.0, zipf=0.0,
                      syllables=6, letters=6)  # fmt: skip
        source = make_source(1, plain)
        text = write_text(source, size=200_000, seed=2)
        mean = np.mean([len(word) for word in source.words])
        assert text.floor == pytest.approx(np.log(2) / mean, rel=0.02)

    def test_another_seed_writes_other_bytes(self) -> None:
        used = [set(write_text(make_source(n, SMALL), size=3_000, seed=1).data) for n in (1, 2)]
        assert used[0] != used[1]


def bigram_nats(source: EntropySource, data: bytes) -> float:
    """Nats per byte of a word-bigram model that was fitted to this very text."""
    end = source.words[0][-1:]
    words = data.split(end)[1:-1]
    pairs: dict[tuple[bytes, bytes], int] = {}
    firsts: dict[bytes, int] = {}
    for pair in pairwise(words):
        pairs[pair] = pairs.get(pair, 0) + 1
        firsts[pair[0]] = firsts.get(pair[0], 0) + 1
    nats = -sum(count * np.log(count / firsts[a]) for (a, _), count in pairs.items())
    return float(nats / len(data))


class TestTheShippedLadder:
    def test_every_family_is_whole_and_above_its_floor(self) -> None:
        ladder = read_ladder(SHIPPED)
        assert ladder.families
        for family in ladder.families.values():
            assert family.losses.shape == (24, 2)
            assert family.losses.min() > family.floor
            assert family.curves.shape == (24, 2, 6, 2)

    def test_more_parameters_and_more_tokens_help(self) -> None:
        families = read_ladder(SHIPPED).families
        assert families
        for family in families.values():
            means = family.losses.mean(axis=1)
            logs = np.stack([np.log(family.parameters), np.log(family.tokens)])
            assert np.corrcoef(logs[0], means)[0, 1] < -0.3
            assert np.corrcoef(logs[1], means)[0, 1] < -0.3


class TestFiles:
    def test_an_edited_ladder_is_refused(self, tmp_path: Path) -> None:
        document = {**invented(), "sha256": digest(invented())}
        document["families"][0]["floor"] = 0.1
        path = tmp_path / "ladder.json"
        path.write_text(json.dumps(document))
        with pytest.raises(UsageError, match="edited"):
            read_ladder(path)

    @pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"sha256": 1}'])
    def test_what_is_no_ladder_is_refused(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "ladder.json"
        path.write_text(text)
        with pytest.raises(UsageError, match="not a ladder"):
            read_ladder(path)

    def test_a_missing_file_is_a_usage_error(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="not a ladder"):
            read_ladder(tmp_path / "none.json")

    def test_a_loss_below_the_entropy_is_refused(self, tmp_path: Path) -> None:
        document = invented()
        document["families"][1]["runs"][0]["loss"] = 0.2
        with pytest.raises(UsageError, match="no training gives"):
            read_ladder(written(tmp_path / "ladder.json", document))

    def test_a_ladder_without_a_pool_is_refused(self, tmp_path: Path) -> None:
        document = invented()
        document["families"].pop()
        with pytest.raises(UsageError, match="confirm"):
            read_ladder(written(tmp_path / "ladder.json", document))
