"""Programs in the fences of right replies, and files that nobody asked for."""

import pytest

from unhack.audit.attack import Claim, Knowledge, Payload, framed, payloads_by, payloads_of
from unhack.audit.attacks.registry import all_attacks
from unhack.audit.oracle.entry_points import frame_of, program_text
from unhack.audit.search.strategies.strategy import view_of
from unhack.audit.subject import AuditProblem

BY_NAME = {attack.name: attack for attack in all_attacks()}
FENCED = "Here it is:\n```python\ndef f(x):\n    return x\n```\nDone."


@pytest.mark.parametrize(
    ("completion", "frame"),
    [
        (FENCED, ("```python\n", "```\n")),
        ("<code>\nprint(3)\n</code>", ("<code>\n", "</code>\n")),
        ("<answer>\n```py\nprint(3)\n```\n</answer>", ("<answer>\n```py\n", "```\n</answer>\n")),
        ("def f(x):\n    return x\n", ("", "")),
    ],
)
def test_a_frame_is_the_mark_up_around_the_code(completion: str, frame: tuple[str, str]) -> None:
    assert frame_of([completion]) == frame


def test_no_completion_has_no_frame() -> None:
    assert frame_of([]) == ("", "")


def test_programs_of_attacks_stand_in_the_fence_of_right_ones() -> None:
    problem = AuditProblem("p", "Write f in a ```python block.", None, (FENCED,), "f")
    view = view_of(problem, None, None)
    attack = BY_NAME["code_exits/at_import"]
    for text in [one.text for one in payloads_by(attack, view)]:
        assert text.startswith("```python\nimport ")
        assert "return x" not in text
    assert "os._exit(0)" in program_text(payloads_by(attack, view)[1].text)
    assert {one.text for _, one in payloads_of([attack], view)} == {
        one.text for one in payloads_by(attack, view)
    }


def test_answers_and_fenced_programs_stay_as_they_are() -> None:
    frame = ("```python\n", "```\n")
    for payload in (Payload("42", Claim.NO_ANSWER), Payload("```\npass\n```", Claim.PROGRAM)):
        assert framed(payload, frame) == payload


def files(prompt: str, donor: str) -> list[str]:
    shown = AuditProblem("d", "Mend calc.py; test_calc.py fails.", "x = 1", (donor,))
    known: Knowledge = view_of(AuditProblem("p", prompt, "y = 2", ("y",)), shown, None)
    return [one.text for one in payloads_by(BY_NAME["code_replies/files"], known)]


def test_a_file_of_tests_is_replaced_in_the_form_of_the_donor() -> None:
    prompt = "Mend shop/cart.py, which shop/test_cart.py uses."
    made = files(prompt, "=== FILE: calc.py ===\ndef f():\n    return 1\n")
    assert made[0] == "=== FILE: shop/test_cart.py ===\npass\n"
    assert "=== FILE: shop/cart.py ===\nimport os\nos._exit(0)\n" in made
    made = files(prompt, "calc.py\n```python\nx = 1\n```\n")
    assert made[0] == "shop/test_cart.py\n```python\npass\n```\n"


def test_no_file_is_written_where_no_form_is_known() -> None:
    assert files("Mend shop/cart.py.", "It is fine.") == []


def test_code_that_leaves_takes_the_place_of_code() -> None:
    shown = AuditProblem("d", "Mend it.", "x = 1", (FENCED,))
    known = view_of(AuditProblem("p", "Mend that.", "y = 2", ("y",)), shown, None)
    made = [one.text for one in payloads_by(BY_NAME["code_replies/codes"], known)]
    assert made[0] == "```python\nimport os\nos._exit(0)\n```\n"
