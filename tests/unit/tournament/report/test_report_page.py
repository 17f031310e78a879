"""The page of a tournament: whole, safe, and it says what the record says."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from unhack.agents.play import AgentUsage, PlayEnding
from unhack.tournament.contest import Flag, Measurement, Metric
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import (
    Confirmation,
    Entry,
    FlagReview,
    PlayerRole,
    Reign,
    ReviewDecision,
    Round,
    Standing,
    TournamentRecord,
    TournamentSettings,
    Transcript,
)
from unhack.tournament.report.page import page, write_report

HOSTILE = '<script>alert("x")</script>\u202e\x1b[31m'


def measured(fitness: float, *, ratio: float = 4.0, ppl: float = 3.2) -> Measurement:
    metrics: dict[str, Metric] = {"ratio": ratio, "ppl": ppl, "ppl_ref": 3.17}
    return Measurement(fitness, fitness - 0.05, fitness + 0.05, metrics)


def entry(agent: str, number: int, fitness: float, **more: object) -> Entry:
    base = Entry(
        number, agent, PlayerRole.AGENT, EntryState.COMMITTED, digest=f"{agent}{number}" * 8
    )
    found = replace(base, measured=measured(fitness, ratio=2 + fitness), fitness=fitness)
    return replace(found, **more)  # type: ignore[arg-type]


def gamed(agent: str, number: int, fitness: float, **more: object) -> Entry:
    flag = Flag("hardcoded_metric", f"solution.py:12: `size` returns 9: {HOSTILE}", "scan")
    return (
        entry(agent, number, fitness, flags=(flag,), **more)
        if more
        else replace(entry(agent, number, fitness), flags=(flag,), fitness=0.0)
    )


def standing(rank: int, agent: str, **more: object) -> Standing:
    base = Standing(
        rank, rank, rank + 1, agent, PlayerRole.AGENT, 1.9, 1.7, 1.6, 1.8, 0.4, -0.1, 0.9, 3, 0, 1,
        AgentUsage(turns=7, input_tokens=12_345, output_tokens=678, cost_usd=1.25, seconds=33.0),
        1, 0, 0.0, 0.8,
    )  # fmt: skip
    return replace(base, **more)  # type: ignore[arg-type]


def settings(**more: Metric) -> TournamentSettings:
    return TournamentSettings(
        contest="quantization", title="Compress a language model", options={},
        contest_settings={"windows": 192, **more}, exclusive=False, agents=("gptq", HOSTILE),
        rounds=3, impossible=(2,), seeding="champion", time_limit_s=60.0, cost_limit_usd=0.0,
        agent_options={}, version="0.1.0", hash="ab" * 32,
    )  # fmt: skip


def record(**more: Metric) -> TournamentRecord:
    first = entry("gptq", 1, 1.8)
    rounds = (
        Round(1, False, "", None, (first, gamed(HOSTILE, 1, 9.9))),
        Round(
            2, True, first.digest, None,
            (replace(entry("gptq", 2, 0.0, parent=first.digest), declined=True),
             gamed(HOSTILE, 2, 8.0)),
        ),
        Round(3, False, first.digest, 1.8, (entry("gptq", 3, 1.9, parent=first.digest),
                                       gamed(HOSTILE, 3, 1.2))),
    )  # fmt: skip
    reign = Reign(3, "gptq", rounds[2].entries[0].digest, 1.9, 1.85, 1.95)
    proof = Confirmation(reign.digest, "gptq", 3, measured(1.9), measured(1.88), True)
    table = (standing(1, "gptq"), standing(2, HOSTILE, flagged=3, cheated=1, cheating_low=0.2))
    return TournamentRecord(settings(**more), rounds, table, (reign,), (proof,), True, "cd" * 32)


class Reader(HTMLParser):
    """Tags, and whether they are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.all: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


class TestThePage:
    def test_it_is_whole_and_loads_nothing(self) -> None:
        text = page(record())
        reader = Reader()
        reader.feed(text)
        assert reader.open == []
        assert not {"script", "link", "img", "iframe"} & set(reader.all)
        assert "default-src 'none'" in text
        assert not re.search(r"https?://|url\(|@import|src=", text)

    def test_text_of_agents_is_shown_as_text(self) -> None:
        text = page(record())
        assert "<script>" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert "\\u202e" in text

    def test_it_says_who_won_and_why_others_did_not(self) -> None:
        text = page(record())
        assert "gptq wins" in text
        assert "<code>solution.py:12</code>" in text
        assert "Types the number in" in text
        assert "it would have had 9.9" in text
        assert "best unflagged 1.9" in text
        assert "Impossible rounds" in text
        assert "12,345" in text

    @pytest.mark.parametrize(("given", "told"), [(1.84, False), (1.86, True), (2.5, True)])
    def test_a_winner_no_better_than_what_everybody_was_given_is_told_so(
        self, given: float, told: bool
    ) -> None:
        made = record()
        control = replace(entry("control:identity", 3, given), role=PlayerRole.IDENTITY)
        last = replace(made.rounds[-1], entries=(*made.rounds[-1].entries, control))
        text = page(replace(made, rounds=(*made.rounds[:-1], last)))
        assert "gptq wins" in text
        assert ("No better than what everybody was given" in text) == told
        assert "No better than" not in page(made)

    @pytest.mark.parametrize(("other", "told"), [(1.84, "gptq wins"), (1.9, "gptq, codex tie")])
    def test_equal_entries_are_a_tie_whatever_their_order(self, other: float, told: str) -> None:
        made = record()
        last = made.rounds[-1]
        rounds = (
            *made.rounds[:-1],
            replace(last, entries=(*last.entries, entry("codex", 3, other))),
        )
        assert told in page(replace(made, rounds=rounds))

    def test_links_are_named_only_where_there_is_a_folder_to_lead_into(self) -> None:
        with_folder, without = page(record(), run="out"), page(record())
        assert "links lead into" in with_folder
        assert ">files</th>" in with_folder
        assert "links lead into" not in without
        assert ">files</th>" not in without

    def test_standings_come_first_and_say_what_the_words_mean(self) -> None:
        text = page(record())
        heads = re.findall(r"<h2>(.*?)</h2>", text)
        assert heads[0] == "Standings"
        assert heads.index("Rejected submissions") > heads.index("The cliff")
        for word in ("Rank", "Fitness", "control:identity", "95 % interval"):
            assert word in text.split("<h2>")[1]

    def test_a_program_that_was_rejected_in_three_rounds_has_one_card(self) -> None:
        text = page(record())
        assert text.count('<article class="card finding') == 1
        assert "rounds 1, 2, 3" in text

    def test_it_says_how_each_agent_ended_and_links_to_its_files(self) -> None:
        failed = replace(
            Entry(1, "mine", PlayerRole.AGENT, EntryState.COMMITTED, digest="d" * 8),
            ended=PlayEnding.FAILED, note="it ended with code 127: python3: not found",
            problem="no regular file solution.py", attempts=1, files={},
            usage=AgentUsage(seconds=0.4),
        )  # fmt: skip
        spoken = Transcript(1, "mine", "transcripts/0001/03-mine",
                            {"attempt-1/stderr.txt": "0" * 64})  # fmt: skip
        rounds = (Round(1, False, "", None, (failed,)),)
        row = standing(1, "mine", mean=0.0, mean_low=0.0, mean_high=0.0)
        made = TournamentRecord(
            settings(), rounds, (row,), (), (), True, "ef" * 32, transcripts=(spoken,)
        )
        text = page(made, run="../my run")
        assert "failed, 0.4 s: it ended with code 127: python3: not found" in text
        assert "nothing valid" in text
        link = 'href="../my%20run/transcripts/0001/03-mine/attempt-1/stderr.txt"'
        assert link in text
        assert "0 to 0" not in text

    def test_one_outlier_does_not_stretch_the_cliff(self) -> None:
        made = record()
        wild = replace(entry("gptq", 3, 0.0), measured=measured(0.0, ratio=4e5, ppl=9e4))
        rounds = (
            *made.rounds[:2],
            replace(made.rounds[2], entries=(*made.rounds[2].entries, wild)),
        )
        cliff = re.findall(r"<svg.*?</svg>", page(replace(made, rounds=rounds)), flags=re.S)[1]
        assert "4e+05" not in cliff.replace("400000 →", "")
        assert "400000 →" in cliff
        assert "90000 ↑" in cliff

    def test_controls_and_rejected_agents_look_in_the_legend_as_in_the_charts(self) -> None:
        controls = [
            replace(entry(f"control:{role}", 1, 0.1), role=role)
            for role in (PlayerRole.NULL, PlayerRole.IDENTITY, PlayerRole.BASELINE)
        ]
        made = record()
        first = replace(made.rounds[0], entries=(*controls, *made.rounds[0].entries))
        text = page(replace(made, rounds=(first, *made.rounds[1:])))
        [legend, *_] = re.findall(r'<ul class="legend">.*?</ul>', text)
        kinds = re.findall(r'<li class="([^"]+)"><i></i>control:', legend)
        assert len(set(kinds)) == 3
        assert re.search(r'<li class="s\d crossed"><i></i>&lt;script', legend)
        assert 'tone-grey crossed"><i></i>rejected' in legend

    def test_the_charts_are_valid_drawings(self) -> None:
        charts = re.findall(r"<svg.*?</svg>", page(record()), flags=re.S)
        assert len(charts) == 3
        for chart in charts:
            ElementTree.fromstring(chart)
            numbers = map(float, re.findall(r'(?:cx|cy|x1|y1)="([^"]+)"', chart))
            assert all(-1 <= number <= 1000 for number in numbers)

    def test_what_is_far_too_high_stands_at_the_edge_with_its_number(self) -> None:
        assert "9.9 ↑" in page(record())

    def test_a_bound_is_drawn_where_the_contest_has_one(self) -> None:
        assert "bound 2.1" in page(record(bound=2.1))
        assert "bound 2.1" not in page(record())

    def test_a_tournament_that_has_just_begun_has_a_page(self) -> None:
        text = page(TournamentRecord(settings(), (), (), (), (), False, ""))
        assert "No champion yet" in text
        planned = Entry(1, "gptq", PlayerRole.AGENT, EntryState.RUNNING)
        begun = TournamentRecord(
            settings(), (Round(1, False, "", None, (planned,)),), (), (), (), False, ""
        )
        assert "None was flagged" in page(begun)

    def test_it_is_written_whole_or_not_at_all(self, tmp_path: Path) -> None:
        path = tmp_path / "report.html"
        write_report(record(), path)
        write_report(record(), path)
        assert [item.name for item in tmp_path.iterdir()] == ["report.html"]
        with pytest.raises(OSError, match="none"):
            write_report(record(), tmp_path / "none" / "report.html")


class TestReviews:
    def test_an_overruled_flag_shows_its_evidence_who_and_both_numbers(self) -> None:
        said = FlagReview(
            1, HOSTILE, "x", ("hardcoded_metric",), ReviewDecision.OVERRULE, "Ada", HOSTILE,
            "2026-01-31T12:00:00Z",
        )  # fmt: skip
        first, bad = record().rounds[0].entries
        good = replace(
            bad, flags=(), overruled=bad.flags, reviews=(said,), fitness=9.9, judged_fitness=0.0
        )
        table = (standing(1, "gptq"), standing(2, HOSTILE, overruled=1, judged_mean=0.25))
        rounds = (replace(record().rounds[0], entries=(first, good)), *record().rounds[1:])
        text = page(replace(record(), rounds=rounds, standings=table))
        assert "<script>" not in text
        for word in (
            "as judged 0.25", "+ 1 overruled", "flag overruled: 9.9, as judged 0",
            "scan, overruled",
            "overruled: hardcoded_metric; Ada, 2026-01-31T12:00:00Z",
        ):  # fmt: skip
            assert word in text
        assert "overruled" not in page(record()).replace("that a person overruled costs", "")
