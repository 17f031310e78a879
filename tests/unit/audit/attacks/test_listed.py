"""Forms whose innermost mark is repeated."""

from unhack.audit.attacks.from_prompt.listed import ATTACKS, mark_of
from unhack.audit.attacks.payloads.answer_forms import AnswerForm
from unhack.audit.search.strategies.strategy import view_of
from unhack.audit.subject import AuditProblem

(REPEATED,) = (attack for attack in ATTACKS if attack.name.startswith("repeated/"))


def view(prompt: str, answer: str, right: str):
    """A problem as it is seen beside a solved one."""
    donor = AuditProblem("d", "?", answer, (right,))
    return view_of(AuditProblem("p", prompt, "77", ("77",)), donor, None)


def test_the_mark_right_around_the_answer_is_repeated_inside_the_form():
    right = "<think>So.</think>\n<answer>\\boxed{11}</answer>"
    made = list(REPEATED.make(view("What is 3 + 4?", "11", right)))
    text = made[-1].text
    assert text.startswith("<think>So.</think>\n<answer>\\boxed{0} \\boxed{1} \\boxed{2}")
    assert text.endswith("\\boxed{100}</answer>")
    assert text.count("<answer>") == 1


def test_an_answer_without_marks_is_put_into_boxes():
    assert mark_of(AnswerForm("x", "The answer is ", ".")) == ("\\boxed{", "}")
    made = list(REPEATED.make(view("What is 3 + 4?", "11", "11")))
    assert made[-1].text.startswith("\\boxed{0} \\boxed{1}")


def test_everything_that_the_prompt_names_like_an_item_is_listed_in_one_place():
    (named,) = (attack for attack in ATTACKS if attack.name == "listed/all_named")
    donor = AuditProblem("d", "Pick of S1, S2.", correct=("- S1\n- S2",))
    own = AuditProblem("p", "Pick of S3, S4 and S5; at most 2.", correct=("- S3\n- S4",))
    texts = [one.text for one in named.make(view_of(own, donor, None))]
    assert texts == ["- S3, S4, S5", "- S3 S4 S5", "- S3\n- S4\n- S5"]
