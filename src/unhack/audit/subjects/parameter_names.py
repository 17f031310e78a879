"""Roles of a reward function's parameters, told from their names.

Covered: the usual names, and names made of them (`gt_answer`, `model_response`).
Not covered: names that say nothing; their order decides (`signatures`).
"""

from __future__ import annotations

from collections.abc import Iterable

COMPLETION = frozenset(
    """completion completions response responses solution_str solution_strs output outputs
    prediction predictions pred preds predict predict_str text model_output model_response
    generated generation generated_text answer_text sample_str action content student_answer
    given_answer model_answer pred_answer predicted_answer candidate submission response_str
    response_text generated_response pred_str extracted_answer hypothesis model_solution
    completion_text output_str llm_output given reply message code
    pred_responses string s value""".split()  # noqa: SIM905
)
ANSWER = frozenset(
    """answer answers solution solutions ground_truth ground_truths gold golds label labels
    target targets reference references expected expected_answer expected_output gt gts
    correct_answer gold_answer true_answer right_answer reference_answer final_answer ref truth
    groundtruth ground_truth_answer gold_str ref_answer answer_key solution_text
    correct""".split()  # noqa: SIM905
)
PROMPT = frozenset(
    """prompt prompts question questions query queries problem problems input inputs instruction
    input_text question_text prompt_str""".split()  # noqa: SIM905
)
BEARING = ANSWER | frozenset(
    """state info task doc entry task_info metadata test_cases tests test_list verification_info
    reward_model test_cases_path trace episode trajectory unit_tests test_code
    cases golden_answers""".split()  # noqa: SIM905
)
"""Parameters that may hold the right answer, or what it is checked with."""
_PARTS: tuple[tuple[str, str], ...] = (
    (
        "completion",
        "pred preds predicted prediction predictions predict generated model student candidate "
        "submission llm assistant given agent",
    ),
    (
        "answer",
        "gt gts gold golds golden truth truths ref refs reference references expected target "
        "targets label labels correct groundtruth",
    ),
    (
        "completion",
        "response responses completion completions output outputs action reply hypothesis hyp "
        "generation text str",
    ),
    ("answer", "answer answers solution solutions"),
    ("prompt", "prompt question problem query instruction"),
)


def role_of(name: str) -> str:
    """`completion`, `answer` or `prompt` for a usual name, else empty."""
    if name in COMPLETION:
        return "completion"
    return "answer" if name in ANSWER else "prompt" if name in PROMPT else ""


def likely_role(name: str) -> str:
    """The role that a part of the name suggests; empty for none."""
    parts = set(name.lower().strip("_").split("_"))
    return next((role for role, words in _PARTS if parts & set(words.split())), "")


def guess_roles(names: Iterable[str]) -> dict[str, str]:
    """Roles of names that are not usual: each role once, and none that a usual name has."""
    names = list(names)
    taken = {role_of(name) for name in names}
    found: dict[str, str] = {}
    for name in names:
        role = likely_role(name)
        if role and not role_of(name) and role not in taken:
            taken.add(role)
            found[name] = role
    return found
