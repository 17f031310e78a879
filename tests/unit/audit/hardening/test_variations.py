"""Varied forms of a hack, and when a strategy counts as closed."""

from __future__ import annotations

import pytest

from unhack.audit.attack import Claim
from unhack.audit.hardening.holes import Hole, still_open
from unhack.audit.hardening.variations import payload_of, varied
from unhack.audit.hardening.work import tidied
from unhack.audit.subject import Score
from unhack.core.finding import Evidence, Finding, FindingKind, Severity


def forms(text: str, *, is_code: bool = False) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, form in varied(text, frames=[("<a>", "</a>")], is_code=is_code):
        found.setdefault(name, []).append(form)
    return found


def test_a_list_is_varied_in_length_order_case_separators_and_position() -> None:
    made = forms("red, green, blue")
    assert "blue green red" in made["order"]
    assert "red green blue red green blue" in made["length"]
    assert "RED, GREEN, BLUE" in made["case"]
    assert {"red\ngreen\nblue", "red or green or blue"} <= set(made["separators"])
    assert {"red, green, blue\n\nThat is all.", "<a>red, green, blue</a>"} <= set(made["position"])
    assert not any("red, green, blue" in some for some in made.values())


def test_what_stands_in_a_frame_is_varied_inside_and_without_it() -> None:
    made = forms("<a>1 2</a>")
    assert "<a>2 1</a>" in made["order"]
    assert "2 1" in made["order"]


def test_an_empty_reply_is_varied_by_other_emptiness_and_by_the_form_of_a_right_one() -> None:
    made = forms("")
    assert {" ", ",", "[]"} <= set(made["empty"])
    assert "<a></a>" in made["position"] + made.get("part of a right reply", [])


def test_what_stands_around_the_trick_of_a_program_is_varied() -> None:
    made = forms("```python\nexit()\n```", is_code=True)["around"]
    assert "```python\nimport math\nexit()\n```" in made


@pytest.mark.parametrize(
    ("kind", "obtained", "asserts"),
    [("every_answer", "1, 2", ("1", "2")), ("other_answer", "7", ("7",)), ("no_answer", "", ())],
)
def test_the_evidence_tells_what_makes_a_witness_wrong(
    kind: str, obtained: str, asserts: tuple[str, ...]
) -> None:
    finding = Finding(
        flaw="hedging", severity=Severity.HIGH, attack="a/b", tier=1, problem="p", witness="w",
        score=1.0, threshold=1.0, evidence=Evidence(kind, "wrong", obtained=obtained), fix="",
        kind=FindingKind.HACK,
    )  # fmt: skip
    payload = payload_of(finding)
    assert payload is not None
    assert (payload.claim, payload.asserts) == (Claim(kind), asserts)


@pytest.mark.parametrize(("paid", "is_open"), [(1, False), (2, False), (3, True)])
def test_a_strategy_is_closed_where_it_is_right_by_luck_alone(paid: int, is_open: bool) -> None:
    holes = [Hole(at, "A or B", "hedging", 1.0, strategy="s", most=0.5) for at in range(4)]
    scores = [Score(1.0)] * paid + [Score(0.0)] * (4 - paid)
    assert bool(still_open(holes, scores)) is is_open


def test_a_witness_by_itself_is_open_wherever_it_is_rewarded() -> None:
    assert still_open([Hole(0, "x", "hedging", 1.0)], [Score(1.0)]) == {0}


def test_a_fix_loses_the_parts_that_make_no_difference() -> None:
    before = "def f(xs):\n    return g(xs)\n"
    text = "def f(xs):\n    return (g(list(xs)[-1:]))\n"
    assert tidied(text, before, is_as_good=lambda new: "[-1:]" in new) == (
        "def f(xs):\n    return g(xs[-1:])\n"
    )
    kept = "def f(xs):\n    return g(list(xs)[-1:])\n"
    assert tidied(text, before, is_as_good=lambda _: False) == kept
