"""The kinds of flags and the catalogue: complete, and the page says what the data say."""

from __future__ import annotations

import re
from pathlib import Path

from unhack.tournament.judging import flags

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs" / "reference" / "cheats.md"
SOURCES = (ROOT / "src/unhack/tournament", ROOT / "packages/contests/src/unhack_contests")


def test_the_catalogue_has_every_number_once() -> None:
    entries = flags.hacks()
    assert [entry.number for entry in entries] == list(range(1, 100))
    assert {entry.group for entry in entries} == set(flags.GROUPS)
    assert all(text.endswith(".") for entry in entries for text in (entry.trick, entry.answer))


def test_every_kind_answers_entries_of_the_catalogue() -> None:
    known = {entry.number for entry in flags.hacks()}
    assert flags.FLAG_KINDS
    for kind in flags.FLAG_KINDS.values():
        assert kind.group in flags.GROUPS
        assert kind.text.endswith(".")
        assert kind.catalogue
        assert set(kind.catalogue) <= known


def test_every_kind_that_an_answer_names_exists() -> None:
    named = {word for entry in flags.hacks() for word in re.findall(r"`(\w+_\w+)`", entry.answer)}
    assert named <= set(flags.FLAG_KINDS)


def test_every_kind_that_the_sources_raise_exists() -> None:
    raised: set[str] = set()
    for path in [path for top in SOURCES for path in top.rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        raised |= set(re.findall(r"""\bFlag\(\s*["'](\w+)["']""", text))
        raised |= set(re.findall(r"""\bSeen\(\s*["'](\w+)["']""", text))
    assert len(raised) > 10
    assert raised <= set(flags.FLAG_KINDS)


def test_an_unknown_kind_is_its_own_title() -> None:
    assert flags.title("honeypot") == "Used a planted answer"
    assert flags.title("no_such_kind") == "no_such_kind"


def test_the_page_is_made_from_the_data() -> None:
    assert PAGE.read_text(encoding="utf-8") == flags.to_markdown()
