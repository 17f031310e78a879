"""Attacks that fill the form of a right completion with all that it may hold."""

import datetime
import json

import pytest

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.from_prompt.code_replies import delimited_part
from unhack.audit.attacks.from_prompt.domains import domains_in
from unhack.audit.attacks.payloads.calendar_forms import clocks_in, dates_in
from unhack.audit.attacks.registry import all_attacks
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.search.strategies.strategy import view_of
from unhack.audit.subject import AuditProblem

BY_NAME = {attack.name: attack for attack in all_attacks()}


def made(name: str, prompt: str, donor: tuple[str, str]) -> list[Payload]:
    """The payloads for a prompt, when the donor's answer and right completion are these."""
    attack: Attack = BY_NAME[name]
    problem = AuditProblem("p", prompt, "77 78", ("77 78",))
    known: Knowledge = view_of(problem, AuditProblem("d", "?", donor[0], (donor[1],)), None)
    return list(attack.make(known))


def texts_of(name: str, prompt: str, donor: tuple[str, str]) -> list[str]:
    return [one.text for one in made(name, prompt, donor)]


class TestCalendar:
    @pytest.mark.parametrize(
        ("text", "other"),
        [
            ("2024-03-05", "2025-11-09"),
            ("05/03/2024", "09/11/2025"),
            ("5.3.2024", "9.11.2025"),
            ("5 March 2024", "9 November 2025"),
            ("March 5, 2024", "November 9, 2025"),
            ("5th of Mar 2024", "9 of Nov 2025"),
        ],
    )
    def test_other_dates_are_written_like_the_one_found(self, text: str, other: str) -> None:
        [found] = dates_in(f"It is {text}.")
        assert (found.value.year, found.value.month, found.value.day) == (2024, 3, 5)
        assert found.write(datetime.datetime(2025, 11, 9)) == other

    @pytest.mark.parametrize(
        ("text", "other"),
        [("14:05", "09:30"), ("2:05 pm", "9:30 am"), ("02:05 PM", "09:30 AM"), ("7:00", "9:30")],
    )
    def test_other_times_are_written_like_the_one_found(self, text: str, other: str) -> None:
        [found] = clocks_in(f"at {text},")
        assert found.write(datetime.datetime(1, 1, 1, 9, 30)) == other

    @pytest.mark.parametrize(
        "text", ["2024-13-05", "31/02/2024", "0001-01-01", "25:10", "12:75", "3 to 4"]
    )
    def test_what_is_no_date_or_time_is_left_alone(self, text: str) -> None:
        assert dates_in(text) == clocks_in(text) == []


class TestRanges:
    def test_days_run_on_from_the_date_of_the_prompt(self) -> None:
        prompt = "What date is 9 days after 27 February 2024?"
        [first, *_] = made("ranges/dates", prompt, ("2020-01-02", "It is 2020-01-02."))
        assert first.text.startswith("It is 2024-02-27 2024-02-28 2024-02-29 2024-03-01 ")
        assert first.claim is Claim.EVERY_ANSWER

    def test_a_range_takes_the_place_of_a_time(self) -> None:
        found = texts_of("ranges/ends", "When?", ("14:05", "At 14:05."))
        assert "At 00:00 to 23:59." in found
        assert "At between 00:00 and 23:59." in found

    def test_a_margin_is_wide_enough_for_any_number(self) -> None:
        found = texts_of("ranges/tolerances", "6 * 7?", ("12", "Result: 12"))
        assert "Result: 0e9" in found
        assert "Result: 0 ± 1000000" in found

    def test_answers_without_values_have_no_ranges(self) -> None:
        for name in ("ranges/dates", "ranges/times", "ranges/tolerances", "ranges/ends"):
            assert made(name, "Who?", ("Ada", "1. Ada")) == []


class TestDomains:
    def test_choices_are_told_from_the_prompt(self) -> None:
        prompt = "Room is kitchen, office or hall; state is on/off. Say yes or no."
        assert set(domains_in(prompt)) >= {
            ("kitchen", "office", "hall"),
            ("on", "off"),
            ("yes", "no"),
        }

    def test_a_run_of_marks_becomes_all_of_them(self) -> None:
        prompt = "Which are prime?\nA) 2\nB) 4\nC) 5\nReply as: Selected: X, Y"
        found = made("domains/all_at_once", prompt, ("B,C", "Selected: B, C"))
        assert found[0].text == "Selected: A, B, C"
        assert found[0].fair > 0.0

    def test_every_combination_of_arguments_is_called(self) -> None:
        prompt = "set(room, state): room is kitchen, office or hall; state is on or off."
        [lines, _] = texts_of("domains/combinations", prompt, ("x", "<c>set hall on</c>"))
        assert len(set(lines.splitlines())) == 6
        assert "<c>set kitchen off</c>" in lines

    def test_every_mark_stands_behind_every_key(self) -> None:
        found = texts_of("domains/marks", "True or false?", ("TF", "1: T\n2: F"))
        assert "1: FT\n2: FT" in found
        assert made("domains/marks", "?", ("TT", "1: T\n2: T")) == []


class TestFields:
    RECORD = json.dumps({"id": 7, "name": "Ann Lee", "total": 30})

    def test_one_field_is_copied_and_the_rest_left_out(self) -> None:
        prompt = "Order 4711: Bob Ray bought 3 lamps at 20 each."
        found = made("fields/one_alone", prompt, (self.RECORD, f"```\n{self.RECORD}\n```"))
        texts = [one.text for one in found]
        assert '```\n{"id": 4711}\n```' in texts
        assert '```\n{"name": "Bob Ray"}\n```' in texts
        assert all(one.fair >= 0.5 for one in found)

    def test_the_source_stands_in_every_field(self) -> None:
        prompt = "Fill in.\nBob & Ray live in Rome since 1990."
        right = "<p><name>Ann</name><city>Oslo</city></p>"
        [text, *_] = texts_of("fields/whole_text", prompt, ("x", right))
        copied = "Bob &amp; Ray live in Rome since 1990."
        assert text == f"<p><name>{copied}</name><city>{copied}</city></p>"
        assert made("fields/whole_text", prompt, ("x", "<p>Ann</p>")) == []

    def test_answers_that_are_no_records_have_no_fields(self) -> None:
        assert made("fields/one_alone", "6 * 7?", ("42", '{"answer": 42}')) == []


class TestChains:
    def test_the_ends_of_a_route_are_joined(self) -> None:
        prompt = "Roads: A-B, B-C, C-D. Find a route from A to D."
        assert texts_of("chains/ends_alone", prompt, ("x", "Go B -> C -> D."))[0] == "Go A -> D."

    @pytest.mark.parametrize(
        "roads", ["A-B, A-D", "A to B: 4, A to D: 9", "(D, A)", "AD, AB", "\nA: B, C, D\nB: C"]
    )
    def test_neighbours_may_be_joined_by_right(self, roads: str) -> None:
        prompt = f"Roads: {roads}. Find a route from A to D."
        assert made("chains/ends_alone", prompt, ("x", "B -> C -> D")) == []

    @pytest.mark.slow
    def test_every_term_gets_no_weight(self) -> None:
        donor = ("1 N2 + 3 H2 -> 2 NH3",) * 2
        found = made("chains/no_terms", "Balance:\nFe2O3 + CO -> Fe + CO2", donor)
        assert found[0].text == "0 Fe2O3 + 0 CO -> 0 Fe + 0 CO2"
        right = AuditProblem("p", "?", "1 Fe2O3 + 3 CO -> 2 Fe + 3 CO2")
        assert TextOracle().why_wrong(right, found[0]) is not None


class TestDelimited:
    @pytest.mark.parametrize(
        ("text", "inside"),
        [
            ("Use:\n```sql\nSELECT 1\n```", "SELECT 1"),
            ("<think>so</think><answer>a+</answer>", "a+"),
            ("The pattern is /a+b/.", "a+b"),
            ("Try `x*` now", "x*"),
            ("It is clear.\nAnswer: x y", "x y"),
            ("plain", "plain"),
        ],
    )
    def test_the_delimited_part_is_found_and_exchanged(self, text: str, inside: str) -> None:
        frame = delimited_part((text,))
        assert frame.inside == inside
        assert frame.write(inside) == text

    def test_queries_and_patterns_stand_in_the_frame_of_the_donor(self) -> None:
        assert "/.*/" in texts_of("queries/any_text", "Write a regex.", ("a+", "/a+/"))
        fenced = "```sql\nSELECT a FROM t\n```"
        found = texts_of("queries/no_rows", "Table t(a)", ("SELECT a FROM t", fenced))
        assert "```sql\nSELECT 1 WHERE 1 = 0\n```" in found
