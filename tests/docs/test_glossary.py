"""The glossary: every word of the four jobs, once, in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORDS = re.findall(r"^\*\*(.+)\*\*$", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
WANTED = (
    "attack", "exploit", "finding", "oracle", "witness", "payload", "submission", "champion",
    "flag", "honeypot", "knob", "direction", "pair", "contest", "gate", "verdict", "group",
)  # fmt: skip


def test_the_glossary_is_in_order_and_names_each_word_once() -> None:
    assert sorted(set(WORDS), key=str.lower) == WORDS


@pytest.mark.parametrize("word", WANTED)
def test_the_words_of_all_four_jobs_are_explained(word: str) -> None:
    assert word in WORDS
