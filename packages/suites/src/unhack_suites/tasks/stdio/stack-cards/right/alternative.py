"""Turns each card into a function on a linked stack and lets exceptions report the faults."""
from collections.abc import Callable
from math import trunc
from fractions import Fraction
from typing import Any

Stack = Any  # () when empty, otherwise (top, rest)
Step = Callable[[Stack], tuple[Stack, int]]


def build(at: int, card: str) -> Step:
    name, _, text = card.strip().partition(" ")
    number = int(text) if text else 0

    def step(stack: Stack) -> tuple[Stack, int]:
        if name == "put":
            return (number, stack), at + 1
        if name == "hop":
            return stack, number
        top, rest = stack
        if name == "copy":
            return (top, stack), at + 1
        if name == "drop":
            return rest, at + 1
        if name == "say":
            print(top)
            return rest, at + 1
        if name == "zero":
            return rest, (at + 1 if top else number)
        below, rest = rest
        if name == "swap":
            return (below, (top, rest)), at + 1
        results = {"add": below + top, "sub": below - top, "mul": below * top}
        value = trunc(Fraction(below, top)) if name == "div" else results[name]
        if abs(value) > 1_000_000_000:
            raise OverflowError(value)
        return (value, rest), at + 1

    return step


size = int(input())
program = [build(i + 1, input()) for i in range(size)]
state: Stack = ()
position = 1
verdict = ""
for _ in range(1000):
    if position > size:
        break
    try:
        state, position = program[position - 1](state)
    except (ValueError, ArithmeticError):
        verdict = f"fault {position}"
        break
print(verdict or ("done" if position > size else "stuck"))
