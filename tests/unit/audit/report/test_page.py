from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from tests.unit.audit.report_sample import FALSE_ACCEPT, HOSTILE, SOURCE, SUFFIX, report

from unhack.audit.report.flaws import FLAWS
from unhack.audit.report.page import page
from unhack.audit.report.report import Area, AuditCheck, Conclusion
from unhack.core.finding import Finding

_VOID = {"meta", "link", "br", "img", "input", "hr"}


class Reader(HTMLParser):
    """The tags of a page and its text, and whether they nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.torn: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.torn.append(tag)

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.mark.parametrize("findings", [(), (SUFFIX,), (SUFFIX, HOSTILE)])
def test_every_element_of_a_page_is_closed_in_its_place(findings: tuple[Finding, ...]) -> None:
    read = Reader(page(report(*findings), source=SOURCE))
    assert (read.torn, read.open) == ([], [])


def test_a_page_loads_nothing_and_runs_nothing() -> None:
    text = page(report(SUFFIX, HOSTILE), source=SOURCE)
    tags = Reader(text).tags
    assert not {"script", "img", "iframe", "object", "link"} & {tag for tag, _ in tags}
    assert not [attrs for _, attrs in tags if {"src", "href", "onclick", "onload"} & set(attrs)]
    assert "url(" not in text
    assert "@import" not in text
    assert "Content-Security-Policy\" content=\"default-src 'none'" in text


def test_hostile_text_is_shown_and_never_obeyed() -> None:
    text = page(report(HOSTILE), source=SOURCE)
    assert "<script" not in text
    assert "</pre><script>alert(1)</script>" in Reader(text).text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "\\u202e\\x1b[2J" in text


@pytest.mark.parametrize("field", ["witness", "attack", "problem", "fix", "catalogue"])
def test_every_text_of_a_finding_is_escaped(field: str) -> None:
    text = page(report(replace(SUFFIX, **{field: '<b class="x">&'})))
    assert "<b class" not in text
    assert '<b class="x">&' in Reader(text).text


def test_a_finding_shows_its_witness_evidence_line_and_fix() -> None:
    text = Reader(page(report(SUFFIX), source=SOURCE)).text
    for part in (
        FLAWS["suffix_match"].title,
        "It scores 1; 1 passes",
        "It answers '142', which is not '42'.",
        "expected 42 obtained 142",
        "rewards/sums.py:7",
        SUFFIX.fix,
        SUFFIX.catalogue,
        "hedging/list_of_numbers",
    ):
        assert part in text


def test_the_marked_line_is_the_one_that_lets_the_witness_through() -> None:
    text = page(report(SUFFIX), source=SOURCE)
    assert "<span class=marked><i>7</i>    if answer.endswith(ground_truth):</span>" in text
    assert text.count("class=marked") == 1


def test_a_line_of_a_verifier_that_begins_later_in_its_file_keeps_its_number() -> None:
    later = replace(SOURCE, text="\n".join(SOURCE.text.split("\n")[3:]), first_line=4)
    text = page(report(SUFFIX), source=later)
    assert "<span class=marked><i>7</i>    if answer.endswith(ground_truth):</span>" in text


def test_no_line_is_marked_where_none_is_known() -> None:
    text = page(report(replace(SUFFIX, place=None)), source=SOURCE)
    assert "class=marked" not in text
    assert "rewards/sums.py:4" in text


def test_the_worst_finding_comes_first() -> None:
    text = Reader(page(report(SUFFIX, HOSTILE))).text
    assert text.index("critical") < text.index("high")


@pytest.mark.parametrize(
    ("conclusion", "words"),
    [
        (Conclusion.EXPLOITABLE, "Exploitable"),
        (Conclusion.SOUND, "No hack found"),
        (Conclusion.UNPROVEN, "Unproven"),
    ],
)
def test_the_verdict_stands_at_the_top(conclusion: Conclusion, words: str) -> None:
    text = page(report(conclusion=conclusion, why="because of x"))
    assert f'<p class="word">{words}</p><p class="why">Because of x.</p>' in text


def test_all_that_was_tried_and_all_that_was_not_is_named() -> None:
    text = Reader(page(report(mutation_score=0.925))).text
    for part in (
        "1 heuristic 2 60 12 12", "2 white-box 1 8 0 0", "numbers/longer_number 1 36 12 12",
        "3 black-box search: no endpoint was given",
        "4 mutation was not selected", "5 RL exploit discovery", "unhack[train]", "92%",
    ):  # fmt: skip
        assert part in text


def test_the_checks_say_what_holds_and_what_does_not() -> None:
    text = Reader(page(report())).text
    assert "✓ holds 12 of 12 correct completions pass." in text
    assert "✗ fails 3 of 40 scores differ in another order." in text
    assert "? unknown No completion runs code here." in text


def test_a_long_witness_is_folded_and_whole() -> None:
    witness = "".join(f"{number} " for number in range(400))
    text = page(report(replace(SUFFIX, witness=witness)))
    short, _, folded = text.partition("more characters</summary><pre>")
    assert "<details><summary>1,250 " in short
    assert "399 " not in short
    assert witness in folded


def test_a_short_witness_is_not_folded() -> None:
    assert "more characters" not in page(report(SUFFIX))


def test_right_answers_that_are_refused_stand_beside_the_hacks() -> None:
    name = "correct completions pass"
    check = AuditCheck(Area.COMPLETENESS, name, False, "2 of 3 pass", "4 2", tried=3, refused=1)
    made = replace(report(SUFFIX), checks=(check,), assumed=("eight sums stand in",))
    text = Reader(page(made)).text
    head = text[: text.index("Hacks 1.")]
    assert "Refused: 1 of 3 right answers (33%), such as “4 2”." in head
    assert "Assumed: eight sums stand in." in head
    assert "false accepts 0 right answers refused 1 of 3 attacks 3" in head
    assert "refused" not in Reader(page(report(SUFFIX))).text


def test_an_endless_witness_does_not_make_an_endless_page() -> None:
    long = page(report(replace(SUFFIX, witness="x" * 5_000_000)))
    assert len(long) < 100_000
    assert "4980000 more characters" in long


def test_a_page_says_when_how_and_of_which_text_it_was_made() -> None:
    made = datetime(2026, 5, 4, 3, 2, tzinfo=UTC)
    text = Reader(page(report(), source=SOURCE, made=made, command="unhack audit 'a <b>'")).text
    digest = hashlib.sha256(SOURCE.text.encode()).hexdigest()
    for part in ("2026-05-04 03:02 UTC", "unhack audit 'a <b>'", digest):
        assert part in text


def test_one_of_a_thing_is_not_told_as_many() -> None:
    assert "1 hack; 0 false accepts;" in figures_of(page(report(SUFFIX)))
    assert "2 hacks; 1 false accept;" in figures_of(page(report(SUFFIX, HOSTILE, FALSE_ACCEPT)))


def test_false_accepts_stand_apart_and_a_hack_tells_its_reward() -> None:
    text = Reader(page(report(FALSE_ACCEPT, SUFFIX))).text
    assert text.index("Hacks") < text.index("Mean reward 0.75") < text.index("False accepts")
    assert text.index("False accepts") < text.index("42 km")


def test_other_attacks_of_a_cause_are_counted_and_listed_on_demand() -> None:
    text = page(report(SUFFIX))
    assert "<summary>2 other attacks pass for the same cause</summary>" in text
    assert "hedging/list_of_numbers" in Reader(text).text
    assert "1 other attack passes" in page(report(replace(SUFFIX, also=("one",))))


def figures_of(text: str) -> str:
    """Number and noun of each figure at the top, in that order."""
    found = re.findall(r"<div><dt>([^<]*)</dt><dd>([^<]*)</dd></div>", text)
    return "; ".join(f"{number} {noun}" for noun, number in found)
