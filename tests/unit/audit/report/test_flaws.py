"""The taxonomy: complete, in order, and the page says what the data says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from unhack.audit.report.flaws import FLAWS, to_markdown
from unhack.core.finding import Severity

PAGE = Path(__file__).resolve().parents[4] / "docs" / "reference" / "flaws.md"


class TestTaxonomy:
    def test_there_are_enough_classes_of_flaw(self) -> None:
        assert len(FLAWS) >= 55
        assert {entry.severity for entry in FLAWS.values()} == set(Severity)

    @pytest.mark.parametrize("name", FLAWS)
    def test_every_entry_is_complete(self, name: str) -> None:
        entry = FLAWS[name]
        assert entry.id == name
        assert not entry.title.endswith(".")
        assert 2 <= entry.wrong.count(". ") + 1 <= 3
        assert entry.fix.endswith(".")
        assert entry.case
        assert max(map(len, entry.example.splitlines())) <= 88
        assert 3 <= len(entry.example.splitlines()) <= 9

    @pytest.mark.parametrize("name", FLAWS)
    def test_every_example_is_a_program(self, name: str) -> None:
        tree = ast.parse(FLAWS[name].example)
        assert any(isinstance(node, ast.FunctionDef) for node in tree.body)

    def test_an_unknown_class_is_a_key_error(self) -> None:
        with pytest.raises(KeyError, match="no_such_flaw"):
            FLAWS["no_such_flaw"]

    def test_titles_are_not_repeated(self) -> None:
        titles = [entry.title for entry in FLAWS.values()]
        assert len(set(titles)) == len(titles)

    def test_the_taxonomy_cannot_be_changed(self) -> None:
        with pytest.raises(TypeError):
            FLAWS["new"] = FLAWS["hedging"]  # type: ignore[index]


class TestPage:
    def test_the_page_is_what_the_data_says(self) -> None:
        assert PAGE.read_text(encoding="utf-8") == to_markdown()

    def test_every_class_has_an_anchor_and_a_row(self) -> None:
        text = to_markdown()
        assert all(f"{{ #{name} }}" in text and f"(#{name})" in text for name in FLAWS)
