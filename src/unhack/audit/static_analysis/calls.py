"""The effect of calls of the standard library and of usual packages on labels."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from unhack.audit.static_analysis.names import (
    BATCH,
    COMPLETION,
    DIFFERENCE,
    FLOAT,
    GOLD,
    INPUT,
    JUDGE,
    LENGTH,
    LOADED,
    MANY,
    MATCH,
    NOTHING,
    PROCESS,
    RESULT,
    SIMILAR,
    STDOUT,
    VERDICTS,
    Labels,
    judge_labels,
    label_of_key,
    plain,
    words,
)

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


def name_of_call(node: ast.Call) -> str:
    """The last name of what is called."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


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
