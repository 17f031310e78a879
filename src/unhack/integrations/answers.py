"""Tasks of rows whose right answer stands in a column, as published data sets have it.

Covered: the columns of GSM8K, MATH, NuminaMath, open-r1, DAPO and their kin (`answers.gold` reads
them). A row without an answer that can be read has no task: `unreadable` finds such rows before a
run begins.
A final answer is looked for in a box or after `####`, else in an answer tag or behind "the answer
is", else it is the text of one line. Units are those of the gold; where it has none, any that the
other texts of the row, the question among them, do not speak against.
Not covered: answers that are code; `tasks.loaders` makes tasks of those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from unhack.core.errors import UnknownNameError, with_article
from unhack.core.problem import Problem
from unhack.tasks.task import Task
from unhack.verifiers.answers.asked import MAX_QUESTION_CHARS
from unhack.verifiers.answers.final_answer import Marker
from unhack.verifiers.answers.gold import GoldError, read_gold
from unhack.verifiers.text import AnswerCheck, TextVerifier


@dataclass(frozen=True, slots=True)
class AnswerTasks:
    """Tasks of rows that hold the right answer in a column: a number, a text, a worked solution.

    Example:

        reward = reward_function(AnswerTasks("answer", check="numeric"))
    """

    column: str = "solution"
    check: AnswerCheck | str = AnswerCheck.MATH
    """How answers are compared, see `verifiers.text`."""

    def __call__(self, row: Mapping[str, Any]) -> Task:
        """The task of a row. Raises UnknownNameError for a column that is not there, GoldError for
        one without an answer, TaskError."""
        if self.column not in row:
            raise UnknownNameError("column", self.column, valid=tuple(map(str, row)))
        verifier = TextVerifier(
            cast("AnswerCheck", self.check),  # its name will do
            else_in=(Marker.TAG, Marker.PHRASE, Marker.LINE),
            any_unit=True,
        )
        gold = self._gold(row[self.column], verifier)
        return Task(Problem("answer", self._question(row), answer=gold), verifier)

    def unreadable(self, rows: Iterable[Mapping[str, Any]]) -> dict[int, str]:
        """Index -> reason, of the rows whose answer cannot be read. Raises what a call raises."""
        found: dict[int, str] = {}
        for index, row in enumerate(rows):
            try:
                self(row)
            except GoldError as error:
                found[index] = str(error)
        return found

    def _question(self, row: Mapping[str, Any]) -> str:
        """The other texts of a row, and those of its chats that are not the assistant's."""
        texts: list[str] = []
        for name, value in row.items():
            if name == self.column:
                continue
            for item in cast("list[Any]", value) if isinstance(value, list) else [value]:
                said = item
                if isinstance(item, Mapping):
                    told = cast("Mapping[str, Any]", item)
                    said = told.get("content") if told.get("role") in {"user", "system"} else None
                texts += [said[:MAX_QUESTION_CHARS]] if isinstance(said, str) else []
        return "\n".join(texts)[:MAX_QUESTION_CHARS]

    def _gold(self, value: object, verifier: TextVerifier) -> str:
        if verifier.check in {AnswerCheck.MATH, AnswerCheck.NUMERIC}:
            try:
                return read_gold(value)
            except GoldError as error:
                raise GoldError(f"column {self.column!r}: {error}") from None
        if isinstance(value, str) and value.strip():
            return value
        shown = "a blank text" if isinstance(value, str) else with_article(value)
        raise GoldError(
            f"column {self.column!r} holds {shown}; the check {verifier.check} compares a text"
        )
