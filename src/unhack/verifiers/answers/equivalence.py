r"""Equivalence of a mathematical answer and the gold answer.

Where both are numerals (see `answers.numerals`) the comparison is exact and happens here.
Everything else takes two jobs in judges' workers. The first reads the completion's LaTeX and holds
nothing else; it hands on a tree of plain data. The second holds the gold answer, builds the
expression from the tree, and compares, with numbers first and then with `math_verify`.

Evaluated form. With `evaluated`, an answer must be computed, not restated. Where the gold answer is
a numeral, the answer is one too, no fraction of whole value. Elsewhere no integral, sum, product,
limit, derivative, binomial, gcd, determinant or factorial is left in it, and no arithmetic on
rational numbers but factors in fractions and roots. A gold answer not evaluated lifts the rule.

Covered: hostile text meets a grammar, never `eval`; time, memory and length are bounded; percent
signs and units are never silently dropped; a set is no ordered pair.
Not covered: a restatement with variables (`(x+1)^2` for `x^2+2x+1`) counts as equal; equal
expressions that neither values nor math_verify show equal count as different.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from unhack.core.verdict import Status
from unhack.sandbox.job import Job, Outcome, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.verifiers import jobs
from unhack.verifiers.answers import statements
from unhack.verifiers.answers.asked import asks_dimensions
from unhack.verifiers.answers.intervals import read_again, read_both
from unhack.verifiers.answers.letters import same_choice, with_letters_of
from unhack.verifiers.answers.notation import (
    for_parser,
    multiplied,
    with_factors,
    with_named_derivatives,
)
from unhack.verifiers.answers.quantities import (
    OTHER_UNIT,
    PASSED,
    Judgement,
    Rules,
    fail,
    judge_numbers,
    read_quantity,
    read_with,
    spelled,
)
from unhack.verifiers.answers.sentences import named_choice, same_word
from unhack.verifiers.answers.shape import (
    RELATION,
    AnswerShape,
    Shape,
    holds_one,
    in_one_notation,
    read_shape,
    unnumbered,
    without_repeats,
)
from unhack.verifiers.answers.spelling import MAX_SPELLED_CHARS, SpellingError
from unhack.verifiers.answers.spelling.style import (
    in_order,
    in_other_case,
    same_text,
    turned,
    with_cases_apart,
)
from unhack.verifiers.answers.units import in_radians
from unhack.verifiers.base import VerifierFault
from unhack.verifiers.jobs import bad_ending, require_sandbox

MAX_MATH_CHARS = MAX_SPELLED_CHARS
"""Longest answer that is parsed."""
_PROFILE = Profile(role=Role.JUDGE, preload=("math_verify",))
_OPERATIONS = re.compile(
    r"\\binom\{\d*\}|\\(?:gcd|lcm|det|operatorname|max|min|bmod|pmod|mod|Gamma|lfloor|lceil)(?![A-Za-z])|!"
)
"""Operations that the parser computes while it parses, so that the tree does not show them."""
_Judging = Generator[list[Job], list[Outcome], "Judgement"]


def reading(text: str, rules: Rules) -> Fraction | str:
    """The value of a number, else the one spelling: to tell whether answers of a text agree."""
    quantity = read_quantity(text, rules)
    if quantity is not None:
        return quantity[0].value
    try:
        return spelled(text, rules)
    except SpellingError:
        return "".join(text.split())


def list_size(text: str, rules: Rules) -> int:
    """The number of members of the list that `text` is; 0 for other texts."""
    try:
        shape = read_shape(spelled(text, rules))
    except SpellingError:
        return 0
    return len(shape.members) if shape.kind is AnswerShape.LIST else 0


def judge_math(
    gold: str, answer: str, *, rules: Rules, limits: Limits
) -> Generator[list[Job], list[Outcome], Judgement]:
    """Compare two expressions; yields jobs. Raises VerifierFault when the gold answer is broken."""
    if len(answer) > MAX_MATH_CHARS:
        return fail(f"the answer is longer than {MAX_MATH_CHARS} characters")
    said = same_word(gold, answer)
    if said is not None:
        return PASSED if said else fail("wrong answer")
    answer = named_choice(gold, answer)
    if statements.is_pair(gold, rules.question) and (
        gold.startswith("0,") or list_size(answer, rules) == 2
    ):
        gold = gold.replace(",", ";")
    try:
        gold = statements.matrix_side(spelled(gold, rules))
    except SpellingError:
        return PASSED if gold.split() == answer.split() else fail(_AS_TEXT)
    try:
        answer = spelled(answer, rules)
    except SpellingError as error:
        return fail(f"the answer is no mathematical expression that can be read: {error}")
    gold, answer = with_named_derivatives(gold, answer)
    if same_text(gold, answer) or _one_word(gold, answer):
        return PASSED
    chosen = same_choice(gold, answer)
    if chosen is not None:
        return PASSED if chosen else fail("wrong answer")
    if statements.is_joined_otherwise(gold, answer):
        return fail("wrong answer")
    comparison = _Comparison(rules, limits)
    golds = statements.sides_of(gold)
    answer, decimal = statements.exact_side(golds[-1] if len(golds) == 1 else "", answer)
    judgement = yield from comparison.compare(*read_both(golds[0], answer))
    if judgement.status is Status.FAILED and len(golds) > 1:
        judgement = yield from comparison.compare(*read_both(golds[1], answer))
    elif judgement.status is Status.PASSED and decimal:
        comparison.allow(statements.last_place(decimal))
        judgement = yield from comparison.compare(*read_both(golds[0], decimal))
    return replace(judgement, outcomes=tuple(comparison.outcomes))


def _one_word(gold: str, answer: str) -> bool:
    """True for `\\text{red}` and `Red`, a word too short to be told from letters."""
    texts = [text.removeprefix("\\text{").removesuffix("}") for text in (gold, answer)]
    plain = texts != [gold, answer] and len(texts[0]) > 2 and all(map(str.isalpha, texts))
    return plain and texts[0].casefold() == texts[1].casefold()


_SUM = re.compile(r"[-+/]|\\frac")
_MAX_TRIES = 40
"""Pairs of parts that are tried by jobs in one comparison."""


class _Comparison:
    """One comparison of two shapes, part by part."""

    def __init__(self, rules: Rules, limits: Limits) -> None:
        self._rules = rules
        self._limits = limits
        self._tries = 0
        self.outcomes: list[Outcome] = []

    def allow(self, difference: float) -> None:
        """Take what differs by no more for equal."""
        self._rules = replace(self._rules, abs_tol=difference)

    def compare(self, gold: Shape, answer: Shape) -> _Judging:
        """Compare two shapes with their names and units."""
        gold = replace(gold, text=statements.concluded(gold.text))
        answer = with_letters_of(
            gold, statements.as_listed(gold, statements.without_domain(gold, answer))
        )
        whole = [f"{item.name}={item.text}".removeprefix("=") for item in (gold, answer)]
        kinds = {gold.kind, answer.kind}
        if gold.name and answer.name and not same_text(gold.name, answer.name):
            if kinds != {AnswerShape.LEAF} or gold.name not in answer.text:
                return fail(f"an answer for {answer.name[:20]}, which was not asked")
            return (yield from self._compare_leaves(*whole))
        related = kinds == {AnswerShape.LEAF} and all(map(RELATION.search, whole))
        if related and bool(gold.name) != bool(answer.name):
            return (yield from self._compare_leaves(*whole))
        gold, answer = _in_radians(gold, answer), _in_radians(answer, gold)
        if not self._rules.unit_fits(gold.unit, answer.unit):
            return fail(OTHER_UNIT)
        if not gold.name and not RELATION.search(gold.text):
            answer = statements.asked_value(answer, self._rules.question)
            answer = statements.stated(statements.as_remainder(answer))
        elif not RELATION.search(answer.text) and not _SUM.search(gold.text.partition("=")[0]):
            gold = statements.stated(gold)
        gold, answer = in_one_notation(gold, answer)
        sets = [part.kind is AnswerShape.SET for part in (gold, answer)]
        if sets == [False, True] and holds_one(answer):
            answer = answer.members[0]
        if sets == [True, False] and holds_one(gold):
            gold = gold.members[0]
        kinds = {gold.kind, answer.kind}
        if kinds <= {AnswerShape.LIST, AnswerShape.SET}:
            return (yield from self._compare_members(gold, answer))
        if kinds == {AnswerShape.LEAF}:
            return (yield from self._compare_leaves(gold.text, answer.text))
        if gold.kind is AnswerShape.RATIO and "ratio" in self._rules.question:
            gold = replace(
                gold, kind=AnswerShape.LEAF, text=_quotient(gold, self._rules) or gold.text
            )
            if answer.kind is AnswerShape.LEAF:
                return (yield from self._compare_leaves(gold.text, answer.text))
        quotient = _quotient(answer, self._rules) if gold.kind is AnswerShape.LEAF else None
        if quotient is not None:
            return (yield from self._compare_leaves(gold.text, quotient))
        if len(kinds) > 1:
            united = AnswerShape.TUPLE in kinds and _UNITED.search(gold.text + answer.text)
            if AnswerShape.LEAF in kinds and (AnswerShape.MATRIX in kinds or united):
                return (yield from self._compare_leaves(gold.text, answer.text))
            return fail("wrong answer")
        if gold.brackets != answer.brackets or len(gold.members) != len(answer.members):
            return fail("wrong answer")
        return (yield from self._compare_in_order(gold.members, answer.members))

    def _compare_in_order(self, gold: Sequence[Shape], answer: Sequence[Shape]) -> _Judging:
        for one, other in zip(gold, answer, strict=True):
            judgement = yield from self.compare(one, other)
            if judgement.status is not Status.PASSED:
                return judgement
        return PASSED

    def _compare_members(self, gold: Shape, answer: Shape) -> _Judging:
        """Pair off members; those that are plainly the same first."""
        asked, given = list(gold.members), list(answer.members)
        if gold.kind is AnswerShape.SET:
            asked, given = without_repeats(asked), without_repeats(given)
        asked, given = unnumbered(asked), unnumbered(given)
        names = {item.name for item in asked}
        called = [item.name for item in given]
        order = in_order(called) if all(called) and not any(names) else None
        if all(name.startswith("\\text{") for name in called) and not any(names):
            order = list(range(len(called)))  # `sister: 60, brother: 180` for `60, 180`
        if order is not None and gold.kind is AnswerShape.LIST and len(asked) == len(given):
            ordered = [replace(given[at], name="") for at in order]  # `c=5, a=1, b=2` for `1, 2, 5`
            return (yield from self._compare_in_order(asked, ordered))
        told = {item.name for item in given}
        if len(names) > 1 and told != names and ("" not in names or names - {""} - told):
            return fail("an answer whose members are named otherwise")
        if len(asked) != len(given):
            return fail("wrong answer")
        for one in tuple(asked):
            twin = next((item for item in given if item == one), None)
            if twin is not None:
                asked.remove(one)
                given.remove(twin)
        for one in asked:
            for other in given:
                judgement = yield from self.compare(*read_again(one, other))
                if judgement.status is Status.PASSED:
                    given.remove(other)
                    break
                if judgement.status is not Status.FAILED:
                    return judgement
            else:
                return fail("wrong answer")
        return PASSED

    def _compare_leaves(self, gold: str, answer: str) -> _Judging:
        rules = self._rules
        gold, answer = turned(gold), turned(answer)
        if same_text(gold, answer) or same_text(gold, "=".join(reversed(answer.split("=")))):
            return PASSED
        if asks_dimensions(rules.question):
            same = statements.same_dimensions(gold, answer)
            if same is not None:
                return PASSED if same else fail("wrong answer")
        answer = multiplied(answer)
        gold_number, number = read_with(rules, gold), read_with(rules, answer)
        if gold_number is not None and number is not None:
            return judge_numbers(gold_number, number, rules)
        if RELATION.search(gold) and not RELATION.search(answer):
            return fail("wrong answer")
        if rules.evaluated:
            told = gold_number is not None and gold_number == read_with(
                rules, statements.concluded(answer)
            )
            if gold_number is not None and gold_number.evaluated and not told:
                return fail("the answer is not one number in evaluated form")
            if _OPERATIONS.search(answer.rpartition("=")[2]) and not (
                _OPERATIONS.search(gold) or "\\binom" in gold
            ):
                return fail("the answer is not in evaluated form")
        wanted, given = map(for_parser, with_factors(gold, answer))
        if wanted is None or given is None:
            return fail(_AS_TEXT if wanted is None else "wrong answer: a notation of its own")
        if in_other_case(wanted, given):
            return fail("the answer has a letter in the other case")
        self._tries += 1
        if self._tries > _MAX_TRIES:
            return fail(f"an answer of which more than {_MAX_TRIES} pairs of parts are unlike")
        return (yield from self._ask(*with_cases_apart(wanted, given)))

    def _ask(self, gold: str, answer: str) -> _Judging:
        rules = self._rules
        fields: dict[str, Any] = {"text": answer, "percent": rules.percent.value}
        job = jobs.judge("math_read", fields, limits=self._limits, profile=_PROFILE)
        [read] = yield [job]
        self.outcomes.append(read)
        require_sandbox(read)
        claim = _last_line(read)
        if claim is None or claim[1] != "tree":
            return _fail_to_read(read, claim)
        fields = {
            "gold": gold,
            "tree": str(claim[2]),
            "percent": rules.percent.value,
            "evaluated": rules.evaluated,
            "rel_tol": repr(rules.rel_tol),
            "abs_tol": repr(rules.abs_tol),
            "each": True,
        }
        job = jobs.judge("math_compare", fields, limits=self._limits, profile=_PROFILE)
        [compared] = yield [job]
        self.outcomes.append(compared)
        require_sandbox(compared)
        return _read_comparison(read, compared)


def _quotient(ratio: Shape, rules: Rules) -> str | None:
    """`2/3` of `2:3`; None for what is no ratio of two numbers."""
    if ratio.kind is not AnswerShape.RATIO or len(ratio.members) != 2 or ratio.unit:
        return None
    first, second = ratio.members[0].text, ratio.members[1].text
    numbers = [read_with(rules, text) for text in (first, second)]
    if second == "1":
        return first
    if numbers[0] is None or numbers[1] is None or not numbers[1].value:
        return None
    return str(numbers[0].value / numbers[1].value)


def _in_radians(shape: Shape, other: Shape) -> Shape:
    text = in_radians(shape.text, shape.unit, (other.text, other.unit))
    if text is not None:
        return replace(shape, text=text, unit="")
    turned_round = other.unit == "degree" and shape.unit == "radian" and "\\pi" in shape.text
    return replace(shape, unit="") if turned_round else shape


_AS_TEXT = "the gold answer is in a notation that is compared as text, and the answer differs"
_UNITED = re.compile(r"\\(?:cup|cap|setminus)(?![A-Za-z])")


def _last_line(outcome: Outcome) -> list[Any] | None:
    lines = [line for line in jobs.result_lines(outcome.result) if len(line) > 1]
    return lines[-1] if lines else None


def _fail_to_read(read: Outcome, claim: list[Any] | None) -> Judgement:
    """The completion's text could not be read, which is its own doing."""
    bad = bad_ending(read)
    if bad is not None:
        return Judgement(bad[0], f"reading the answer: {bad[1]}", (read,))
    if claim is None:
        raise VerifierFault("math: reading the answer gave no result")
    reason = f" ({str(claim[-1])[:150]})"
    return fail(f"the answer is no mathematical expression that can be read{reason}", read)


def _read_comparison(read: Outcome, compared: Outcome) -> Judgement:
    claim = _last_line(compared)
    bad = bad_ending(compared)
    if claim is None or claim[1] == "fault":
        why = bad[1] if bad is not None else "no result" if claim is None else str(claim[2])
        raise VerifierFault(f"math: {why}")
    if claim[1] == "equal":
        if claim[2] is True:
            return Judgement(Status.PASSED, "", (read, compared))
        return fail(str(claim[3])[:300] or "wrong answer", read, compared)
    status, why = bad or (Status.ERROR, "the comparison ended without a result")
    return Judgement(status, f"comparing the answer: {why}", (read, compared))
