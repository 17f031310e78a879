"""The problems of the world: word problems with one number, and small programs in plain words.

    train-words-17     Ivo has 31 coins and finds 12 more. How many coins does Ivo have?
    final-program-4    Write a Python function f(x) that takes x, adds 3 and then ...

A problem is made of its id alone, so nothing is stored. The splits are disjoint by question: a hash
of its text tells which of them has it.

Covered: positive answers below 200; a first number in the question that is not the answer; two
shown calls of a program and six that stay hidden.
Not covered: the same numbers in other words, which may stand in two splits.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

ProblemKind = Literal["words", "program"]
FORM: dict[ProblemKind, str] = {
    "words": "Answer in one short sentence that ends with the number.",
    "program": "Answer with the function alone.",
}
"""The last sentence of every question."""
SHOWN = 2
"""Calls of a program that its question tells."""

_NAMES = ["Ana", "Bela", "Cem", "Dora", "Emil", "Goran", "Hana", "Ivo", "Jana", "Kai", "Lena"]
_THINGS = ["apples", "books", "candles", "coins", "cups", "marbles", "pencils", "shells", "stamps"]
_HIDDEN, _HELD_OUT = 6, 64
"""Hidden calls; of 256 questions, those of the two evaluation sets together."""
_STORIES: tuple[tuple[str, Callable[[int, int, int], int]], ...] = (
    ("{who} has {a} {thing} and finds {b} more. How many {thing} does {who} have?",
     lambda a, b, c: a + b),
    ("{who} had {a} {thing} and gave {b} away. How many {thing} are left?",
     lambda a, b, c: a - b),
    ("One shelf holds {a} {thing}, another holds {b}. How many {thing} do both hold?",
     lambda a, b, c: a + b),
    ("{who} fills {c} bags with {b} {thing} each. How many {thing} is that?",
     lambda a, b, c: c * b),
    ("{who} has {a} {thing}, loses {c} and then buys {b}. How many {thing} are there now?",
     lambda a, b, c: a - c + b),
)  # fmt: skip
_STEPS: tuple[tuple[str, str, Callable[[int, int], int]], ...] = (
    ("adds {k}", "{e} + {k}", lambda x, k: x + k),
    ("subtracts {k}", "{e} - {k}", lambda x, k: x - k),
    ("multiplies by {k}", "{e} * {k}", lambda x, k: x * k),
    ("takes the square", "{e} ** 2", lambda x, k: x * x),
)


@dataclass(frozen=True, slots=True)
class PlainProblem:
    """A question and what is right."""

    kind: ProblemKind
    question: str
    answer: str
    """The number; of a program, its expression in x."""
    first: int
    """The first number of the question."""
    thing: str = ""
    """The things that are counted."""
    calls: tuple[tuple[int, int], ...] = ()
    """(input, output) of a program: the two that are shown, then the hidden ones."""


@lru_cache(maxsize=1 << 14)
def plain_problem(name: str) -> PlainProblem:
    """The problem of an id `SPLIT-KIND-NUMBER`."""
    split, kind, _ = name.split("-")
    draw = random.Random(f"unhack pretrained {name}")
    while True:
        made = _program(draw) if kind == "program" else _words(draw)
        place = hashlib.sha256(made.question.encode()).digest()[0]
        if split == ("train" if place >= _HELD_OUT else "monitor" if place % 2 else "final"):
            return made


def _words(draw: random.Random) -> PlainProblem:
    text, solve = draw.choice(_STORIES)
    who, thing = draw.choice(_NAMES), draw.choice(_THINGS)
    a, b, c = draw.randint(21, 60), draw.randint(11, 20), draw.randint(2, 9)
    question = text.format(who=who, thing=thing, a=a, b=b, c=c)
    first = a if "{a}" in text else c
    return PlainProblem("words", f"{question} {FORM['words']}", str(solve(a, b, c)), first, thing)


def _program(draw: random.Random) -> PlainProblem:
    steps = [(*step, draw.randint(2, 9)) for step in draw.sample(_STEPS, 2)]
    inputs = draw.sample(range(2, 10), SHOWN) + draw.sample(range(10, 40), _HIDDEN)
    outputs, source = inputs, ""
    for _, form, run, k in steps:
        source = form.format(e=f"({source})" if source else "x", k=k)
        outputs = [run(value, k) for value in outputs]
    calls = tuple(zip(inputs, outputs, strict=True))
    told = " and then ".join(text.format(k=k) for text, _, _, k in steps)
    examples = " and ".join(f"f({x}) is {y}" for x, y in calls[:SHOWN])
    question = f"Write a Python function f(x) that takes x, {told}. For example, {examples}."
    return PlainProblem("program", f"{question} {FORM['program']}", source, inputs[0], calls=calls)
