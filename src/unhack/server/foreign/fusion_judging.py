"""SandboxFusion's `/submit`: a completion against the cases that the request brings.

Covered: `CommonOJDataset`, whose row is in `provided_data`: programs that read standard input and
print. Lines are compared as there: without white space at their ends, without case, numerals within
a relative 1e-5. The code is found by unhack's own rules.
Not covered: rows of SandboxFusion's tables, which we do not have; data sets that judge a program by
the exit code of its own process (`AutoEvalDataset`, `HumanEvalDataset` and their kin), since a
program that exits early would pass; `custom_extract_logic`, which is code for the server's process.
Source: SandboxFusion at 469de08, `sandbox/datasets/common_oj.py`, `sandbox/utils/testing.py`.
"""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any, NoReturn, cast

from pydantic import ValidationError

from unhack.core.completion import extract_code
from unhack.core.fences import fenced_blocks
from unhack.server.foreign.fusion_models import (
    FusionCase,
    FusionReply,
    FusionRun,
    FusionSubmit,
    FusionTest,
    FusionVerdict,
)
from unhack.server.foreign.fusion_runs import LANGUAGES, RunJob, run_code
from unhack.server.http.problems import RequestRefused, invalid

_TYPE = "CommonOJDataset"
_REL_TOL = 1e-5
_MOST_CASES = 1000
_SHOWN = 1000
"""Characters of a case that passed, in the reply."""
_AT_ONCE = 8


async def judge_submission(asked: FusionSubmit, run: RunJob) -> FusionVerdict:
    """Judge a completion. Raises RequestRefused: 400 for what is not judged here, 503 where the
    sandbox failed, which is no wrong answer."""
    config = asked.config
    if config.custom_extract_logic is not None:
        _refuse(
            "config.custom_extract_logic",
            "is code that would run in the server's own process, so it is never taken; leave it "
            "out: fenced blocks and bare programs are found without it",
        )
    if (config.dataset_type or _TYPE) != _TYPE:
        _refuse(
            "config.dataset_type",
            f"{config.dataset_type!r} is not judged here, {_TYPE} is: in the others a "
            "program is judged by its own exit code, which it may choose",
        )
    if config.language not in LANGUAGES:
        _refuse("config.language", f"{config.language!r} is not one of {', '.join(LANGUAGES)}")
    cases = _cases(_row(asked))
    # Long texts take seconds, and the event loop serves everybody: they are read in threads.
    code, kind = await asyncio.to_thread(_found, asked.completion, str(config.language))
    tests = await _judge_all(asked, code, cases, run)
    return FusionVerdict(
        id=asked.id,
        accepted=len(tests) == len(cases) and all(test.passed for test in tests),
        extracted_code=code,
        tests=tests,
        extracted_type=kind,
    )


async def _judge_all(
    asked: FusionSubmit, code: str, cases: list[FusionCase], run: RunJob
) -> list[FusionTest]:
    """Cases in waves of a few; unless `extra.run_all_cases` asks for all, to the first failure."""
    every = asked.config.extra.get("run_all_cases") is True
    tests: list[FusionTest] = []
    while len(tests) < len(cases):
        size = 1 if not tests and not every else _AT_ONCE
        wave = cases[len(tests) : len(tests) + size]
        for test in await _judge_wave(asked, code, wave, run):
            tests.append(test)
            if not test.passed and not every:
                return tests
    return tests


async def _judge_wave(
    asked: FusionSubmit, code: str, wave: list[FusionCase], run: RunJob
) -> list[FusionTest]:
    """The tests of a wave; none goes on when one cannot be run."""
    tasks = [asyncio.create_task(_judge(asked, code, case, run)) for case in wave]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _judge(asked: FusionSubmit, code: str, case: FusionCase, run: RunJob) -> FusionTest:
    config = asked.config
    program = FusionRun(
        code=code,
        language=str(config.language),
        stdin=case.input["stdin"],
        compile_timeout=config.compile_timeout or 10,
        run_timeout=config.run_timeout or (10 if config.language == "cpp" else 20),
    )
    reply = await run_code(program, run)
    if reply.status == "SandboxError":
        raise RequestRefused(503, "sandbox", reply.message, retry_s=5)
    passed = reply.status == "Success" and await asyncio.to_thread(
        is_accepted, _printed(reply), case.output["stdout"]
    )
    whole = not passed or asked.config.extra.get("return_full_case") is True
    shown = case if whole else FusionCase(input=_short(case.input), output=_short(case.output))
    return FusionTest(passed=passed, exec_info=reply, test_info=shown.model_dump())


def is_accepted(printed: str, expected: str) -> bool:
    """True when the lines are the same by SandboxFusion's rule."""
    left, right = printed.strip().split("\n"), expected.strip().split("\n")
    return len(left) == len(right) and all(map(_same_line, left, right))


def _same_line(printed: str, expected: str) -> bool:
    left, right = printed.strip().lower(), expected.strip().lower()
    if left == right:
        return True
    try:
        got, wanted = float(left), float(right)
    except ValueError:
        return False
    if not (math.isfinite(got) and math.isfinite(wanted)):
        return False
    return abs(got - wanted) / max(abs(wanted), 1e-10) < _REL_TOL


def _printed(reply: FusionReply) -> str:
    return (reply.run_result.stdout or "") if reply.run_result is not None else ""


def _short(texts: dict[str, str]) -> dict[str, str]:
    return {key: text[:_SHOWN] for key, text in texts.items()}


def _row(asked: FusionSubmit) -> dict[str, Any]:
    """The row of the request's id. Raises RequestRefused (400)."""
    given = asked.config.provided_data
    if given is None:
        _refuse(
            "config.provided_data",
            f"holds no row, and unhack has no table of {asked.dataset!r}; send the row with `test`",
        )
    if isinstance(given, dict):
        return given
    found = [row for row in given if row.get("id") == asked.id]
    if len(found) != 1:
        _refuse("config.provided_data", f"holds {len(found)} rows with id {asked.id!r}; one it is")
    return found[0]


def _cases(row: dict[str, Any]) -> list[FusionCase]:
    """The cases of a row, whose `test` is a list or its JSON. Raises RequestRefused (400)."""
    field = "config.provided_data.test"
    found: Any = row.get("test")
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            _refuse(field, "is a text that is not JSON")
    if not isinstance(found, list) or not found:
        _refuse(field, "is not a list with at least one case; without cases everything would pass")
    listed = cast("list[Any]", found)
    if len(listed) > _MOST_CASES:
        _refuse(field, f"holds {len(listed)} cases; at most {_MOST_CASES} are taken")
    cases: list[FusionCase] = []
    for number, one in enumerate(listed):
        try:
            case = FusionCase.model_validate(one, strict=True)
        except ValidationError:
            _refuse(f"{field}.{number}", "is not {input: {stdin}, output: {stdout}} of texts")
        if set(case.input) != {"stdin"} or set(case.output) != {"stdout"}:
            _refuse(
                f"{field}.{number}",
                "names other streams than stdin and stdout, which alone are judged",
            )
        cases.append(case)
    return cases


def _found(completion: str, language: str) -> tuple[str, Any]:
    """The code of a completion, and the place where it was found in their words."""
    code = extract_code(completion, language=language) or ""
    if not code:
        return code, "empty"
    blocks = fenced_blocks(completion)
    if not blocks:
        return code, "heuristic"
    return code, "fenced" if blocks[-1].closed else "incomplete_fenced"


def _refuse(field: str, words: str) -> NoReturn:
    raise invalid(field, words, status=400)
