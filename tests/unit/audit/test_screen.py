from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from unhack.audit.report.report import (
    OTHER_NOTATIONS,
    Area,
    AuditCheck,
    AuditReport,
    Conclusion,
)
from unhack.audit.runner import Progress
from unhack.cli.audit import screen, watching
from unhack.core.finding import Place

from .report_sample import FALSE_ACCEPT, HOSTILE, SOURCE, SUFFIX, report

FOLLOWING = (("unhack audit " + "a" * 90 + " --fix", "prints a diff"),)
_PAGE = 30
"""Lines of a page."""


def shown(
    made: AuditReport, *, width: int = 80, verbose: bool = False, following: bool = False
) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    steps = FOLLOWING if following else ()
    for part in screen.screen(made, source=SOURCE, following=steps, verbose=verbose):
        console.print(part, crop=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def refusing(made: AuditReport) -> AuditReport:
    """The report of a verifier that refuses right answers."""
    counts = ((3, 0, "correct"), (6, 1, "reformatted"), (12, 9, OTHER_NOTATIONS))
    checks = tuple(
        AuditCheck(
            Area.COMPLETENESS, name, not refused, "so many pass", f"w{tried}", tried, refused
        )
        for tried, refused, name in counts
    )
    return replace(made, checks=checks)


class TestFirstPage:
    def test_a_page_holds_many_findings_and_what_follows(self) -> None:
        long = replace(SUFFIX, witness="x" * 4000, fix="Compare it whole. " * 7)
        lenient = [replace(FALSE_ACCEPT, problem=f"row {number}") for number in range(9)]
        made = refusing(report(long, HOSTILE, *[long] * 7, *lenient))
        made = replace(made, assumed=("no rows were given, so eight sums stand in for them",))
        lines = shown(made, following=True).splitlines()
        assert len(lines) <= _PAGE, "\n".join(lines)
        text = " ".join(" ".join(lines).split())
        assert "and 7 more hacks: suffix_match (rewards/sums.py:7)" in text
        assert "and 9 more false accepts: over_normalisation (rewards/sums.py:4)" in text

    def test_it_says_what_is_rewarded_how_much_where_the_fix_and_what_follows(self) -> None:
        text = " ".join(shown(report(SUFFIX), following=True).split())
        order = (
            "exploitable: rewards/sums.py:compute_score", "1 high suffix_match:", "witness 142",
            "reward 0.75 on average; honest ceiling 0.05, right answers 1; rewarded on 9 of 12",
            "where rewards/sums.py:7 if answer.endswith(ground_truth):", "fix Extract the answer",
            "checks 1 of 3 do not hold: same_score", "tried 3 attacks × 12 problems: 68 compl",
            "not tried 3 black-box, 4 mutation", "next unhack audit", "prints a diff",
        )  # fmt: skip
        places = [text.index(words) for words in order]
        assert places == sorted(places)

    def test_right_answers_that_are_refused_stand_beside_the_verdict(self) -> None:
        text = " ".join(shown(refusing(report(SUFFIX))).split())
        assert "refused 1 of 9 right answers (11%), such as “w6”; 9 of 12 in other not" in text
        assert text.index("refused") < text.index("suffix_match")
        assert "such as" not in " ".join(shown(report(SUFFIX)).split())
        assert refusing(report()).to_json()["right_answers"] == {
            "tried": 9, "refused": 1, "example": "w6",
        }  # fmt: skip

    def test_a_verifier_that_rewards_nothing_is_not_said_to_refuse(self) -> None:
        assert "refused" not in shown(refusing(report(conclusion=Conclusion.UNPROVEN)))

    def test_the_worst_comes_first_and_a_false_accept_stands_apart(self) -> None:
        made = report(FALSE_ACCEPT, SUFFIX, HOSTILE)
        text = " ".join(shown(made, width=400, verbose=True).split())
        order = ("1 critical always_equal", "2 high suffix", "False accepts: wrong", "3 low over_")
        found = [text.index(words) for words in order]
        assert found == sorted(found)

    def test_false_accepts_alone_are_told_with_their_witness(self) -> None:
        text = " ".join(shown(report(*[FALSE_ACCEPT] * 3), width=400).split())
        assert "- over_normalisation at rewards/sums.py:4: “42 km”: it answers '42 km', wh" in text
        assert "and 1 more false accept: over_normalisation (" in text

    def test_a_command_can_be_copied_in_one_piece(self) -> None:
        assert f"{'a' * 90} --fix\n" in shown(report(SUFFIX), following=True)

    def test_a_long_witness_loses_its_middle_and_says_how_much(self) -> None:
        text = " ".join(shown(report(replace(SUFFIX, witness="a" * 500 + "z"))).split())
        assert "a … 391 more characters … a" in text
        assert "z" in text.split("more characters")[1][:60]

    def test_what_was_assumed_and_is_the_reason_is_said_once(self) -> None:
        text = "it reads 'info', which no row has"
        made = report(conclusion=Conclusion.UNPROVEN, why=f"{text}; nothing passes")
        assert shown(replace(made, assumed=(text,)), width=200).count(text) == 1


class TestScreen:
    def test_hostile_text_cannot_steer_the_terminal(self) -> None:
        text = shown(report(HOSTILE), verbose=True)
        assert all(char.isprintable() or char == "\n" for char in text)
        assert "\\u202e\\x1b[2J" in text

    def test_no_line_is_wider_than_the_terminal(self) -> None:
        wide = replace(
            SUFFIX, witness="x" * 900, place=Place("a/" * 60 + "b.py", 7, "y = " + "z" * 300)
        )
        assert max(len(line) for line in shown(report(wide), verbose=True).splitlines()) <= 80

    def test_an_empty_witness_is_named(self) -> None:
        assert "(empty text)" in shown(report(replace(SUFFIX, witness="")))

    def test_the_word_unproven_stands_first_with_its_reason(self) -> None:
        text = shown(report(conclusion=Conclusion.UNPROVEN, why="it never looks at the answer"))
        assert text.startswith("unproven: ")
        assert text.splitlines()[1] == "it never looks at the answer"

    def test_more_words_tell_every_finding_check_and_tier(self) -> None:
        made = report(*[SUFFIX] * 4, FALSE_ACCEPT, mutation_score=0.5)
        text = " ".join(shown(made, verbose=True, width=200).split())
        for words in (
            "4 high suffix_match", "5 low over_normalisation",
            "problem row 0 it scores 1; 1 passes", "mean reward 0.75, against an honest ceiling of",
            "of 0.05 and 1 for right answers (share 74%)",
            "9 of 12 held-out problems (1 more left out", "expected 42", "obtained 142",
            "found by numbers/longer_number, tier 1 heuristic", "hedging/list_of_numbers",
            "check 1 holds: correct_pass: 12 of 12", "check 3 unknown: neighbours",
            "tier 1 heuristic: 2 attacks, 60 completions, 12 rewarded, 12 proven wrong",
            "3 black-box: search: no endpoint was given; 4 mutation: was not selected",
            "5 RL exploit discovery: trains a policy", "68 completions, 812 calls, 14.2 s; 50%",
        ):  # fmt: skip
            assert words in text, words


def test_progress_is_silent_where_no_terminal_is(capsys: pytest.CaptureFixture[str]) -> None:
    with watching.watching() as show:
        show(Progress("tier 1", 3, 9, 1))
    assert capsys.readouterr() == ("", "")
