"""Rows of contest problems: APPS (`input_output`) and LiveCodeBench (`public_test_cases`, …).

A row's tests are programs' inputs and outputs, or calls of a function (`fn_name`, `func_name`),
which may be a method of `class Solution`. An outer tuple that a call returns counts as a list, for
the tests come from JSON.

Covered: both layouts, plain or as JSON in a string; the packed private tests of LiveCodeBench,
whose pickle is taken apart without running it; lists of lines as input.
Not covered: problems with several right answers, for which the rows hold no checker.
"""

from __future__ import annotations

import base64
import json
import pickletools
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from unhack.core.problem import Problem
from unhack.tasks.loaders.check_code import CALL
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.records import DataSetRow, read_records
from unhack.tasks.task import Task
from unhack.verifiers.base import Verifier
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.stdio import StdioCase, StdioCompare, StdioVerifier
from unhack.verifiers.values.compare import Compare

OPTIONS = LoadOptions()
_MAX_UNPACKED_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class _Tests:
    """The checks of a row: calls of `function`, or programs where it is empty."""

    pairs: list[tuple[Any, Any]]
    """(input, output) of each test."""
    function: str = ""


def load(
    path: str | Path,
    *,
    options: LoadOptions = OPTIONS,
    compare: StdioCompare = StdioCompare.TOKEN,
    skip_untested: bool = False,
) -> tuple[Task, ...]:
    """The tasks of a file of contest problems, in its order.

    `compare` is for programs; `float` lets numbers differ slightly, as the harnesses of both data
    sets do, but then large integers too. `skip_untested` leaves rows without tests out instead of
    refusing them. Raises TaskError, which names file and line.
    """
    tasks: list[Task] = []
    for record in read_records(path):
        tests = _read_tests(record)
        if tests.pairs:
            tasks.append(_task(record, tests, options, compare))
        elif not skip_untested:
            raise record.error("the row has no tests; skip_untested=True leaves such rows out")
    return tuple(tasks)


def _task(record: DataSetRow, tests: _Tests, options: LoadOptions, compare: StdioCompare) -> Task:
    prompt = record.text("question", "question_content", "prompt")
    starter = record.text_or("", "starter_code")
    if starter.strip():
        prompt = f"{prompt.rstrip()}\n\nStart from this code:\n\n{starter}\n"
    if tests.function:
        verifier = _calls(record, tests, options)
    else:
        verifier = StdioVerifier(
            tuple(StdioCase(_lines(given), _lines(wanted)) for given, wanted in tests.pairs),
            compare=compare,
            **options.of_cases,
        )
    number = record.first("question_id", "problem_id", "task_id", "id")
    name = str(record.line if number is None else number)
    keys = ("difficulty", "platform", "contest_date", "url")
    meta = {key: record.fields[key] for key in keys if record.fields.get(key) is not None}
    problem = Problem(name, prompt, reference=_reference(record), meta=meta)
    return Task(problem, verifier)


_WRAPPER = """
def {call}(*args):
    if "Solution" in globals():
        result = Solution().{name}(*args)
    else:
        result = {name}(*args)
    return list(result) if type(result) is tuple else result
"""


def _calls(record: DataSetRow, tests: _Tests, options: LoadOptions) -> Verifier:
    if not tests.function.isidentifier():
        raise record.error(f"{tests.function!r:.60} is not the name of a function")
    cases: list[Case] = []
    for given, wanted in tests.pairs:
        if not isinstance(given, list):
            raise record.error("the input of a call must be the list of its arguments")
        cases.append(Case(tuple(cast("list[Any]", given)), expected=wanted))
    setup = _WRAPPER.format(call=CALL, name=tests.function)
    return FunctionVerifier(
        CALL, tuple(cases), compare=Compare.EQUAL, setup=setup, **options.of_cases
    )


def _lines(text: Any) -> str:
    if isinstance(text, list):
        return "\n".join(map(str, cast("list[Any]", text)))
    return str(text)


def _reference(record: DataSetRow) -> str | None:
    """The first of the row's solutions, if it has any."""
    solutions = _decode(record, "solutions")
    if isinstance(solutions, list) and solutions and isinstance(solutions[0], str):
        return solutions[0]
    return None


def _decode(record: DataSetRow, name: str) -> Any:
    """A field that may be JSON in a string; None when it is absent or empty."""
    value = record.first(name)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return json.loads(value)
    except ValueError as error:
        raise record.error(f"`{name}` is not JSON: {error}") from None


def _read_tests(record: DataSetRow) -> _Tests:
    if record.first("public_test_cases", "private_test_cases") is not None:
        return _livecodebench(record)
    data = _decode(record, "input_output")
    if data is None:
        return _Tests([])
    if not isinstance(data, dict):
        raise record.error("`input_output` must be an object with `inputs` and `outputs`")
    fields = cast("dict[str, Any]", data)
    inputs, outputs = fields.get("inputs", []), fields.get("outputs", [])
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise record.error("`inputs` and `outputs` of `input_output` must be lists")
    given, wanted = cast("list[Any]", inputs), cast("list[Any]", outputs)
    if len(given) != len(wanted):
        raise record.error(f"{len(given)} inputs for {len(wanted)} outputs")
    return _Tests(list(zip(given, wanted, strict=True)), str(fields.get("fn_name") or ""))


def _livecodebench(record: DataSetRow) -> _Tests:
    metadata = cast("dict[str, Any]", _decode(record, "metadata") or {})
    function = str(metadata.get("func_name") or "")
    pairs: list[tuple[Any, Any]] = []
    for test in _livecodebench_tests(record):
        if test.get("testtype", "functional" if function else "stdin") == "stdin":
            pairs.append((test["input"], test["output"]))
            function = ""
            continue
        try:
            arguments = [json.loads(line) for line in test["input"].split("\n") if line.strip()]
            pairs.append((arguments, json.loads(test["output"])))
        except ValueError as error:
            raise record.error(f"a functional test is not JSON: {error}") from None
    return _Tests(pairs, function)


def _livecodebench_tests(record: DataSetRow) -> Iterator[dict[str, Any]]:
    for name in ("public_test_cases", "private_test_cases"):
        value = record.first(name)
        packed = isinstance(value, str) and not value.lstrip().startswith(("[", "{"))
        tests = _unpack(record, value) if packed and value else _decode(record, name)
        for test in cast("list[Any]", tests or []):
            if not (isinstance(test, dict) and {"input", "output"} <= set(cast("Any", test))):
                raise record.error(f"`{name}` must hold objects with `input` and `output`")
            yield cast("dict[str, Any]", test)


def _unpack(record: DataSetRow, value: str) -> Any:
    """The tests behind base64, zlib and the pickle of one string."""
    try:
        unzip = zlib.decompressobj()
        data = unzip.decompress(base64.b64decode(value, validate=True), _MAX_UNPACKED_BYTES)
        return json.loads(read_pickled_text(data))
    except (ValueError, zlib.error) as error:
        raise record.error(f"`private_test_cases` cannot be unpacked: {error}") from None


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
