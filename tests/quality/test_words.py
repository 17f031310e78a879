"""The words of public names: each is a term of the glossary or an ordinary word of programming.

    python -m tests.quality.test_words     prints the words that are neither, with a name of each

`ordinary_words.txt` is the list of ordinary words. It is capped, so that a new word is of the field
and stands in the glossary, or takes the place of one that nothing uses any more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.quality.source_roots import modules_of, source_roots

pytestmark = pytest.mark.slow  # it reads every file: once in CI, and by name while one writes
ROOT = Path(__file__).resolve().parents[2]
ORDINARY = (Path(__file__).parent / "ordinary_words.txt").read_text().split()
MOST_ORDINARY = 781
PRIVATE = frozenset({
    "arena", "berth", "boarding", "breed", "courier", "crew", "desk", "door", "entrusted", "errand",
    "flight", "greeting", "headway", "janitor", "keeper", "laboratory", "leniency", "lookout",
    "mend", "outlet", "parcel", "passport", "seat", "standstill", "surroundings", "tray",
    "turnstile", "venue",
})  # fmt: skip
"""Words that this project alone used for things that the field has a name for."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ENDINGS = (
    ("", ""), ("s", ""), ("es", ""), ("ies", "y"),
    ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"),
)  # fmt: skip


def _glossary() -> frozenset[str]:
    text = (ROOT / "docs/glossary.md").read_text()
    terms = re.findall(r"^\*\*(.+)\*\*$", text, re.MULTILINE)
    return frozenset(word for term in terms for word in re.split(r"[ _-]", term.lower()))


def _names(path: Path, top: Path) -> Iterator[str]:
    """The module's name, those of its folders, and its public classes."""
    yield from path.relative_to(top).parts[:-1]
    yield path.stem
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def words(tops: Sequence[Path] = ()) -> dict[str, str]:
    """Word -> a file in which a public name has it."""
    found: dict[str, str] = {}
    for top in tops or source_roots():
        for path in modules_of(top):
            for name in _names(path, top):
                for word in _PART.findall(name.replace("_", " ")):
                    found.setdefault(word.lower(), f"{path.relative_to(top.parent)}: {name}")
    return found


def explained(word: str, known: frozenset[str]) -> bool:
    """Tell whether a word, or the one that it is a form of, is known."""
    return any(
        word.endswith(end) and word[: len(word) - len(end)] + stem in known
        for end, stem in _ENDINGS
    )


def test_every_word_of_a_public_name_is_in_the_glossary_or_ordinary() -> None:
    known = _glossary() | frozenset(ORDINARY)
    found = words()
    assert len(found) > 500
    assert {word: where for word, where in found.items() if not explained(word, known)} == {}


def test_the_ordinary_words_are_capped_sorted_and_all_used() -> None:
    assert len(ORDINARY) <= MOST_ORDINARY
    assert sorted(set(ORDINARY)) == ORDINARY
    used = words()
    forms = {
        word[: len(word) - len(end)] + stem
        for word in used
        for end, stem in _ENDINGS
        if word.endswith(end)
    }
    assert [word for word in ORDINARY if word not in forms] == []


def test_no_private_word_is_left_in_a_public_name() -> None:
    assert {word: where for word, where in words().items() if explained(word, PRIVATE)} == {}
    assert PRIVATE.isdisjoint(ORDINARY)


def test_a_word_that_nobody_knows_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class TurnstileDesk: ...\n")
    found = words((tmp_path,))
    assert {"one", "turnstile", "desk"} <= found.keys()
    assert explained("turnstiles", PRIVATE)
    assert not explained("turns", PRIVATE)


if __name__ == "__main__":
    KNOWN = _glossary() | frozenset(ORDINARY)
    for one, place in sorted(words().items()):
        if not explained(one, KNOWN):
            print(f"{one:20} {place}")
