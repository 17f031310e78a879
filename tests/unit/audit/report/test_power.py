"""The figure, and the sentence that goes with it."""

from dataclasses import replace

import pytest
from tests.unit.audit.report_sample import FALSE_ACCEPT, SOURCE, SUFFIX, report

from unhack.audit.report.page import page
from unhack.audit.report.power import Broken, Power, WeakenedCopy
from unhack.audit.report.sarif import sarif
from unhack.audit.report.wording import power_text


def power(hacked: int, lenient: int, unbroken: int) -> Power:
    kinds = [Broken.HACK] * hacked + [Broken.FALSE_ACCEPT] * lenient + [Broken.NOT] * unbroken
    copies = tuple(
        WeakenedCopy("drop_tail_anchor", "unanchored_regex", place, kind, of_attack=place == 1)
        for place, kind in enumerate(kinds, start=1)
    )
    return Power(copies, edits=60, tried=41, why="24 copies are enough", calls=900, seconds=72.5)


def test_the_figure_says_how_many_copies_were_broken_and_how() -> None:
    found = power(13, 8, 3)
    assert found.text == (
        "the audit broke 13 of 24 weakened copies of this verifier (54%), "
        "and 8 more by a false accept alone"
    )
    assert [one.line for one in found.unbroken] == [22, 23, 24]
    assert "41 of 60 edits tried, 24 proven weaker (1 only by" in found.note


@pytest.mark.parametrize(
    ("found", "share", "text"),
    [
        (power(5, 0, 2), None, "the audit broke 5 of 7 weakened copies of this verifier (too few"),
        (power(1, 0, 0), None, "the audit broke 1 of 1 weakened copy of this verifier (too few"),
        (power(4, 0, 4), 0.5, "the audit broke 4 of 8 weakened copies of this verifier (50%)"),
        (power(0, 0, 0), None, "no weakened copy was audited: 24 copies are enough"),
    ],
)
def test_under_eight_copies_have_no_share(found: Power, share: float | None, text: str) -> None:
    assert found.share == share
    assert found.text.startswith(text)


def test_the_families_that_no_strategy_breaks_are_named_with_their_copies() -> None:
    kinds = {"nan_poisoning": "not", "sign_lost": "false_accept", "hedging": "hack"}
    copies = [WeakenedCopy("x", name, 1, Broken(kind), False) for name, kind in kinds.items()]
    found = replace(power(0, 0, 0), copies=(*copies, copies[0]))
    assert found.blind == {"nan_poisoning": 2, "sign_lost": 1}
    assert found.text.endswith("; it is blind to nan_poisoning (0 of 2), sign_lost (0 of 1)")


def test_none_found_stands_before_the_figure_only_where_no_hack_was_found() -> None:
    found = power(13, 8, 3)
    assert power_text(replace(report(), power=found)) == f"no hack found; {found.text}"
    assert power_text(replace(report(FALSE_ACCEPT), power=found)) == f"no hack found; {found.text}"
    assert power_text(replace(report(SUFFIX), power=found)) == found.text


def test_json_sarif_and_page_show_it() -> None:
    whole = replace(report(), power=power(13, 8, 3))
    plain = whole.to_json()["power"]
    assert (plain["weakened"], plain["broken"], plain["hacked"]) == (24, 21, 13)
    assert plain["copies"][-1]["broken"] == "not"
    assert sarif(whole, source=SOURCE)["runs"][0]["properties"]["power"] == plain
    text = page(whole, source=SOURCE)
    assert "No hack found; the audit broke 13 of 24" in text
    assert text.count("drop_tail_anchor") == 3
    assert "<h2>Power</h2>" not in page(report(), source=SOURCE)


def test_a_share_has_an_interval_that_holds_it_and_narrows_with_copies() -> None:
    few, many = power(4, 0, 4).interval, power(12, 0, 12).interval
    assert few is not None
    assert many is not None
    assert few[0] < many[0] < 0.5 < many[1] < few[1]
    assert power(5, 0, 2).interval is None
