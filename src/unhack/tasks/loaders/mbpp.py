"""MBPP rows, loaded from a file: `mbpp.jsonl`, `sanitized-mbpp.json`, `evalplus/mbppplus`.

The name to define stands only in the asserts, so the prompt shows the first of them; the others are
hidden. The function under test is the one that the row's own solution defines and the asserts call.

EvalPlus's own release (`MbppPlus.jsonl`) has JSON inputs, of which its code turns lists into tuples
task by task, and comparisons of its own for some functions; `converted` and `accepts` do the same,
and `humaneval` reads the rows. Source: `mbpp_deserialize_inputs` and `_special_oracle` of EvalPlus.

Covered: asserts as cases, other tests (EvalPlus's loops) as sealed scripts.
Not covered: tests that build objects of the completion's classes; they need `Mode.AS_WRITTEN`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from unhack.core.problem import Problem
from unhack.sandbox.limits import Limits
from unhack.tasks.loaders.check_code import CheckCode, build_verifier, needs_names
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.predicates import AllClose, AnyOutput, Compared, Predicate
from unhack.tasks.loaders.records import DataSetRow, read_records
from unhack.tasks.task import Task

OPTIONS = LoadOptions(limits=Limits(wall_s=3.0, cpu_s=3.0))


def load(
    path: str | Path, *, options: LoadOptions = OPTIONS, shown_asserts: int = 1
) -> tuple[Task, ...]:
    """The tasks of an MBPP file, in its order.

    The prompt is the row's text and its first `shown_asserts` asserts; the published prompt shows
    all of them, which lets a policy write the answers down. Raises TaskError, which names file and
    line.
    """
    return tuple(
        read_task(record, options, shown_asserts=shown_asserts) for record in read_records(path)
    )


def read_task(record: DataSetRow, options: LoadOptions, *, shown_asserts: int = 1) -> Task:
    """The task of one row. Raises TaskError, which names file and line."""
    text = record.text("text", "prompt")
    source = record.text("code")
    asserts = record.texts("test_list")
    entry = _entry_point(record, source, asserts)
    setup = record.text_or("", "test_setup_code")
    if record.first("test_imports"):
        setup = "\n".join([*record.texts("test_imports"), setup])
    test = record.text_or("", "test")
    tests = asserts
    if record.first("challenge_test_list"):
        tests = asserts + record.texts("challenge_test_list")
    try:
        if test:
            code = _wrap_statements(test, entry, setup)
        elif needs_names(setup):  # objects of the completion's own classes
            code = CheckCode(entry, asserts=(setup, *tests))
        else:
            code = CheckCode(entry, asserts=tuple(tests), setup=setup)
        verifier = build_verifier(code, options)
    except (SyntaxError, ValueError) as error:
        raise record.error(f"the tests cannot be used: {error}") from None
    shown = "".join(f"\n{line}" for line in asserts[:shown_asserts])
    prompt = f"{text.strip()}\n\nYour code must pass tests such as:\n{shown}\n" if shown else text
    task_id = str(record.first("task_id"))
    name = task_id if "/" in task_id else f"mbpp/{task_id}"
    meta = {"entry_point": entry, "source": record.path.name}
    return Task(Problem(name, prompt, reference=source, meta=meta), verifier)


def _wrap_statements(test: str, entry: str, setup: str) -> CheckCode:
    """Test code whose statements stand at the top level, as `check(candidate)`."""
    tree = ast.parse(test)
    if any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body):
        return CheckCode(entry, test, setup=setup)
    inside = (ast.For, ast.Assert, ast.Expr, ast.With, ast.If, ast.While)
    body: list[ast.stmt] = [node for node in tree.body if isinstance(node, inside)]
    head = [node for node in tree.body if not isinstance(node, inside)]
    check = ast.parse("def check(candidate):\n    pass\n").body[0]
    assert isinstance(check, ast.FunctionDef)
    check.body = body or check.body
    source = ast.unparse(ast.Module([*head, check], []))
    return CheckCode(entry, source, setup=setup)


def _entry_point(record: DataSetRow, source: str, asserts: list[str]) -> str:
    """The function that the solution defines and the asserts call."""
    try:
        defined = {
            node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)
        }
        calls = list(ast.walk(ast.parse("\n".join(asserts))))
    except SyntaxError as error:
        raise record.error(f"`code` or `test_list` is not Python: {error}") from None
    names = Counter(
        node.func.id
        for node in calls
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in defined
    )
    if not names:
        raise record.error("no function of `code` is called in `test_list`")
    return names.most_common(1)[0][0]


_Arguments = list[Any]


def _deep(value: Any) -> Any:
    return tuple(map(_deep, cast("list[Any]", value))) if isinstance(value, list) else value


def _tuple_of_tuples(value: list[Any]) -> tuple[Any, ...]:
    return tuple(tuple(cast("Any", item)) if isinstance(item, list) else item for item in value)


def _sets(value: list[Any]) -> list[Any]:
    return [set(cast("Any", item)) if isinstance(item, list) and item else {} for item in value]


_CONVERSIONS: tuple[tuple[frozenset[int], Callable[[_Arguments], _Arguments]], ...] = (
    (
        frozenset({
            2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630,
            726, 740, 744, 809,
        }),
        lambda args: [tuple(each) for each in args],
    ),
    (
        frozenset({63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780}),
        lambda args: [[tuple(item) for item in each] for each in args],
    ),
    (
        frozenset({75, 413, 444, 753}),
        lambda args: [[tuple(item) for item in args[0]], *args[1:]],
    ),
    (frozenset({106, 750}), lambda args: [args[0], tuple(args[1])]),
    (frozenset({115}), lambda args: [_sets(args[0])]),
    (frozenset({124}), lambda args: [float(args[0]), complex(args[1])]),
    (frozenset({252}), lambda args: [complex(args[0])]),
    (
        frozenset({250, 307, 405, 446, 617, 720, 763, 808}),
        lambda args: [tuple(args[0]), *args[1:]],
    ),
    (frozenset({259, 278, 401, 445}), lambda args: [_tuple_of_tuples(each) for each in args]),
    (frozenset({580, 615, 791}), lambda args: [_deep(each) for each in args]),
    (
        frozenset({722}),
        lambda args: [{key: tuple(value) for key, value in args[0].items()}, *args[1:]],
    ),
)  # fmt: skip
"""Numbers of tasks whose arguments EvalPlus converts alike, and how."""
_AS_SETS = frozenset({
    "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum",
    "intersection_array", "find_dissimilar", "Diff",
})  # fmt: skip
ONLY_THERE = frozenset({"check_str", "text_match_three", "text_starta_endb"})
"""Functions of which EvalPlus asks only whether they return something."""


def converted(task_id: str, inputs: list[_Arguments]) -> list[_Arguments]:
    """The inputs of `Mbpp/NUMBER`, their lists tuples and sets where its function takes these."""
    number = int(task_id.rpartition("/")[2])
    convert = next((change for ids, change in _CONVERSIONS if number in ids), list[Any])
    return [convert(args) for args in inputs]


def accepts(entry: str, args: _Arguments, expected: Any, abs_tol: float) -> Predicate:
    """EvalPlus's comparison of an output of MBPP's function `entry`. Raises ValueError for the one
    of which it takes every output."""
    if entry == "are_equivalent":
        raise ValueError("EvalPlus takes any output of `are_equivalent`")
    if entry in _AS_SETS:
        return Compared("==", set(expected), "set")
    if entry in ONLY_THERE:
        return AnyOutput(expected)
    if entry == "sum_div":
        return Compared("in", [expected, 0])
    if entry == "surface_Area":  # with the height, not the slant height, of the pyramid
        edge, height = args
        slant = (edge * edge / 4 + height * height) ** 0.5
        return Compared("in", [expected, round(edge * edge + 2 * edge * slant)])
    if entry == "digit_distance_nums":  # digit by digit
        size = max(len(str(number)) for number in args)
        pairs = zip(*(str(number).zfill(size) for number in args), strict=True)
        return Compared("in", [expected, sum(abs(int(a) - int(b)) for a, b in pairs)])
    return AllClose(expected, abs_tol)
