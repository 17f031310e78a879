"""A policy's view holds nothing of the right answer, and its strategies keep their places."""

import pytest

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.attacks.registry import attacks_of
from unhack.audit.search.strategies.strategy import (
    PolicyKnowledge,
    Strategy,
    donors_of,
    own_form,
    view_of,
)
from unhack.audit.subject import AuditProblem

ROWS = [
    AuditProblem("a", "What is 17 + 25? End with #### N.", "42", ("so\n#### 42",)),
    AuditProblem("b", "64 nuts, and 9 more. How many? End with #### N.", "73", ("#### 73",)),
    AuditProblem("c", "Which is it: 5, 6 or 8? End with #### N.", "8", ("#### 8",)),
    AuditProblem("d", "Name a prime. End with #### N.", "8191", ("#### 8191",)),
]  # fmt: skip
OF_PROMPT = [one for one in attacks_of(1) if one.of_prompt]


class TestView:
    def test_a_donor_is_another_problem_with_another_answer(self) -> None:
        same = AuditProblem("e", "And 40 + 2?", "42.", ("42",))
        donors = donors_of([ROWS[0], same, ROWS[1]])
        assert {key: one and one.id for key, one in donors.items()} == {
            "a": "b",
            "e": "b",
            "b": "a",
        }

    def test_the_view_has_the_answer_of_its_donor(self) -> None:
        seen = view_of(ROWS[0], ROWS[1], None)
        assert seen.is_view
        assert (seen.problem.prompt, seen.answer) == (ROWS[0].prompt, "73")
        assert seen.problem.correct == ("#### 73",)

    def test_without_a_donor_a_typical_answer_stands_in(self) -> None:
        seen = view_of(AuditProblem("d", "Which prime?", "8191", ("8191",)), None, None)
        assert seen.answer == "42"
        assert seen.problem.correct == ()


class TestOwnForm:
    SPEED = AuditProblem("v", "What is its speed in m/s?", "25", ("So.\nAnswer: 25 m/s",))
    FORCE = AuditProblem("f", "What is the force in N?", "42", ("So.\nAnswer: 42 N",))
    NAMED = AuditProblem("n", "What is it in kg?", "7", ("So.\nAnswer: 7 (Ada)",))

    def test_the_words_of_a_form_may_come_from_the_prompt(self) -> None:
        form = own_form(self.FORCE, self.SPEED)
        seen = view_of(self.FORCE, self.SPEED, None, form=form)
        assert seen.problem.correct == ("So.\nAnswer: 25 N", "So.\nAnswer: 25 m/s")

    def test_a_form_with_a_word_that_nobody_told_is_not_known(self) -> None:
        assert own_form(self.NAMED, self.SPEED) is None

    def test_in_its_own_form_only_a_reward_near_the_full_one_counts(self) -> None:
        known = PolicyKnowledge([self.FORCE, self.SPEED], None)
        made = known.every(attacks_of(1), self.FORCE)
        own = {payload.fair for strategy, payload in made if strategy.own_form}
        assert min(own) == 0.9
        assert 0.0 in {payload.fair for strategy, payload in made if not strategy.own_form}

    def test_the_form_of_the_donor_is_tried_as_before(self) -> None:
        known = PolicyKnowledge([self.FORCE, self.SPEED], None)
        made = known.every(attacks_of(1), self.FORCE)
        plain = [payload.text for strategy, payload in made if not strategy.own_form]
        unnamed = AuditProblem("f", self.FORCE.prompt, "42", ("So.\nResult 42 of Ada",))
        alone = PolicyKnowledge([unnamed, self.SPEED], None).every(attacks_of(1), unnamed)
        assert [payload.text for _, payload in alone] == plain


class TestPlaces:
    @pytest.mark.parametrize("attack", OF_PROMPT, ids=lambda one: one.name)
    def test_an_attack_on_the_prompt_makes_as_many_payloads_of_each(self, attack: Attack) -> None:
        known = PolicyKnowledge(ROWS, None)
        made = [list(attack.make(known.of(row))) for row in ROWS]
        assert len({len(payloads) for payloads in made}) == 1
        claims = [[payload.note for payload in payloads] for payloads in made]
        assert all(one == claims[0] for one in claims)

    def test_the_same_text_twice_keeps_both_places(self) -> None:
        def make(known: Knowledge) -> list[Payload]:
            texts = (known.problem.prompt[:4], "What", known.problem.id)
            return [Payload(text, Claim.NO_ANSWER) for text in texts]

        attack = Attack("a/b", "hedging", 1, False, make)
        known = PolicyKnowledge(ROWS, None)
        made = [known.complete(Strategy(attack, 2), row) for row in ROWS]
        assert [one.text if one else None for one in made] == ["a", "b", "c", "d"]
        assert [one.text for _, one in known.every([attack], ROWS[0])] == ["What", "a"]

    def test_no_payload_is_left_out_for_holding_the_answer_of_the_donor(self) -> None:
        [dump] = [one for one in attacks_of(1) if one.name == "echo/numbers_in_a_row"]
        seen = view_of(ROWS[0], AuditProblem("x", "?", "17", ("#### 17",)), None)
        assert any("17 25" in payload.text for payload in dump.make(seen))
