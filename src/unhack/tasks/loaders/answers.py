r"""Rows with a question and a gold answer: mathematics as it is published.

The gold is read from the answer's column, else from the box of the worked solution
(`verifiers.answers.gold`). Where both hold a number, that of the solution is the reference, so that
a row whose columns contradict each other is found.

The final answer of a completion is read in the form that the question asks for. A question that
names none gets a sentence that asks for `\boxed{}`; a tag and "the answer is" will do then. Units
are those of the gold; where it has none, any.

Covered: tolerances of OlympiadBench; rows of reasoning-gym by the library's scorer; rows for verl,
whose code goes to the contest loader.
Not covered: proofs, and answers that only a model can judge.
"""

from __future__ import annotations

import math
from typing import Any, cast

from unhack.core.problem import Problem
from unhack.tasks.loaders import reasoning_gym, stdio_json
from unhack.tasks.loaders.options import PRIME, LoadOptions
from unhack.tasks.loaders.records import DataSetRow
from unhack.tasks.task import Task
from unhack.verifiers.answers.final_answer import Marker, write_answer
from unhack.verifiers.answers.gold import GoldError, read_gold
from unhack.verifiers.answers.numerals import read_number
from unhack.verifiers.text import AnswerCheck, TextVerifier

PROMPTS = ("problem", "question", "prompt", "Problem", "Question", "query", "input")
ANSWERS = ("answer", "final_answer", "Answer", "gold", "ground_truth", "expected_answer", "target")
SOLUTIONS = ("solution", "Solution", "output", "response")
_ASK = "Put the final answer in \\boxed{}."


def read_task(record: DataSetRow, options: LoadOptions) -> Task:
    """The task of one row. Raises TaskError, which names file and line."""
    wrapped = record.decoded("reward_model", "verification_info")
    if isinstance(wrapped, dict):
        fields = cast("dict[str, Any]", wrapped)
        truth = fields.get("ground_truth")
        if "test_cases" in fields or (isinstance(truth, str) and '"inputs"' in truth):
            return stdio_json.read_task(record, options, PRIME)
        if isinstance(truth, str) and truth.startswith("{") and '"tests"' in truth:
            record.fields["tests"] = truth
            record.fields["tests"] = cast("dict[str, Any]", record.decoded("tests")).get("tests")
            return stdio_json.read_deepcoder(record, options)
        record.fields["answer"] = truth
    prompt = record.message_text(*PROMPTS)
    answer, solution = record.first(*ANSWERS), record.first(*SOLUTIONS)
    try:
        gold = read_gold(solution if answer is None else answer)
    except GoldError as error:
        raise record.error(str(error)) from None
    kinds = [str(record.fields.get(name, "")) for name in ("question_type", "answer_type")]
    if any("proof" in kind.casefold() for kind in kinds):
        raise record.error(f"the row asks for no final answer: {(*kinds, gold[:40])}")
    markers, others = _markers(prompt), ()
    if not markers:
        prompt, markers = f"{prompt.rstrip()}\n\n{_ASK}\n", (Marker.BOXED, Marker.HASHES)
        others = (Marker.TAG, Marker.PHRASE)
    verifier = TextVerifier(
        AnswerCheck.MATH,
        answer_in=markers,
        else_in=others,
        any_unit=True,
        abs_tol=_tolerance(record),
    )
    number = record.first("id", "unique_id", "problem_id", "index", "ID", "idx")
    name = str(record.line if number is None else number)
    reference = write_answer(_own_answer(solution, gold), markers[0])
    problem = Problem(name, prompt, reference=reference, answer=gold)
    return Task(problem, verifier)


def _markers(prompt: str) -> tuple[Marker, ...]:
    """The forms of a final answer that the question names."""
    signs = {Marker.BOXED: "\\boxed", Marker.TAG: "<answer>", Marker.PHRASE: "answer:"}
    return tuple(marker for marker, sign in signs.items() if sign in prompt.casefold())


def _own_answer(solution: Any, gold: str) -> str:
    """The number in the box of a worked solution, where the gold is a number too; else the gold."""
    if not isinstance(solution, str) or "\\boxed" not in solution or read_number(gold) is None:
        return gold
    try:
        own = read_gold(solution)
    except GoldError:
        return gold
    return gold if read_number(own) is None else own


def _tolerance(record: DataSetRow) -> float:
    """The absolute tolerance of OlympiadBench's column `error`."""
    try:
        value = float(record.first("error") or 0.0)
    except (TypeError, ValueError):
        return 0.0
    return value if math.isfinite(value) and value > 0 else 0.0


def read_gym(record: DataSetRow, options: LoadOptions) -> Task:
    """The task of a row that reasoning-gym generated: `question`, `answer` and `metadata`."""
    metadata = record.first("metadata")
    metadata = cast("dict[str, Any]", metadata if isinstance(metadata, dict) else {})
    name = str(metadata.get("source_dataset") or "")
    if not name:
        return read_task(record, options)
    rules = reasoning_gym.ScoringRules(limits=options.limits)
    return reasoning_gym.entry_task(name, {}, record.fields, rules=rules, number=record.line)
