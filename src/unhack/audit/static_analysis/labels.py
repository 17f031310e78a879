"""Labels that data flow attaches to values: completion, right answer, input, told from the names of
a verifier's parameters; and what calls make of them.

Covered: the signatures of the usual frameworks, script verifiers, and plain pairs by position;
calls of the standard library and of usual packages.
Not covered: names that say nothing at other positions; they carry no label.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

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


LOADERS = words(
    "spec_from_file_location module_from_spec import_module run_path load_source __import__"
    " SourceFileLoader load_module spec_from_loader reload"
)
STARTERS = words(
    "run Popen check_output check_call call getoutput getstatusoutput system popen"
    " create_subprocess_exec create_subprocess_shell"
)
JUDGES = words(
    "chat create generate ask judge complete acreate invoke ainvoke query_llm call_llm llm_judge"
    " ask_judge get_judge_response chat_completion judge_with_llm"
)
LIKENESS = words(
    "ratio quick_ratio real_quick_ratio partial_ratio token_sort_ratio token_set_ratio WRatio"
    " jaro jaro_winkler jaro_winkler_similarity normalized_similarity similarity"
    " cosine_similarity sentence_bleu get_close_matches"
)
DISTANCES = words("distance edit_distance levenshtein levenshtein_distance hamming")
_TRUTH = words(
    "bool isinstance any all hasattr callable issubset issuperset isdisjoint startswith endswith"
    " isclose allclose isdigit isalpha isnumeric isnan isfinite isinf exists is_file"
)
_SEVERAL = words(
    "list tuple set frozenset sorted reversed split splitlines rsplit findall finditer Counter map"
    " filter union intersection difference zip enumerate keys values items unique"
)
_KEEPING = words("list tuple set frozenset sorted reversed Counter unique array asarray")
_NUMERIC = words("abs fabs sqrt pow min max sum round float64 mean exp log clip square")


def name_of_call(node: ast.AST | None) -> str:
    """The last name of what is called; empty for what is no call."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name
        case _:
            return ""


def calls_of(nodes: Iterable[ast.AST], *names: str) -> list[ast.Call]:
    """The calls of functions and methods of those names."""
    return [node for node in nodes if isinstance(node, ast.Call) and name_of_call(node) in names]


def lookups(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, str]]:
    """Every `owner["key"]` and `owner.get("key")`: the owner and the key."""
    for node in nodes:
        match node:
            case (
                ast.Subscript(value=owner, slice=ast.Constant(value=str() as key))
                | ast.Call(
                    func=ast.Attribute(value=owner, attr="get"),
                    args=[ast.Constant(value=str() as key), *_],
                )
            ):
                yield owner, key
            case _:
                pass


def owner_of(node: ast.AST, *names: str) -> ast.expr | None:
    """The value on which a method of one of those names is called; None for all else."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in names:
            return owner
        case _:
            return None


def result_of(
    name: str, base: Labels, *, given: Sequence[Labels], named: Sequence[Labels]
) -> Labels:
    """Labels of what a call of that name gives, on a value with the labels `base`."""
    inside = frozenset[str]().union(*given, *named)
    both = base | inside
    if name in _TRUTH:
        return judge_labels(both)
    if name == "len":
        text = COMPLETION in inside and GOLD not in inside
        return (frozenset({LENGTH}) if text else NOTHING) | (inside & VERDICTS)
    if name in LOADERS and COMPLETION in both:
        return frozenset({COMPLETION, LOADED})
    if LOADED in both and name in ("getattr", "get", "pop"):
        return frozenset({COMPLETION, LOADED})
    if name in STARTERS and COMPLETION in both:
        return frozenset({COMPLETION, PROCESS})
    if PROCESS in both and name in ("communicate", "read", "readlines", "readline"):
        return frozenset({COMPLETION, STDOUT})
    if name in JUDGES and COMPLETION in inside:
        return frozenset({COMPLETION, JUDGE})
    if name == "SequenceMatcher" or name in DISTANCES or name in LIKENESS:
        return frozenset({SIMILAR} if COMPLETION in both or SIMILAR in both else ())
    if name in ("float", "Decimal", "float64", "float32", "parse_float", "literal_eval", "eval"):
        number = COMPLETION in inside and GOLD not in inside and not inside & VERDICTS
        kept = plain(inside) | (inside & {DIFFERENCE, LENGTH, SIMILAR})
        return kept | {FLOAT} if number else kept
    if name in _NUMERIC:
        return plain(inside) | (inside & {FLOAT, DIFFERENCE, LENGTH})
    if name in ("search", "match", "fullmatch"):
        return plain(both) | {MATCH}
    if name in _SEVERAL:
        kept = both & {FLOAT, BATCH} if name in _KEEPING else both & {BATCH}
        return plain(both) | {MANY} | kept
    if name in ("deepcopy", "copy", "strip", "lower", "upper", "wait_for", "gather"):
        return plain(both) | (both & {MANY, BATCH, LOADED, PROCESS, RESULT, FLOAT})
    return plain(both)


def entry_of(labels: Labels, key: object) -> Labels:
    """Labels of one entry of a mapping or sequence with those labels."""
    inside = labels - {MANY, BATCH, MATCH}
    if not isinstance(key, str):
        return inside
    kind = label_of_key(key)
    if BATCH in labels and kind == GOLD:
        return inside | {GOLD, BATCH}
    if GOLD in labels and kind == INPUT:
        return inside - {GOLD} | {INPUT}
    if kind == GOLD and COMPLETION not in labels:
        return inside - {INPUT} | {GOLD}
    return inside


def is_argv(node: ast.expr) -> bool:
    """Tell whether an expression is `sys.argv`, or a part of it."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        node = node.value
    return isinstance(node, ast.Attribute) and node.attr == "argv"
