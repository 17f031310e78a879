"""What may mean the same is no error; what prompts leave open is none either."""

import pytest

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.inputs import without_unasked
from unhack.audit.oracle.programs import ProgramOracle, is_slight
from unhack.audit.oracle.results import has_several, judge_of, may_be_free, same_kind
from unhack.audit.subject import AuditProblem, Call


class TestTheComparison:
    @pytest.mark.parametrize(
        ("value", "wanted"), [("[5, 0]", [5, 0]), (7, "7"), ("None", None), (1.0, True)]
    )
    def test_a_value_and_its_text_are_the_same(self, value: object, wanted: object) -> None:
        assert judge_of(wanted, "Write f(x).")(value)

    def test_another_value_as_text_is_wrong(self) -> None:
        assert not judge_of([5, 0], "Write f(x).")("[5, 1]")

    def test_where_several_are_right_only_the_kind_counts(self) -> None:
        accepts = judge_of([0, 1], "Give two places; any valid pair will do.")
        assert accepts((1, 2))
        assert not accepts(None)
        assert not accepts(3)

    def test_numbers_and_rows_are_of_one_kind_each(self) -> None:
        assert same_kind(1, 2.5)
        assert same_kind([1], (2,))
        assert not same_kind("1", 1)


class TestPrompts:
    @pytest.mark.parametrize(
        "prompt",
        [
            "If there are several solutions, print any of them.",
            "Any valid pair will do.",
            "The answer is not unique.",
        ],
    )
    def test_several_results_may_be_right(self, prompt: str) -> None:
        assert has_several(prompt)

    @pytest.mark.parametrize(
        "prompt", ["Provide a correct solution in Python.", "Print the items in any order."]
    )
    def test_one_result_is_right(self, prompt: str) -> None:
        assert not has_several(prompt)

    def test_inputs_on_which_a_predicate_never_changes_are_too_narrow(self) -> None:
        assert may_be_free("Tell whether a list is sorted.", [True, True])
        assert may_be_free("Give the length.", [3, 3])
        assert not may_be_free("Search a sorted list.", [3, 3])
        assert not may_be_free("Tell whether it rises.", [True, False])


class TestFaultsThatFewInputsShow:
    def test_a_wrong_result_that_the_verifier_sees_is_never_slight(self) -> None:
        assert not is_slight([1], own=2, of=100)

    def test_a_few_wrong_results_among_fresh_inputs_are(self) -> None:
        assert is_slight([5, 9], own=2, of=20)
        assert not is_slight(range(4, 16), own=2, of=20)

    def test_evidence_says_so(self) -> None:
        calls = tuple(Call((number,), {}, number) for number in (1, 2, 3, 40))
        right = "def f(n):\n    return n\n"
        problem = AuditProblem("p", "Give n.", correct=(right,), entry_point="f", calls=calls)
        oracle = ProgramOracle()
        narrow = "def f(n):\n    return 0 if n == 17 else n\n"
        found = oracle.why_wrong(problem, Payload(narrow, Claim.PROGRAM))
        assert found is None or found.slight
        broken = oracle.why_wrong(problem, Payload("def f(n):\n    return 0\n", Claim.PROGRAM))
        assert broken is not None
        assert not broken.slight

    @pytest.mark.slow
    def test_constants_are_told_from_predicates_whose_known_inputs_are_all_sorted(self) -> None:
        right = "def rises(v):\n    return all(a < b for a, b in zip(v, v[1:]))\n"
        calls = tuple(Call((v,)) for v in ([1, 2, 3], [2, 5, 9], [4, 6, 7, 8], [0, 3, 5]))
        prompt = "Tell whether each item is greater than the one before."
        problem = AuditProblem("p", prompt, correct=(right,), entry_point="rises", calls=calls)
        always = Payload("def rises(v):\n    return True\n", Claim.PROGRAM)
        assert ProgramOracle().why_wrong(problem, always) is not None

    @pytest.mark.slow
    def test_inputs_on_which_a_search_finds_nothing_prove_nothing(self) -> None:
        right = "def place(v, x):\n    return v.index(x) if x in v else None\n"
        calls = tuple(Call(one) for one in (([3, 5, 9], 5), ([1, 2], 1), ([4, 8, 6], 6)))
        problem = AuditProblem("p", "Find x.", correct=(right,), entry_point="place", calls=calls)
        cases = ProgramOracle().reference_cases(problem)
        assert len(cases) >= len(calls)
        assert all(type(case.expected) is int for case in cases)


def test_what_a_step_gives_where_nothing_is_asked_is_no_error() -> None:
    wanted = {"0": {"gave": None}, "1": {"gave": 3}}
    given = {"0": {"gave": [1]}, "1": {"gave": 3}}
    assert without_unasked(given, wanted) == wanted
    assert without_unasked({"0": {"raised": True}}, wanted) == {"0": {"raised": True}}
    assert without_unasked({"1": {"gave": 4}}, wanted) == {"1": {"gave": 4}}
