"""Guesses at the right completion of a row: a column, the way to write its value, and a form.

    for guess in guesses_of(subject, row):
        completion_of(subject, row, guess)

Covered: values within columns that are dicts; lists and objects as people and JSON write them.
Not covered: answers made from two columns, except where a form names them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from unhack.audit.subject import AuditProblem, record_of
from unhack.audit.subjects.call_plans import PRIVATE, column_of
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.inputs.written_forms import ANSWER, fill, forms_in, separators_in
from unhack.audit.subjects.parameter_names import ANSWER as ANSWER_NAMES
from unhack.audit.subjects.parameter_names import likely_role

FORMS = (
    "{answer}",
    r"\boxed{{answer}}",
    "The answer is {answer}",
    "#### {answer}",
    "<answer>{answer}</answer>",
    "<think>\nIt can be worked out.\n</think>\n<answer>\n{answer}\n</answer>",
    "<think>\nIt can be worked out.\n</think>\n<answer>\n\\boxed{{answer}}\n</answer>",
    "<think>It can be worked out.</think>\n\\boxed{{answer}}",
    "<reasoning>\nIt can be worked out.\n</reasoning>\n<answer>\n{answer}\n</answer>\n",
    "It can be worked out.\n#### {answer}",
    r"The final answer is $\boxed{{answer}}$.",
    "Final Answer: The final answer is ${answer}$. I hope it is correct.",
    "Answer: {answer}",
    "Let us work it out.\n\nAnswer: \\boxed{{answer}}",
    "({answer})",
    "```\n{answer}\n```",
    '{"answer": "{answer}"}',
)
"""Ways to write a final answer; the one that a function rewards most is what it asks for."""
_DULL = frozenset({"data_source", "ability", "split", "index", "level", "difficulty", "source"})
"""Columns that describe a row."""


@dataclass(frozen=True, slots=True)
class AnswerTrial:
    """One way to make a right completion of a row."""

    column: str
    """With dots for what lies within a column; empty for the answer that is known by its name."""
    way: int
    """The place among the ways to write the column's value."""
    form: str


def guesses_of(subject: FunctionSubject, row: AuditProblem, gold: str) -> Iterator[AnswerTrial]:
    """Guesses, those first that come early in each of their orders."""
    tree = subject.target.defined_in.tree
    forms = [*forms_in(tree, row.prompt, row.extra), *FORMS]
    places: list[tuple[int, int, AnswerTrial]] = []
    columns = [gold] if gold else [*([""] if row.answer else []), *columns_of(row)]
    for at, column in enumerate(columns):
        for way in range(len(_ways(subject, row, column))):
            for number, form in enumerate(dict.fromkeys([ANSWER, *forms])):
                order = 4 * at + 4 * way + number
                places.append((order, number, AnswerTrial(column, way, form)))
    yield from (guess for _, _, guess in sorted(places, key=lambda one: one[:2]))


def columns_of(row: AuditProblem) -> list[str]:
    """Columns of a row that may hold an answer, those within dicts with a dot; likely names
    first."""
    found: list[str] = []
    for name, value in row.extra.items():
        if name in PRIVATE or name in _DULL or value is None or value == "":
            continue
        found.append(name)
        found += [f"{name}.{key}" for key in record_of(value) if key not in _DULL][:8]

    def likely(name: str) -> bool:
        last = name.rpartition(".")[2]
        return last in ANSWER_NAMES or likely_role(last) == "answer"

    return sorted(found, key=lambda name: not likely(name))[:16]


def text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None or isinstance(value, (list, dict)) else str(value)


def _ways(subject: FunctionSubject, row: AuditProblem, column: str) -> list[str]:
    """The ways to write a column's value, the plainest first."""
    value = column_of(row, column) if column else row.answer
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        items = cast("list[Any]", value)
        texts = [
            one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in items
        ]
        if not texts:
            return ["[]"]
        signs = [f" {sign.strip()} " for sign in separators_in(subject.target.defined_in.tree)]
        joined = [sign.join(texts) for sign in (", ", "\n", *signs, " ")]
        return list(dict.fromkeys([texts[0], json.dumps(items, ensure_ascii=False), *joined]))
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        lines = "\n".join(f"{key}: {text_of(one)}" for key, one in fields.items())
        return [json.dumps(fields, ensure_ascii=False), lines]
    return [] if value is None else [json.dumps(value), *([f"{value}"] * (value is True))]


def answer_of(subject: FunctionSubject, row: AuditProblem, guess: AnswerTrial) -> str:
    """The answer of a row as the guess has it written; empty where the row has none."""
    ways = _ways(subject, row, guess.column)
    return ways[min(guess.way, len(ways) - 1)] if ways else ""


def completion_of(subject: FunctionSubject, row: AuditProblem, guess: AnswerTrial) -> str:
    return fill(guess.form, answer_of(subject, row, guess), row.extra)
