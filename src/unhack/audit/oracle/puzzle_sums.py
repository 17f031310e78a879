"""Puzzles that ask for a number made of given numbers: what is given, and what an expression is.

Covered: prompts that list the numbers and say the target, whose known solution keeps both.
Not covered: other operators than + - * / in the known solution; targets that are no whole number.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

_TARGET = re.compile(
    r"(?:make|reach|equals?|gets?|obtain|results? in|target(?: number| value)?(?: of| is|:)?"
    r"|adds? up to|sums? (?:up )?to|total(?:s| of)?)"
    r"\s*(?:the number\s*)?(-?\d+)\b",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?<![\d.])\d+(?:\s*,\s*(?:and\s+)?\d+){2,}(?![\d.]*\d)")
_ALL = re.compile(r"\ball (?:of |the |these |given )|exactly once|every number", re.IGNORECASE)
_ONCE = re.compile(r"\bonce\b", re.IGNORECASE)
_OPERATORS = re.compile(r"\+\W{1,8}-\W{1,8}\*")
_SAMPLES = 2500


@dataclass(frozen=True, slots=True)
class SumPuzzle:
    """The target, numbers and rules of such a puzzle."""

    target: int
    numbers: list[int]
    takes_all: bool
    """True when it says that all numbers are to be used."""
    takes_once: bool
    """True when it says that no number may be used twice."""
    names_operators: bool
    """True when it says which operators may be used."""


def puzzle_of(prompt: str, answer: str) -> SumPuzzle | None:
    """The puzzle of a prompt, where the known answer solves it or is its target."""
    target, listed = _TARGET.search(prompt), _NUMBERS.search(prompt)
    if target is None or listed is None:
        return None
    numbers = [int(number) for number in re.findall(r"\d+", listed[0])]
    wanted = int(target[1])
    if answer.strip() != target[1]:
        used = Counter(int(number) for number in re.findall(r"\d+", answer))
        if used - Counter(numbers) or evaluate(answer) != wanted:
            return None
    said = [rule.search(prompt) is not None for rule in (_ALL, _ONCE, _OPERATORS)]
    return SumPuzzle(wanted, numbers, *said)


def target_of(prompt: str) -> int | None:
    """The number that such a prompt asks for; None where it lists no numbers or names none."""
    target = _TARGET.search(prompt)
    return int(target[1]) if target is not None and _NUMBERS.search(prompt) else None


def rule_broken(prompt: str, answer: str, text: str) -> str:
    """The rule of such a puzzle that an expression breaks, as a clause; empty where none is
    known to be."""
    puzzle = puzzle_of(prompt, answer)
    if puzzle is None or text.strip() == answer.strip():
        return ""
    if puzzle.names_operators and re.search(r"//|\*\*|%", text):
        return "it uses an operator that was not offered"
    if not re.fullmatch(r"[\d\s+*/()-]+", text):
        return "it is not made of the given numbers alone"
    value = evaluate(text)
    if value is None:
        return ""
    used, given = Counter(map(int, re.findall(r"\d+", text))), Counter(puzzle.numbers)
    foreign = sorted(set(used) - set(given))
    if foreign:
        return f"it uses {foreign[0]}, which is not given"
    if puzzle.takes_once and used - given:
        return f"it uses {min(used - given)} more often than it is given"
    if puzzle.takes_all and given - used:
        return f"it does not use {min(given - used)}"
    return "" if value == puzzle.target else f"it is {value}, not {puzzle.target}"


def evaluate(text: str) -> Fraction | None:
    """The exact value of an expression of whole numbers and + - * /; None for anything else."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return None


def sample_expressions(
    numbers: Sequence[int], operators: str, rng: random.Random
) -> Iterator[tuple[str, Fraction]]:
    """Expressions that use each of the numbers once, at random, with their values.

    `operators` are of `+-*/` and of `|^%` for whole division, powers and remainders.
    """
    for _ in range(_SAMPLES):
        left = [(str(number), Fraction(number)) for number in numbers]
        while len(left) > 1:
            first = left.pop(rng.randrange(len(left)))
            second = left.pop(rng.randrange(len(left)))
            joined = _join(first, second, rng.choice(operators))
            if joined is None:
                break
            left.append(joined)
        if len(left) == 1 and len(numbers) > 1:
            yield left[0][0].removeprefix("(").removesuffix(")"), left[0][1]
        elif len(numbers) == 1:
            yield left[0]


def _join(
    first: tuple[str, Fraction], second: tuple[str, Fraction], operator: str
) -> tuple[str, Fraction] | None:
    (left, one), (right, other) = first, second
    written = {"|": "//", "^": "**"}.get(operator, operator)
    text = f"({left} {written} {right})"
    if operator == "+":
        return text, one + other
    if operator == "-":
        return text, one - other
    if operator == "*":
        return text, one * other
    if operator == "^":
        small = other.denominator == 1 and 2 <= other <= 4 and abs(one) <= 50
        return (text, Fraction(one**other.numerator)) if small else None
    if other == 0:
        return None
    if operator == "/":
        return text, one / other
    return text, Fraction(one // other) if operator == "|" else one % other


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() as number):
            return Fraction(number)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _value(left) / _value(right)
        case _:
            raise ValueError("something else")
