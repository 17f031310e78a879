"""Rows of contest problems: inputs and outputs of programs, or arguments and results of calls.

| where the tests stand | data sets |
|---|---|
| `input_output` | APPS, TACO |
| `public_test_cases`, `private_test_cases`, the name in `metadata` | LiveCodeBench |
| `public_tests`, `private_tests`, `generated_tests` | CodeContests |
| `test_cases` | CodeContests+ |
| `official_tests`, `generated_checker` | Codeforces of open-r1 |
| `tests` | DeepCoder |
| `verification_info`, `reward_model`, `ground_truth` | PRIME, Eurus-2, rows for verl |

Each holds `{"inputs": […], "outputs": […], "fn_name": …}` or a list of `{"input", "output"}`,
itself or as JSON in a string.

A call is one of a function or of a method of `class Solution`. The tests come from JSON, so a tuple
counts as a list. Imports and comparisons are those of `options`.

Covered: packed private tests, whose pickle is taken apart without running it; lists of lines as
input; integers of any length.
Not covered: interactive problems, programs that read and write files, checkers in C++ (testlib).
"""

from __future__ import annotations

import ast
import base64
import pickletools
import warnings
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from unhack.core import plain
from unhack.core.completion import extract_code
from unhack.core.problem import Problem
from unhack.sandbox.limits import Limits
from unhack.tasks.loaders.check_code import CALL
from unhack.tasks.loaders.options import (
    CHECKER,
    CODE_CONTESTS_PLUS,
    CODEFORCES,
    DEEPCODER_CALLS,
    DEEPCODER_TESTS,
    TESTLIB,
    HarnessRules,
    LoadOptions,
)
from unhack.tasks.loaders.predicates import JsonValue, with_int_keys
from unhack.tasks.loaders.records import DataSetRow
from unhack.tasks.task import Task
from unhack.verifiers.base import Verifier
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.stdio import StdioCase, StdioVerifier

_MAX_UNPACKED_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class _Test:
    """One input and the output that belongs to it."""

    given: Any
    wanted: Any
    function: str = ""
    """The called function; empty for a program."""


def read_task(record: DataSetRow, options: LoadOptions, rules: HarnessRules) -> Task:
    """The task of one row. Raises TaskError, which names file and line."""
    tests = list(_read_tests(record))
    if not tests:
        raise record.error("the row has no tests")
    functions = {test.function for test in tests}
    if len(functions) > 1:
        raise record.error(f"the tests call different functions: {', '.join(sorted(functions))}")
    if preload := rules.preload:
        options = replace(options, preload=tuple(dict.fromkeys((*options.preload, *preload))))
    if "numpy" in preload:
        rules = replace(rules, setup=f"{rules.setup}import numpy as np\n")
    elif rules.numpy:
        warnings.warn(_NO_NUMPY, stacklevel=2)
    build = _calls if functions != {""} else _programs
    verifier = build(record, tests, options, rules)
    number = record.first("question_id", "problem_id", "task_id", "id", "name")
    name = str(record.line if number is None else number)
    keys = ("difficulty", "platform", "contest_date", "url")
    meta = {key: record.fields[key] for key in keys if record.fields.get(key) is not None}
    problem = Problem(name, _prompt(record), reference=_reference(record), meta=meta)
    return Task(problem, verifier)


def read_codeforces(record: DataSetRow, options: LoadOptions) -> Task:
    """The task of a row of open-r1's Codeforces. Raises TaskError."""
    if record.first("official_tests_complete") is False:
        raise record.error("the row holds only some of its tests (`official_tests_complete`)")
    language = str(record.first("language") or "python")
    if not language.lower().startswith("py"):
        raise record.error(f"the row asks for a program in {language}; only Python is judged")
    return read_task(record, options, CODEFORCES)


def codeforces_limits(record: DataSetRow, limits: Limits) -> Limits:
    """Those of the row: its seconds of CPU, its memory and 128 MiB for the interpreter. Raises
    TaskError for a limit that is no number between 0 and 100,000."""
    seconds, mebibytes = (_limit(record, name) for name in ("time_limit", "memory_limit"))
    if seconds:
        limits = limits.with_(cpu_s=seconds, wall_s=seconds + 10)
    if mebibytes:
        limits = limits.with_(memory_bytes=int(mebibytes + 128) << 20)
    return limits


def _limit(record: DataSetRow, name: str) -> float:
    """The row's limit; 0 where it has none."""
    value = record.first(name)
    if value is None:
        return 0.0
    if type(value) not in (int, float) or not 0 < value <= 100_000:
        raise record.error(f"`{name}` is {value!r:.40}, not a number between 0 and 100,000")
    return float(value)


def read_deepcoder(record: DataSetRow, options: LoadOptions) -> Task:
    """The task of a row of DeepCoder, whose tests tell which harness they are for."""
    tests = record.decoded("tests")
    listed = cast("list[Any]", tests if isinstance(tests, list) else [])
    typed = any(isinstance(test, dict) and "testtype" in test for test in listed)
    rules = DEEPCODER_TESTS if typed else DEEPCODER_CALLS
    return read_task(record, options, rules)


def read_code_contests_plus(record: DataSetRow, options: LoadOptions) -> Task:
    """The task of a row of CodeContests+. Raises TaskError."""
    rules = CODE_CONTESTS_PLUS
    return read_task(record, options, TESTLIB if record.first("checker") else rules)


_NO_NUMPY = (
    "NumPy is not installed, so code that uses it fails here, although the data set's own harness "
    "runs it: pip install numpy"
)
_MOST_OTHERS = 4
_YES_NO = {"yes", "no"}
_CHECKER_LIMITS = Limits(wall_s=120.0, cpu_s=120.0, memory_bytes=2 << 30)
"""Of a row's checker on all tests together: the row's own are for one run of a solution."""


def other_solutions(record: DataSetRow) -> tuple[str, ...]:
    """Right solutions in Python 3 beside the first, of a row with a checker, no two the same but
    for comments and layout. Raises TaskError."""
    sources = filter(_parses, _solutions(record) if record.first("checker") else ())
    parsed = {ast.dump(ast.parse(source)): source for source in sources}
    return tuple(parsed.values())[1 : 1 + _MOST_OTHERS]


def _prompt(record: DataSetRow) -> str:
    prompt = record.message_text("question", "question_content", "prompt", "problem", "description")
    parts = [("Input", "input_format"), ("Output", "output_format"), ("Notes", "note")]
    for title, name in parts:
        if text := record.text_or("", name).strip():
            prompt = f"{prompt.rstrip()}\n\n{title}\n\n{text}\n"
    starter = record.text_or("", "starter_code")
    if starter.strip():
        prompt = f"{prompt.rstrip()}\n\nStart from this code:\n\n{starter}\n"
    return prompt


def _programs(
    record: DataSetRow, tests: list[_Test], options: LoadOptions, rules: HarnessRules
) -> Verifier:
    if record.text_or("", "interaction_format").strip():
        raise record.error("the problem is interactive, which stdio tests cannot play")
    files = [record.first(name) for name in ("input_file", "output_file")]
    if any(files) or record.first("input_mode") not in (None, "", "stdio"):
        raise record.error("the program is to read and write files; only stdio is judged")
    checker = record.text_or("", "generated_checker")
    folded = rules.fold_yes_no and _holds_only_yes_and_no(record, tests)
    return StdioVerifier(
        tuple(StdioCase(_lines(record, test.given), _lines(record, test.wanted)) for test in tests),
        compare=rules.compare,
        rel_tol=rules.rel_tol,
        abs_tol=rules.abs_tol,
        ignore_case=rules.ignore_case or folded,
        checker=CHECKER.format(source=checker) if checker.strip() else None,
        checker_limits=_CHECKER_LIMITS if checker.strip() else None,
        setup=rules.setup,
        **options.of_cases,
    )


def _holds_only_yes_and_no(record: DataSetRow, tests: list[_Test]) -> bool:
    words = {word for test in tests for word in _lines(record, test.wanted).casefold().split()}
    return bool(words & _YES_NO) and all(map(_is_number, words - _YES_NO))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


_WRAPPER = """
def {call}(*args):
    if "Solution" in globals():
        return Solution().{name}(*args)
    return {name}(*args)
"""


def _calls(
    record: DataSetRow, tests: list[_Test], options: LoadOptions, rules: HarnessRules
) -> Verifier:
    name = tests[0].function
    if not name.isidentifier():
        raise record.error(f"{name!r:.60} is not the name of a function")
    cases: list[Case] = []
    room = 0
    for test in tests:
        given, wanted = test.given, test.wanted
        if isinstance(given, str):
            lines = given.split("\n")
            given = [record.decode("input", line) for line in lines if line.strip()]
            wanted = record.decode("output", wanted)
        if not isinstance(given, list):
            raise record.error("the input of a call must be the list of its arguments")
        args = cast("list[Any]", given)
        if rules.int_keys:
            args = list(map(with_int_keys, args))
        accepts = JsonValue(wanted, rules.unwrap, rules.int_keys)
        cases.append(Case(tuple(args), expected=wanted, accepts=accepts))
        room += 4096 + 2 * len(plain.dumps(wanted))
    limits = options.limits.with_(output_bytes=max(room, options.limits.output_bytes))
    setup = rules.setup + _WRAPPER.format(call=CALL, name=name)
    return FunctionVerifier(
        CALL, tuple(cases), setup=setup, **replace(options, limits=limits).of_cases
    )


def _lines(record: DataSetRow, value: Any) -> str:
    lines = cast("list[Any]", value) if isinstance(value, list) else [value]
    text = "\n".join(map(str, lines))
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise record.error(f"a test is not text that can be written as UTF-8: {error}") from None
    return text


_PYTHON_3 = (3, "3", "PYTHON3", "python", "python3", "py3")
"""The ways in which data sets name the language of a solution."""


def _reference(record: DataSetRow) -> str | None:
    """The first of the row's solutions that is Python 3, if it has any."""
    return next(filter(_parses, _solutions(record)), None)


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _solutions(record: DataSetRow) -> Iterator[str]:
    value = record.first("solutions", "correct_submissions", "gold_standard_solution")
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = record.decode("solutions", value)
    if isinstance(value, dict):  # CodeContests: a column of languages beside one of sources
        columns = cast("dict[str, list[Any]]", value)
        pairs = zip(columns.get("language", ()), columns.get("solution", ()), strict=False)
        value = [{"language": language, "code": source} for language, source in pairs]
    for item in cast("list[Any]", value if isinstance(value, list) else [value]):
        source = item
        if isinstance(item, dict):
            fields = cast("dict[str, Any]", item)
            known = fields.get("language", 3) in _PYTHON_3
            source = fields.get("code", fields.get("solution")) if known else None
        if isinstance(source, str) and source.strip():
            fenced = source.lstrip().startswith("```")
            yield extract_code(source) or source if fenced else source


def _read_tests(record: DataSetRow) -> Iterator[_Test]:
    """The tests of the columns that the row has."""
    metadata = record.first("metadata")
    if isinstance(metadata, str) and metadata.lstrip().startswith("{"):
        metadata = record.decoded("metadata")
    fields = cast("dict[str, Any]", metadata if isinstance(metadata, dict) else {})
    function = str(fields.get("func_name") or "")
    for name in _COLUMNS:
        value = _unpacked(record, name) if name.endswith("_test_cases") else record.decoded(name)
        if name == "generated_tests" and isinstance(value, int):
            continue  # open-r1's Codeforces: the number of tests in another file
        if name == "reward_model" and isinstance(value, dict):
            value = record.decode("ground_truth", cast("Any", value).get("ground_truth"))
        if isinstance(value, dict) and "test_cases" in value:
            value = record.decode("test_cases", cast("Any", value)["test_cases"])
        if isinstance(value, dict):
            yield from _from_columns(record, name, cast("dict[str, Any]", value))
        elif value is not None:
            yield from _from_list(record, name, value, function)


_COLUMNS = (
    *("public_test_cases", "private_test_cases", "public_tests", "private_tests"),
    *("generated_tests", "input_output", "tests", "test_cases", "official_tests"),
    *("verification_info", "reward_model", "ground_truth"),
)
"""The columns that hold tests; a row may have several."""


def _from_columns(record: DataSetRow, name: str, fields: dict[str, Any]) -> Iterator[_Test]:
    """`{"inputs": […], "outputs": […], "fn_name": …}`."""
    inputs, outputs = (fields.get(f"{key}s", fields.get(key, [])) for key in ("input", "output"))
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise record.error(f"`inputs` and `outputs` of `{name}` must be lists")
    given, wanted = cast("list[Any]", inputs), cast("list[Any]", outputs)
    if len(given) != len(wanted):
        raise record.error(f"{len(given)} inputs for {len(wanted)} outputs")
    function = str(fields.get("fn_name") or "")
    yield from (_Test(one, other, function) for one, other in zip(given, wanted, strict=True))


def _from_list(record: DataSetRow, name: str, tests: Any, function: str = "") -> Iterator[_Test]:
    """`[{"input", "output", …}, …]`; a test may name its function itself."""
    for test in cast("Iterable[Any]", tests or []):
        if not (isinstance(test, dict) and {"input", "output"} <= set(cast("Any", test))):
            raise record.error(f"`{name}` must hold objects with `input` and `output`")
        fields = cast("dict[str, Any]", test)
        metadata = fields.get("metadata")
        inner = cast("dict[str, Any]", metadata if isinstance(metadata, dict) else {})
        called = str(fields.get("fn_name") or inner.get("func_name") or function)
        kind = str(fields.get("testtype", fields.get("type", "")))
        if kind == "functional":
            called = called or _starter_function(record)
        yield _Test(fields["input"], fields["output"], "" if kind.startswith("stdin") else called)


def _starter_function(record: DataSetRow) -> str:
    """The function that `starter_code` begins, for tests that name none."""
    lines = [line.strip() for line in record.text_or("", "starter_code").splitlines()]
    names = [line[4:].partition("(")[0].strip() for line in lines if line.startswith("def ")]
    if not names:
        raise record.error("a test is `functional`, and nothing names the function that it calls")
    return names[-1]


def _unpacked(record: DataSetRow, name: str) -> Any:
    """LiveCodeBench's tests: JSON, or behind base64, zlib and the pickle of one string."""
    value = record.first(name)
    if not isinstance(value, str) or not value or value.lstrip().startswith(("[", "{")):
        return record.decoded(name)
    try:
        unzip = zlib.decompressobj()
        data = unzip.decompress(base64.b64decode(value, validate=True), _MAX_UNPACKED_BYTES)
        return record.decode(name, read_pickled_text(data))
    except (ValueError, zlib.error) as error:
        raise record.error(f"`{name}` cannot be unpacked: {error}") from None


_HARMLESS = {"PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "PUT", "STOP"}
_TEXT = {"BINUNICODE", "BINUNICODE8", "SHORT_BINUNICODE", "UNICODE"}


def read_pickled_text(data: bytes) -> str:
    """The string in a pickle that holds one string and nothing else; no pickle is loaded.

    Raises ValueError for any other pickle.
    """
    texts: list[str] = []
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in _TEXT:
            texts.append(str(argument))
        elif opcode.name not in _HARMLESS:
            raise ValueError(f"the pickle holds {opcode.name}, not just one string")
    if len(texts) != 1:
        raise ValueError(f"the pickle holds {len(texts)} strings, not one")
    return texts[0]
