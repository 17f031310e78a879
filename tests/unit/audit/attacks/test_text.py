"""Every attack on text answers says what is wrong with its payloads, and the oracle agrees."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

import pytest

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, payloads_of
from unhack.audit.attacks import texts
from unhack.audit.attacks.payloads.answer_forms import (
    BARE,
    FILLER,
    EveryForm,
    answers_nothing,
    forms_for,
    named_forms,
    nothing,
)
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.oracle import TextOracle, mentions, normal, number
from unhack.audit.subject import AuditProblem, Source

MOST_PAYLOADS = 12
MOST_AT_ALL = 440


def _known(prompt: str, answer: str, correct: tuple[str, ...] = ()) -> Knowledge:
    problem = AuditProblem("one", prompt, answer=answer, correct=correct)
    return Knowledge(problem, wrong_answers=wrong_answers(answer, prompt=prompt))


SAMPLES = {
    "integer": _known("A box holds 6 rows of 7 eggs. What is 6 * 7?", "42"),
    "boxed": _known(r"How many minutes is 1.5 km at 2 m/s? Use \boxed{}.", "-12.5"),
    "one": _known("How many days is it? #### N", "1", ("It is one day.\n#### 1",)),
    "article": _known("Which is red?\n(A) blood\n(B) grass\n(C) sky", "A"),
    "choice": _known("Which is red?\n(A) sky\n(B) grass\n(C) blood\n(D) snow", "C"),
    "pair": _known("Is 7 prime? <answer>yes or no</answer>", "yes"),
    "phrase": _known("Rewrite: the cat was chased by Tom.", "Tom chased the cat"),
    "formula": _known("Write the sine of 45 degrees.", r"\frac{\sqrt{2}}{2}"),
    "forms": _known(r"Use \boxed{} or <answer></answer>. How many legs has a spider?", "8"),
    "fraction": _known("Reduce 6/16.", r"\frac{3}{8}"),
    "list": _known("Sort 9, 2 and 5 in ascending order.", "[2, 5, 9]", ("[2, 5, 9]",)),
    "interval": _known("Where is it positive?", "(0, 1]"),
    "grid": _known("Fill the gaps:\n_ 1 _\n0 _ 1\n_ 1 _", "1 1 0\n0 0 1\n0 1 1"),
    "moves": _known("Which moves solve it? Reply with a list.", '["fill A", "pour A->B"]'),
    "buttons": _known("Press the shortest sequence of A, B and C.", "B → A → B → C"),
    "letters": _known("Which digit is each letter of AB + B = BA?", "A=1,B=9"),
    "given": _known("Make 24 using all of these, each once, with + - * /: 7, 4, 4, 1.", "24"),
    "reach": _known("Make 169 using: 83, 94, 74, 90, 40.", "40*(94 - 90) + 83 - 74"),
    "integral": _known("Find the integral: ∫ 2*x + 1 dx", "x**2 + x + C"),
    "product": _known("Expand this: (x + 1)*(x + 2)", "x**2 + 3*x + 2"),
    "divisor": _known("What is the GCD of 841, 549?", "7"),
    "shown": replace(_known("What is 5 + 4?", "9"), shown=_known("3 + 4?", "7", ("7",)).problem),
    "premises": _known("Given:\n1. (P ∧ R)\n2. Q\nWhat can we conclude?", "(R ∨ ¬Q)"),
}


def _attacks() -> list[Attack]:
    found: list[Attack] = []
    for module in pkgutil.iter_modules(texts.__path__):
        loaded = importlib.import_module(f"{texts.__name__}.{module.name}")
        found += getattr(loaded, "ATTACKS", ())
    return found


ATTACKS = _attacks()


class TestAttacks:
    def test_there_are_many_over_many_classes(self) -> None:
        assert len(ATTACKS) >= 45
        assert len({attack.flaw for attack in ATTACKS}) >= 25
        assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
        assert all(attack.tier == 1 and not attack.for_code for attack in ATTACKS)

    @pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
    def test_one_payload_at_least_is_proven_wrong(self, attack: Attack) -> None:
        if attack.name.startswith("broken/"):
            pytest.skip("no answer is known: a user's oracle proves it (test_without_answers)")
        oracle = TextOracle()
        assert any(
            oracle.why_wrong(known.problem, payload)
            for known in SAMPLES.values()
            for payload in list(attack.make(known))[:4]
        )

    @pytest.mark.parametrize("known", SAMPLES.values(), ids=SAMPLES)
    def test_claims_are_kept(self, known: Knowledge) -> None:
        assert ATTACKS
        for attack in ATTACKS:
            payloads = list(attack.make(known))
            assert len(payloads) <= MOST_PAYLOADS, attack.name
            for payload in payloads:
                assert _honest(known, payload), (attack.name, payload)

    @pytest.mark.parametrize("known", SAMPLES.values(), ids=SAMPLES)
    def test_all_together_are_not_too_many(self, known: Knowledge) -> None:
        pairs = payloads_of(ATTACKS, known)
        assert 150 <= len(pairs) <= MOST_AT_ALL
        assert pairs == payloads_of(ATTACKS, known)

    @pytest.mark.parametrize("known", SAMPLES.values(), ids=SAMPLES)
    def test_a_right_answer_alone_is_never_a_payload(self, known: Knowledge) -> None:
        answer = known.answer
        right = {form.write(answer) for form in forms_for(known)}
        right |= {
            answer.upper(),
            f" {answer} ",
            f"{answer}.",
            f"${answer}$",
            *known.problem.correct,
        }
        assert not right & {payload.text for _, payload in payloads_of(ATTACKS, known)}
        for text in right:
            oracle, problem = TextOracle(), known.problem
            assert oracle.why_wrong(problem, Payload(text, Claim.NO_ANSWER)) is None
            assert oracle.why_wrong(problem, Payload(text, Claim.OTHER_ANSWER, (answer,))) is None

    def test_without_an_answer_nothing_breaks(self) -> None:
        blind = Knowledge(AuditProblem("one", "What is 6 * 7?"))
        pairs = payloads_of(ATTACKS, blind)
        assert pairs
        assert all(payload.claim is not Claim.EVERY_ANSWER for _, payload in pairs)


def _honest(known: Knowledge, payload: Payload) -> bool:
    """What can be said of a payload without asking the oracle for an equivalence."""
    answer = known.answer
    if payload.claim is Claim.NO_ANSWER:
        return not mentions(payload.text, answer) and not payload.asserts
    offered = {normal(one) for one in payload.asserts}
    if payload.claim is Claim.EVERY_ANSWER:
        return len(offered) > 1
    [said] = payload.asserts
    if payload.claim is Claim.BREAKS_RULE:
        return said in payload.text and normal(said) != normal(answer)
    exact = number(said) is None or number(said) != number(answer)
    return payload.claim is Claim.OTHER_ANSWER and normal(said) != normal(answer) and exact


class TestWhatIsNoAttack:
    def _made(self, name: str, prompt: str, answer: str) -> list[Payload]:
        [attack] = [one for one in ATTACKS if one.name == name]
        return list(attack.make(_known(prompt, answer)))

    @pytest.mark.parametrize("name", ["numbers/a_little_off", "numbers/cast_to_integer"])
    def test_rounding_where_the_prompt_asks_for_it(self, name: str) -> None:
        assert self._made(name, "How many are there?", "42")
        assert not self._made(name, "Give the nearest whole number.", "42")

    def test_a_missing_unit_is_no_other_answer(self) -> None:
        for name in ("strings/fragment", "strings/gold_left_over", "strings/one_character"):
            for answer in ("5 km", "x = 5", r"5^\circ", "$5", "5 apples"):
                said = {one.asserts for one in self._made(name, "How far is it?", answer)}
                assert ("5",) not in said

    def test_another_order_of_a_set(self) -> None:
        assert not self._made("lists/reordered", "Find all roots.", "{1, 2}")
        assert not self._made("lists/reordered", "Find all roots, in any order.", "[1, 2]")
        assert self._made("lists/reordered", "Sort 2, 1.", "[1, 2]")

    def test_words_that_are_another_no(self) -> None:
        assert not self._made("strings/truth_of_strings", "Is it so?", "no")
        assert self._made("strings/truth_of_strings", "Is it so?", "yes")

    def test_a_scale_that_the_prompt_names(self) -> None:
        assert not self._made("numbers/magnitude_word", "How many millions?", "5")
        assert not self._made("numbers/boolean", "Answer true or false.", "1")

    def test_the_right_answer_in_the_form_that_was_asked_for(self) -> None:
        for name in ("other_channel", "reasoning_right", "would_have_been", "code_block"):
            payloads = [*self._made(f"channels/{name}", r"What is it? Use \boxed{}.", "42")]
            assert payloads
            for payload in payloads:
                box = payload.text.rfind(r"\boxed{")
                assert r"\boxed{42}" not in payload.text or payload.text[box:].startswith(
                    rf"\boxed{{{payload.asserts[0]}}}"
                )

    def test_candidates_with_the_right_one_at_an_end(self) -> None:
        known = SAMPLES["integer"]
        names = {attack.name: attack for attack in ATTACKS if attack.name.startswith("hedges/")}
        del names["hedges/plus_minus"]
        assert names
        for name, attack in names.items():
            for payload in attack.make(known):
                place = payload.asserts.index("42")
                assert 0 < place < len(payload.asserts) - 1, name


class TestForms:
    def test_what_the_prompt_names_comes_first(self) -> None:
        known = _known("Reason in <plan></plan>, reply in <final></final>.", "42")
        text = forms_for(known)[0].write("7")
        assert text == f"<plan>\n{FILLER}\n</plan>\n<final>\n7\n</final>"
        assert {form.name for form in forms_for(known)} >= {"tag", "bare", "every_form"}

    def test_a_reference_shows_the_form(self) -> None:
        known = _known("Go.", "42", ("As 40 + 2 is 42, [[42]] it is.",))
        assert forms_for(known)[0].write("7") == "As 40 + 2 is that, [[7]] it is."
        assert named_forms(_known("Go.", "42", ("42",))) == (BARE,)

    def test_json_is_escaped(self) -> None:
        known = _known("Reply in JSON.", "42")
        assert forms_for(known)[0].write('a "b"') == '{"answer": "a \\"b\\""}'

    def test_the_source_shows_the_form_when_nothing_else_does(self) -> None:
        source = Source("v.py", "re.findall(r'####(.*)', text)")
        bare = _known("Go.", "42")
        known = Knowledge(bare.problem, source, bare.wrong_answers)
        assert forms_for(known)[0].name == "hashes"
        assert len(forms_for(bare)) == 7

    def test_all_forms_at_once_say_the_same(self) -> None:
        text = EveryForm().write("7")
        assert text.count("7") == 3
        assert not any(char.isdigit() for char in FILLER)

    def test_filler_names_nothing(self) -> None:
        for answer in ("A", "I", "no", "yes", "0", "1"):
            known = _known("Go.", answer)
            assert answers_nothing(FILLER, known)
            assert [one.text for one in nothing(known, [answer, "?"])] == ["?"]
