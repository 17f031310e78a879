"""One word, one meaning: the glossary, and the classes that carry its words."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "quality"))

import structure  # noqa: E402

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


def test_a_class_name_stands_in_one_file_of_the_package() -> None:
    assert structure.shared_class_names() == {}
