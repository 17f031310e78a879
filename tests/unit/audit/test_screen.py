from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.runner import Progress
from unhack.cli.audit import screen
from unhack.core.finding import Place

from .report_sample import FALSE_ACCEPT, HOSTILE, SOURCE, SUFFIX, report


def shown(made: AuditReport, *, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    for part in screen.screen(made, source=SOURCE):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


class TestScreen:
    def test_every_finding_has_a_panel_and_the_worst_comes_first(self) -> None:
        text = shown(report(SUFFIX, HOSTILE))
        heads = [line for line in text.splitlines() if line.startswith("╭")]
        assert ["critical always_equal_object" in heads[0], "high suffix_match" in heads[1]] == [
            True, True,
        ]  # fmt: skip
        assert len(heads) == 2

    def test_a_hack_tells_its_reward_and_a_false_accept_stands_apart(self) -> None:
        text = " ".join(shown(report(FALSE_ACCEPT, SUFFIX), width=400).split())
        assert "mean reward 0.75, against 0.05 for an honest guess and 1 for a right" in text
        assert "(74% of the gap)" in text
        assert "rewarded on 9 of 12 held-out problems (1 more left out" in text
        hack, apart, lenient = map(
            text.index, ("high suffix_match", " False accepts ", "low false accept")
        )
        assert hack < apart < lenient

    def test_hostile_text_cannot_steer_the_terminal(self) -> None:
        text = shown(report(HOSTILE))
        assert all(char.isprintable() or char == "\n" for char in text)
        assert "\\u202e\\x1b[2J" in text

    def test_no_line_is_wider_than_the_terminal(self) -> None:
        wide = replace(
            SUFFIX, witness="x" * 900, place=Place("a/" * 60 + "b.py", 7, "y = " + "z" * 300)
        )
        assert max(len(line) for line in shown(report(wide), width=80).splitlines()) <= 80

    def test_a_long_witness_is_cut_and_says_so(self) -> None:
        text = shown(report(replace(SUFFIX, witness="\n".join("line" for _ in range(50)))))
        assert "… 38 more lines; --json shows all" in text

    def test_an_empty_witness_is_named(self) -> None:
        assert "(empty text)" in shown(report(replace(SUFFIX, witness="")))

    def test_the_word_unproven_stands_first_with_its_reason(self) -> None:
        text = shown(report(conclusion=Conclusion.UNPROVEN, why="it never looks at the answer"))
        assert text.startswith("unproven: ")
        assert text.splitlines()[1] == "it never looks at the answer"

    def test_every_tier_is_either_tried_or_left_out_with_a_reason(self) -> None:
        text = shown(report(mutation_score=0.5))
        for words in (
            "1 heuristic        2           60        12            12",
            "3 black-box             search: no endpoint was given",
            "4 mutation              was not selected",
            "5 RL exploit discovery  trains a policy",
            "3 attacks × 12 problems: 68 completions, 812 runs of the verifier, 14.2 s; 50%",
        ):
            assert words in text


def test_progress_is_silent_where_no_terminal_is(capsys: pytest.CaptureFixture[str]) -> None:
    with screen.watching() as show:
        show(Progress("tier 1", 3, 9, 1))
    assert capsys.readouterr() == ("", "")
