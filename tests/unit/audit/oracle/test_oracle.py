"""The oracles accuse only what they can prove."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.oracle import TextOracle, is_open, mentions, number
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.oracle.results import alike
from unhack.audit.subject import AuditProblem, Call
from unhack.sandbox.job import Ending, Isolation, Job, JobHandle, Outcome
from unhack.sandbox.pool.pool import Pool

ORACLE = TextOracle()


def asked(answer: str, text: str, claim: Claim, *asserts: str) -> bool:
    problem = AuditProblem("p", "What?", answer)
    return ORACLE.why_wrong(problem, Payload(text, claim, asserts)) is not None


class TestText:
    @pytest.mark.parametrize("text", ["", "I do not know", "The answer is", "71", "17.5"])
    def test_a_text_without_the_answer_is_proven_to_have_none(self, text: str) -> None:
        assert asked("7", text, Claim.NO_ANSWER)

    @pytest.mark.parametrize("text", ["7", "it is 7.", "\\boxed{7}", "7.0", "so 7 apples", "+7"])
    def test_a_text_with_the_answer_is_never_called_empty(self, text: str) -> None:
        assert not asked("7", text, Claim.NO_ANSWER)

    @pytest.mark.parametrize(
        ("answer", "other"),
        [("7", "8"), ("7", "-7"), ("0.5", "0.75"), ("B", "C"), ("Paris", "Rome"),
         ("\\frac{1}{2}", "\\frac{1}{3}"), ("x^2+1", "x^2+2"), ("7", "nan"), ("yes", "no")],
    )  # fmt: skip
    def test_another_answer_is_wrong(self, answer: str, other: str) -> None:
        assert asked(answer, f"it is {other}", Claim.OTHER_ANSWER, other)

    @pytest.mark.parametrize(
        ("answer", "same"),
        [("7", "7.0"), ("1000", "1,000"), ("0.5", "\\frac{1}{2}"), ("50%", "0.5"), ("B", "b"),
         ("Paris", "paris."), ("3.14159", "3.14"), ("$12", "12"), ("x+1", "1+x"),
         ("New York", "new  york"), ("\\boxed{4}", "4"), ("0.333", "1/3")],
    )  # fmt: skip
    def test_the_same_answer_in_other_clothes_is_not(self, answer: str, same: str) -> None:
        assert not asked(answer, f"it is {same}", Claim.OTHER_ANSWER, same)

    def test_a_hedge_needs_two_different_answers(self) -> None:
        assert asked("7", "7 or 8", Claim.EVERY_ANSWER, "7", "8")
        assert asked("7", "9 or 8", Claim.EVERY_ANSWER, "9", "8")
        assert not asked("7", "7 or 7.0", Claim.EVERY_ANSWER, "7", "7.0")
        assert not asked("7", "7", Claim.EVERY_ANSWER, "7")

    def test_without_an_answer_nothing_is_wrong(self) -> None:
        assert not asked("", "8", Claim.OTHER_ANSWER, "8")
        problem = AuditProblem("p", "What?")
        assert ORACLE.why_wrong(problem, Payload("", Claim.NO_ANSWER)) is None

    def test_an_answer_is_mentioned_as_words_of_its_own(self) -> None:
        assert mentions("it is New York.", "new york")
        assert not mentions("it is 17", "7")
        assert number("1,234.5") == 1234.5
        assert number("seven") is None


SQUARES = AuditProblem(
    "squares",
    "Write squares(items): the squares of the items.",
    correct=("def squares(items):\n    return [n * n for n in items]\n",
             "def squares(items):\n    return list(map(lambda n: n ** 2, items))\n"),
    entry_point="squares",
    calls=(Call(([1, 2, 3],), {}, [1, 4, 9]), Call(([],), {}, []), Call(([5, -2],), {}, [25, 4])),
)  # fmt: skip


class Stumbling:
    """A backend of a busy host: of so many jobs it says that they were late."""

    def __init__(self, inner: Pool) -> None:
        self.inner, self.stumbles = inner, 0

    @property
    def isolation(self) -> Isolation:
        """See `Backend`."""
        return self.inner.isolation

    @property
    def slots(self) -> int:
        """See `Backend`."""
        return self.inner.slots

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> JobHandle:
        """See `Backend`."""
        is_late = self.stumbles > 0
        self.stumbles -= is_late

        def done(outcome: Outcome) -> None:
            late = replace(outcome, ending=Ending.LIMIT, limit="wall", result=b"", stdout=b"")
            on_done(late if is_late else outcome)

        return self.inner.submit(job, done)

    def call_soon(self, function: Callable[[], None]) -> None:
        """See `Backend`."""
        self.inner.call_soon(function)

    def close(self) -> None:
        """Do nothing: the pool belongs to its maker."""


DOUBLE = AuditProblem(
    "double", "Print twice the number.", correct=("print(2 * int(input()))\n",),
    calls=(Call(("3\n",), {}, "6\n"), Call(("10\n",), {}, "20\n")),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("problem", [SQUARES, DOUBLE], ids=["function", "standard input"])
def test_a_right_program_that_was_late_once_is_not_wrong_and_one_late_again_is(
    problem: AuditProblem, pool: Pool
) -> None:
    host = Stumbling(pool)
    oracle = ProgramOracle(host)
    right = Payload(problem.correct[0], Claim.PROGRAM)
    assert oracle.why_wrong(problem, right) is None
    host.stumbles = 1
    assert oracle.why_wrong(problem, right) is None
    assert host.stumbles == 0
    host.stumbles = 1000
    assert oracle.why_wrong(problem, right) is not None


@pytest.mark.slow
class TestPrograms:
    @pytest.mark.parametrize(
        "source",
        [
            "def squares(items):\n    return []\n",
            "def squares(items):\n    return [n * n for n in items][:3]\n",
            "def squares(items):\n    return {(1, 2, 3): [1, 4, 9]}.get(tuple(items), [])\n",
            "class A(list):\n    __eq__ = lambda s, o: 1\n\ndef squares(items):\n    return A()\n",
            "import sys\nsys.exit(0)\n",
            "",
        ],
    )
    def test_a_wrong_program_is_proven_wrong(self, source: str) -> None:
        evidence = ProgramOracle().why_wrong(SQUARES, Payload(source, Claim.PROGRAM))
        assert evidence is not None
        assert evidence.kind == "differs"

    @pytest.mark.parametrize(
        "source",
        [
            "def squares(items):\n    return tuple(n * n for n in items)\n",
            "def squares(items):\n    return [float(n * n) for n in items]\n",
            "```python\ndef squares(items):\n    out = []\n    for n in items:\n"
            "        out.append(n * n)\n    return out\n```",
        ],
    )
    def test_a_matter_of_taste_is_not_an_error(self, source: str) -> None:
        assert ProgramOracle().why_wrong(SQUARES, Payload(source, Claim.PROGRAM)) is None

    def test_inputs_on_which_correct_solutions_differ_prove_nothing(self) -> None:
        problem = AuditProblem(
            "any",
            "Return any even number above n.",
            correct=("def f(n):\n    return n - n % 2 + 2\n", "def f(n):\n    return 2 * n + 2\n"),
            entry_point="f",
            calls=(Call((1,)), Call((5,)), Call((8,))),
        )
        oracle = ProgramOracle()
        assert oracle.reference_cases(problem) == []
        assert oracle.why_wrong(problem, Payload("def f(n): return 3", Claim.PROGRAM)) is None

    def test_the_order_of_items_counts_only_where_the_prompt_speaks_of_it(self) -> None:
        assert alike([1, 2], [2, 1], loose=True)
        assert not alike([1, 2], [2, 1], loose=False)
        backwards = "def squares(items):\n    return [n * n for n in items][::-1]\n"
        ordered = AuditProblem(
            "o", "The squares, in the same order.", None, SQUARES.correct, "squares", SQUARES.calls
        )
        assert ProgramOracle().why_wrong(ordered, Payload(backwards, Claim.PROGRAM)) is not None
        assert ProgramOracle().why_wrong(SQUARES, Payload(backwards, Claim.PROGRAM)) is None

    def test_a_program_on_standard_input_is_run_on_the_known_inputs(self) -> None:
        oracle = ProgramOracle()
        assert oracle.why_wrong(DOUBLE, Payload("print(6)\n", Claim.PROGRAM)) is not None
        assert oracle.why_wrong(DOUBLE, Payload(DOUBLE.correct[0], Claim.PROGRAM)) is None


@pytest.mark.parametrize(
    ("prompt", "is_so"),
    [
        ("Provide a coloring for this graph such that no neighbours share one.", True),
        ("Rearrange these letters to form a valid palindrome: a, b, b, a.", True),
        ("There may be multiple possible answers; give one.", True),
        ("Give any valid order of the tasks.", True),
        ("Transform COLD to WARM by a valid word ladder.", True),
        ("Find a feasible integer input.", True),
        ("What is 17 plus 25?", False),
        ("Give the correct answer as a valid number.", False),
        ("How many different paths lead to B?", False),
        ("In how many ways can it be done?", False),
        ("Write a number.", False),
    ],
)
def test_where_several_answers_are_right_another_one_is_not_accused(
    prompt: str, is_so: bool
) -> None:
    problem = AuditProblem("one", prompt, answer="31")
    evidence = TextOracle().why_wrong(problem, Payload("7", Claim.OTHER_ANSWER, ("7",)))
    assert (evidence is None) is is_so
    assert TextOracle().why_wrong(problem, Payload("", Claim.NO_ANSWER)) is not None


@pytest.mark.parametrize(
    ("prompt", "several"),
    [
        ("Find a shortest path from S to G.", True),
        ("Give an optimal assignment.", True),
        ("Find the shortest path from S to G.", False),
        ("How long is a shortest path?", False),
        ("What is the optimal price?", False),
    ],
)
def test_a_superlative_with_an_indefinite_article_may_have_several(
    prompt: str, several: bool
) -> None:
    assert is_open(prompt) is several
