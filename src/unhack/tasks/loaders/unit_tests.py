"""Rows whose tests are files of tests: KodCode (pytest), BigCodeBench (unittest).

The tests stay with the judge, and what they import from the solution is a proxy, so objects of
third-party libraries (data frames, plots) and mocks of what the solution calls do not cross: such
rows need `Mode.AS_WRITTEN`.

Covered: packages that a row needs and that are not installed are named.
Not covered: tests that patch the solution's own module.
"""

from __future__ import annotations

import ast
import importlib.util
from typing import Any, cast

from unhack.core.completion import Extraction
from unhack.core.problem import Problem
from unhack.tasks.loaders.check_code import CheckVerifier, end_line, third_party
from unhack.tasks.loaders.humaneval import prefix
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.records import DataSetRow
from unhack.tasks.task import Task
from unhack.verifiers.pytest import PytestVerifier
from unhack.verifiers.script import ScriptVerifier


def read_kodcode(record: DataSetRow, options: LoadOptions) -> Task:
    """The task of a row with `question` and pytest code. Raises TaskError."""
    test = record.text("test", "test_code")
    solution = record.text_or("", "solution")
    packages = _require(record, f"{test}\n{solution}")
    verifier = PytestVerifier(
        {"test_solution.py": f"from solution import *\n\n{test}"},
        mode=options.script_mode,
        partial_credit=options.partial_credit,
        packages=(*packages, *options.preload),
        limits=options.limits,
        extraction=options.extraction,
    )
    names = [record.text_or("", "test_entry_point")]
    for item in cast("list[Any]", record.decoded("test_info") or []):
        names.append(str(item.get("function_declaration") or item.get("function_name") or ""))
    wanted = "".join(f"\n{name}" for name in names if name)
    prompt = record.text("question").rstrip()
    if wanted:
        prompt = f"{prompt}\n\nYour code must define:\n{wanted}\n"
    number = record.first("question_id", "conversation_id", "id")
    name = f"kodcode/{record.line if number is None else number}"
    return Task(Problem(name, prompt, reference=solution or None), verifier)


def read_bigcodebench(record: DataSetRow, options: LoadOptions) -> Task:
    """The task of a row with `complete_prompt` and `TestCases`. Raises TaskError."""
    prompt, test = record.text("complete_prompt"), record.text("test")
    setup = prefix(record, prompt)
    packages = _require(record, f"{setup}\n{test}")
    imports = [
        ast.unparse(node)
        for node in ast.parse(setup).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    entry = record.text_or("task_func", "entry_point")
    source = "\n".join([*imports, test, _UNITTEST.format(entry=entry)])
    script = ScriptVerifier(
        source,
        mode=options.script_mode,
        preload=packages,
        packages=(*packages, *options.preload),
        limits=options.limits,
        extraction=Extraction.RAW,
    )
    verifier = CheckVerifier(script, setup=end_line(setup), extraction=options.extraction)
    reference = record.text_or("", "canonical_solution") or None
    name = record.text_or(f"bigcodebench/{record.line}", "task_id")
    return Task(Problem(name, prompt, reference=reference), verifier)


_UNITTEST = """

def verify(solution_path, test_cases_path):
    import unittest

    import solution as unhack_solution

    globals()["{entry}"] = getattr(unhack_solution, "{entry}")
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(TestCases).run(result)
    bad = [*result.failures, *result.errors]
    reason = "; ".join(f"{{test.id()}}: {{said.strip().splitlines()[-1]}}" for test, said in bad)
    return {{"score": float(not bad and result.testsRun > 0), "reason": reason}}
"""


def _require(record: DataSetRow, source: str) -> tuple[str, ...]:
    """The third-party modules that the code imports. Raises TaskError for those that are not
    installed."""
    try:
        found = third_party(source)
    except SyntaxError as error:
        raise record.error(f"its code is not Python: {error}") from None
    packages = [name for name in found if name not in {"solution", "pytest"}]
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise record.error(f"the row needs packages that are not installed: {', '.join(missing)}")
    return tuple(packages)
