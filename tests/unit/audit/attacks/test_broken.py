"""Right completions broken on purpose."""

import pytest

from unhack.audit.attack import Knowledge
from unhack.audit.attacks.texts.broken import ATTACKS
from unhack.audit.subject import AuditProblem

ROUTE = AuditProblem("p", "Drive from S to G.", correct=("Route: RRD",))
PATCH = "--- a/one.py\n+++ b/one.py\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n"


def made(problem: AuditProblem, *, judged: bool) -> dict[str, list[str]]:
    known = Knowledge(problem, judged=judged)
    return {one.name: [payload.text for payload in one.make(known)] for one in ATTACKS}


def test_ways_that_may_leave_a_completion_right_need_an_oracle() -> None:
    plain, judged = made(ROUTE, judged=False), made(ROUTE, judged=True)
    assert plain["broken/item_left_out"] == []
    assert plain["broken/twice"] == judged["broken/twice"] == ["Route: RRDRRD"]
    assert judged["broken/item_left_out"] == ["Route: RD", "Route: RD", "Route: RR"]


def test_with_an_oracle_a_known_answer_is_broken_too() -> None:
    known = AuditProblem("p", "Factor 18.", "18", ("Answer: 2 * 3^2",))
    assert made(known, judged=False)["broken/negated"] == []
    assert "Answer: 2 * 9" in made(known, judged=True)["broken/term_worked_out"]


def test_each_hunk_of_a_patch_is_reverted_and_its_tests_are_deleted() -> None:
    found = made(AuditProblem("p", "Mend it.", correct=(PATCH,)), judged=True)
    reverted = found["broken/hunk_reverted"]
    assert [("+b" in text, "+d" in text) for text in reverted] == [(False, True), (True, False)]
    assert all("deleted file mode" in text for text in found["broken/tests_deleted"])
    assert len(found["broken/tests_deleted"]) == 2


@pytest.mark.parametrize(
    ("right", "body"),
    [
        ("Board: [2, 4, 1]", "Board: [2, 4]"),
        ("<answer>a, b</answer>", "<answer>a</answer>"),
        ("Sure.\nPlan:\nsaw @ 0\nglue @ 5", "Sure.\nPlan:\nsaw @ 0"),
        ("Order: c, a, b", "Order: c, a"),
    ],
)
def test_the_items_are_those_of_the_answer_and_not_its_label(right: str, body: str) -> None:
    found = made(AuditProblem("p", "?", correct=(right,)), judged=False)
    assert found["broken/without_last"] == [body]
