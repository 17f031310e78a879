"""Roles of a reward function's parameters, told from their names.

Covered: the usual names, and names made of them (`gt_answer`, `model_response`).
Not covered: names that say nothing; their order decides (`signatures`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from copy import copy

Function = ast.FunctionDef | ast.AsyncFunctionDef

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


def without_bound(function: Function, partial: ast.Call) -> Function:
    """The function without the parameters that `partial(function, ...)` binds; those behind one
    that it binds by name are taken by name."""
    spec = function.args
    bound = {item.arg for item in partial.keywords}
    defaults = dict(zip([one.arg for one in spec.args[::-1]], spec.defaults[::-1], strict=False))
    taken = [*spec.posonlyargs, *spec.args][len(partial.args) - 1 :]
    first = next((at for at, one in enumerate(taken) if one.arg in bound), len(taken))
    named = [one for one in taken[first:] if one.arg not in bound]
    pairs = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    named_too = [(one, value) for one, value in pairs if one.arg not in bound]
    other = copy(function)
    other.args = copy(spec)
    other.args.posonlyargs = []
    other.args.args = taken[:first]
    other.args.defaults = [defaults[one.arg] for one in taken[:first] if one.arg in defaults]
    other.args.kwonlyargs = [*named, *(one for one, _ in named_too)]
    other.args.kw_defaults = [
        *(defaults.get(one.arg) for one in named), *(value for _, value in named_too)
    ]  # fmt: skip
    return other
