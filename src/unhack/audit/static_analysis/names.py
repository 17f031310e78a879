"""Labels of a verifier's parameters by their names: completion, right answer, input.

Covered: the signatures of the usual frameworks, script verifiers, and plain pairs by position.
Not covered: names that say nothing at other positions; they carry no label.

The labels that data flow attaches to values.
"""

from __future__ import annotations

import ast

Function = ast.FunctionDef | ast.AsyncFunctionDef

COMPLETION, GOLD, INPUT = "completion", "gold", "input"
BATCH = "batch"
LOADED = "loaded"  # a module, namespace or function of the completion, in this process


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_SURE = words(
    "completion completions solution_str solution_strs response responses pred_responses prediction"
    " predictions pred preds predicted model_output model_outputs model_answer model_response"
    " llm_output generation generated generated_text output_text sample_str solution_path code_path"
    " submission submission_path candidate candidate_path candidate_code action state trajectory"
    " queries student student_answer user_answer predict predict_str answer_str resp guess episode"
    " solution_file tokenized_prediction action_text"
)
_MAYBE = (
    *("output", "text", "code", "solution", "answer", "module", "program", "outputs", "texts"),
    *("string", "solve", "result", "func", "function", "fn", "path", "argv"),
    *("folder", "directory", "workdir", "repo"),
)
_CALLABLES = words("module solve func function fn")
_GOLD = words(
    "ground_truth ground_truths answer answers label labels gold golds golden target targets"
    " reference references ref refs expected wanted truth correct correct_answer solution solutions"
    " entry doc task_info test_cases test_cases_path tests tests_path cases cases_path gt gts"
    " reward_model reward_spec reward_specs ground_truth_answer gold_answer target_answer metadata"
    " test_cases_file testcases test_list expected_output expected_answer"
)
_KEYS = _GOLD | {"output", "outputs", "test", "expect", "result", "accepted", "right", "key"}
_INPUTS = words("input inputs args arguments kwargs stdin given question prompt problem params in")
_BATCHES = words(
    "completions solution_strs responses pred_responses predictions ground_truths answers labels"
    " golds targets references solutions queries prompts data_sources preds gts texts outputs"
    " reward_specs"
)


def parameters(function: Function) -> list[ast.arg]:
    """Named parameters in order, without `self` and `cls`."""
    spec = function.args
    named = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    return named[1:] if named and named[0].arg in ("self", "cls") else named


def labels_of(function: Function) -> dict[str, frozenset[str]]:
    """Labels of the parameters of a function that is called from outside."""
    named = parameters(function)
    names = [one.arg for one in named]
    heard = [name for name in names if name in _SURE]
    if not heard:
        heard = [name for name in names if name in _MAYBE][:1]
    if not heard and len(names) >= 2 and not set(names) <= _INPUTS:
        heard = [name for name in names if name not in _GOLD and name not in _INPUTS][:1]
    golds = [name for name in names if name in _GOLD and name not in heard]
    if not golds and heard and len(names) == 2:
        golds = [name for name in names if name not in heard and name not in _INPUTS]
    batch = any(name in _BATCHES for name in heard) and not _is_text(function, heard[0])
    found: dict[str, frozenset[str]] = {}
    for name in names:
        kind = {COMPLETION} if name in heard else {GOLD} if name in golds else set[str]()
        if name in heard and name in _CALLABLES:
            kind.add(LOADED)
        if name in _INPUTS or name in ("prompts", "extra_info", "info"):
            kind = {INPUT}
        found[name] = frozenset(kind | ({BATCH} if batch else set()))
    if function.args.kwarg is not None:
        found[function.args.kwarg.arg] = frozenset({BATCH} if batch else ())
    return found


def _is_text(function: Function, name: str) -> bool:
    for one in parameters(function):
        if one.arg == name:
            return isinstance(one.annotation, ast.Name) and one.annotation.id == "str"
    return False


def hears_completion(function: Function) -> bool:
    """Tell whether a parameter is called the way completions are."""
    return any(one.arg in _SURE for one in parameters(function))


def label_of_key(name: str) -> str:
    """The label of a key or attribute of a row; empty when its name does not say."""
    if name in _INPUTS:
        return INPUT
    if name in _SURE:
        return COMPLETION
    return GOLD if name in _KEYS else ""


Labels = frozenset[str]

NOTHING: Labels = frozenset()

MANY = "many"  # a list, set or iterator of values
FLOAT = "float"  # a number read from the completion, not known to be finite
LENGTH = "length"  # how long a text of the completion is
MATCH = "match"  # a match object
RESULT = "result"  # what code of the completion gave, in this process
PROCESS = "process"  # a process that runs the completion
STDOUT = "stdout"  # its output
STATUS = "status"  # its exit status
SIMILAR = "similar"  # a measure of likeness
DIFFERENCE = "difference"  # right answer minus the completion's
JUDGE = "judge"  # what a judge model said
JUDGED = "judged"  # decided by comparing the completion with the right answer
FORMED = "formed"  # decided by the completion alone
GOLD_TEST = "gold_test"  # decided by the right answer alone

VERDICTS = frozenset({JUDGED, FORMED, GOLD_TEST})
_ORIGINS = frozenset({COMPLETION, GOLD, INPUT, RESULT, STDOUT, JUDGE, SIMILAR}) | VERDICTS


def plain(labels: Labels) -> Labels:
    """Labels of a value's origin, without those of its kind."""
    return labels & _ORIGINS


def element(labels: Labels) -> Labels:
    """Labels of one element of a collection."""
    return labels - {MANY, BATCH}


def judge_labels(labels: Labels) -> Labels:
    """Labels of a verdict on values with these labels."""
    kept = labels & (VERDICTS | {STATUS, STDOUT, SIMILAR, BATCH})
    if {COMPLETION, GOLD} <= labels or labels & {SIMILAR, DIFFERENCE}:
        return kept | {JUDGED}
    if labels & {COMPLETION, LENGTH}:
        return kept | {FORMED}
    return kept | {GOLD_TEST} if GOLD in labels else kept
