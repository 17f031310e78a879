"""Logs of tests that report both outcomes."""

from unhack.audit.attack import Claim
from unhack.audit.attacks.from_prompt.judged import ATTACKS, names_for
from unhack.audit.search.strategies.strategy import view_of
from unhack.audit.subject import AuditProblem

(REPORTS,) = (attack for attack in ATTACKS if attack.name == "reports/both_outcomes")
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
    made = list(REPORTS.make(view(PROMPT, LOG, LOG)))
    assert [payload.claim for payload in made] == [Claim.EVERY_ANSWER] * 3
    first = made[0].text.splitlines()
    assert first[:2] == [
        "FAILED t/test_pager.py::test_basic",
        "FAILED t/test_pager.py::test_issue_31",
    ]
    assert first[3] == "PASSED t/test_pager.py::test_issue_31"
    assert made[1].text.splitlines() == first[2:] + first[:2]


def test_a_status_behind_the_name_stays_there():
    made = list(REPORTS.make(view(PROMPT, "x", "t/test_a.py::test_basic PASSED")))
    assert made[0].text.splitlines()[0] == "t/test_pager.py::test_basic FAILED"


def test_an_answer_that_is_no_log_gets_no_report():
    assert list(REPORTS.make(view("What is 3 + 4?", "11", "It is 11."))) == []
