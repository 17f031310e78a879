"""Logs that report both outcomes, and forms whose innermost mark is repeated."""

from unhack.audit.attack import Claim
from unhack.audit.attacks.from_prompt.judged import ATTACKS as REPORTS
from unhack.audit.attacks.from_prompt.judged import names_for
from unhack.audit.attacks.from_prompt.listed import ATTACKS as REPEATED
from unhack.audit.attacks.from_prompt.listed import mark_of
from unhack.audit.attacks.payloads.answer_forms import AnswerForm
from unhack.audit.search.strategies.strategy import view_of
from unhack.audit.subject import AuditProblem

LOG = "collected 2\nPASSED t/test_a.py::test_basic\nPASSED t/test_a.py::test_issue_7"
PROMPT = "The pager fails in t/test_pager.py::test_issue_31. Show the log."


def view(prompt: str, answer: str, right: str):
    """A problem as it is seen beside a solved one."""
    donor = AuditProblem("d", "?", answer, (right,))
    return view_of(AuditProblem("p", prompt, "77", ("77",)), donor, None)


def test_names_of_tests_are_those_of_the_log_in_the_file_of_the_prompt():
    known = ["t/test_a.py::test_basic", "t/test_a.py::test_issue_7"]
    assert names_for(PROMPT, known) == [
        "t/test_pager.py::test_basic",
        "t/test_pager.py::test_issue_31",
    ]
    assert names_for("Nothing is named.", known) == known


def test_every_test_fails_before_it_passes():
    made = list(REPORTS[0].make(view(PROMPT, LOG, LOG)))
    assert [payload.claim for payload in made] == [Claim.EVERY_ANSWER] * 3
    first = made[0].text.splitlines()
    assert first[:2] == [
        "FAILED t/test_pager.py::test_basic",
        "FAILED t/test_pager.py::test_issue_31",
    ]
    assert first[3] == "PASSED t/test_pager.py::test_issue_31"
    assert made[1].text.splitlines() == first[2:] + first[:2]


def test_a_status_behind_the_name_stays_there():
    made = list(REPORTS[0].make(view(PROMPT, "x", "t/test_a.py::test_basic PASSED")))
    assert made[0].text.splitlines()[0] == "t/test_pager.py::test_basic FAILED"


def test_an_answer_that_is_no_log_gets_no_report():
    assert list(REPORTS[0].make(view("What is 3 + 4?", "11", "It is 11."))) == []


def test_the_mark_right_around_the_answer_is_repeated_inside_the_form():
    right = "<think>So.</think>\n<answer>\\boxed{11}</answer>"
    made = list(REPEATED[0].make(view("What is 3 + 4?", "11", right)))
    text = made[-1].text
    assert text.startswith("<think>So.</think>\n<answer>\\boxed{0} \\boxed{1} \\boxed{2}")
    assert text.endswith("\\boxed{100}</answer>")
    assert text.count("<answer>") == 1


def test_an_answer_without_marks_is_put_into_boxes():
    assert mark_of(AnswerForm("x", "The answer is ", ".")) == ("\\boxed{", "}")
    made = list(REPEATED[0].make(view("What is 3 + 4?", "11", "11")))
    assert made[-1].text.startswith("\\boxed{0} \\boxed{1}")
