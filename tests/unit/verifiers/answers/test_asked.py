"""Units, sides and sizes that a question asks for, where the gold answer does not say."""

from __future__ import annotations

import pytest

from unhack.core.problem import Problem
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.answers.asked import MAX_QUESTION_CHARS, asks_for, is_asked
from unhack.verifiers.text import AnswerCheck, TextVerifier

CASES: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    ("How many hours does he walk?", "5", (r"5\text{ hours}", "5"), (r"5\text{ minutes}",)),
    ("They earn \\$4 each. How much in all?", "12", (r"\$12",), (r"12\text{ cents}",)),
    ("What is the length (in cm)?", "26", (r"26\text{ cm}",), (r"26\text{ mm}", "26\\text{ m}")),
    (r"Find the wavelength. Answer in $\AA$.", "48", (r"48\ \text{\AA}",), (r"48\text{ nm}",)),
    (r"Give the energy in $\mathrm{eV}$.", "11.9", ("11.9 eV",), (r"11.9\text{ keV}",)),
    ("What is it in Celsius?", "1950", (r"1950^\circ\text{C}",), (r"1950\text{ K}",)),
    ("How many children are there?", "3", ("three", r"\text{three children}", "3 children"),
     (r"\text{three hundred}", r"\text{three eighths}", r"\text{three and a half}",
      r"\text{three squared}", r"\text{three point five}")),
    ("How many are there?", "100", (r"\text{one hundred}",), (r"\text{one hundred twenty}",)),
    ("How many ways are there?", "9", (r"9\text{ ways}", r"9\text{ cm}"), (r"9\%",)),
    ("What percentage is acid?", r"17.5\%", ("17.5", "0.175", r"17.5\%"), ("1.75", "18")),
    ("What is the probability?", r"70\%", ("0.7", r"70\%"), ("70",)),
    ("Prices rise by 20%. What is the new price?", "90", (r"90",), (r"90\%", "0.9")),
    (r"He saves $10\%$ more. What percentage is it?", "40", (r"40\%", "40"), ("0.4",)),
    ("Estimate the angle in arcseconds.", "0.7", (r"0.7\text{ arcsec}",), (r"0.7^\circ",)),
    ("What percent is it?", r"0.5\%", ("0.005",), ("0.5",)),
    ("Compute $x^{2}$.", "5", ("x^2=5", "x^{2} = 5"), ("x^3=5", "y^2=5", "x^2=6")),
    ("Solve $x^2=25$.", "5", ("x=5",), ("x^2=5", "x^2=25")),
    ("What is $|z|^2$?", "50", ("|z|^2=50",), ("|z|^3=50",)),
    (r"Find the dimensions of the box.", r"6\times 10", (r"10 \times 6", "6 by 10"),
     ("60", r"6\times 11", r"6\cdot 10\cdot 1")),
    ("How many words are there?", r"26\times 25", ("650",), ("651",)),
]  # fmt: skip


@pytest.mark.parametrize(("question", "gold", "right", "wrong"), CASES)
def test_the_question_says_which_unit_the_gold_answer_has_lost(
    question: str, gold: str, right: tuple[str, ...], wrong: tuple[str, ...], pool: Pool
) -> None:
    verifier = TextVerifier(AnswerCheck.MATH, any_unit=True)
    task = Task(Problem("p", question, answer=gold), verifier)
    texts = (*right, *wrong)
    batch = run_batch(task, [f"\\boxed{{{text}}}" for text in texts], backend=pool)
    assert {text for text, score in zip(texts, batch.rewards, strict=True) if score} == set(right)


def test_without_a_question_any_unit_is_right() -> None:
    assert is_asked("minute", "")
    assert is_asked("minute", "How long is it?")
    assert not is_asked("minute", "He walks 3 hours. How long is it?")
    assert is_asked("minute", "In 3 hours and 2 minutes, how long is it?")
    assert not is_asked("minute", "x" * MAX_QUESTION_CHARS + " How many hours?")


def test_a_side_is_asked_for_where_it_stands_behind_the_verb() -> None:
    assert asks_for("a+b", "If ab=2, find $a+b$.")
    assert not asks_for("a", "If ab=2, find $a+b$.")
    assert not asks_for("ab", "If ab=2, find $a+b$.")
