"""Expressions of a line, read by a parser of their own: nothing of a text is ever evaluated by
Python.

Covered: sums, products written and left out, quotients, powers, roots, factorials, percent,
binomials, `±`, functions of one argument that the problem defines.
Not covered: names of more than one letter; they are words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from unhack_suites.derivations.reading import algebra
from unhack_suites.derivations.reading.algebra import Quotient, Unreadable

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:\.\.\.)?|\.\d+)|(?P<word>choose|sqrt|pi|gcd|lcm|log|sin|cos|tan|series|floor|ceil)|(?P<name>[^\W\d_])"
    r"|(?P<sign>[-+*/^()!%√±;]))"
)
_MAX_TOKENS, _MAX_DEPTH, _MAX_FACTORIAL = 200, 30, 170
FUNCTIONS = ("f", "g", "h", "p", "q")


@dataclass(frozen=True, slots=True)
class UnitValue:
    """A number of units in base units."""

    factor: Fraction
    dimensions: frozenset[tuple[str, int]]
    imperial: bool
    """True where conversions are usually rounded."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One side of a relation."""

    value: Quotient
    shape: str
    """Its form, equal for sides that are the same but for order and spelling."""
    numbers: tuple[Fraction, ...]
    """The numbers as they stand in it."""
    operations: int
    places: int | None = None
    """Places behind the point where the side is one number as it stands; for rounding."""
    percent: bool = False
    open_ended: bool = False
    """True for a number with dots behind it."""
    rooted: bool = False
    amount: UnitValue | None = None

    @property
    def scale(self) -> Fraction | None:
        """The base units in one of its units."""
        value = self.value.rational()
        return self.amount.factor / value if self.amount is not None and value else None


@dataclass(slots=True)
class _Reader:
    """A descent over the tokens of one side."""

    tokens: list[tuple[str, str]]
    functions: Mapping[str, tuple[str, str]]
    """Name -> (argument, body)."""
    sign: int
    at: int = 0
    numbers: list[Fraction] = field(default_factory=list[Fraction])
    operations: int = 0
    signs_seen: bool = False
    rooted: bool = False
    depth: int = 0

    def peek(self) -> tuple[str, str]:
        """The next token, empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ("", "")

    def take(self, text: str) -> bool:
        """Take a sign if it is next."""
        if self.peek() == ("sign", text):
            self.at += 1
            return True
        return False

    def total(self) -> tuple[Quotient, str]:
        """A sum."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise Unreadable("too deeply nested")
        value, shape = self.signed()
        parts = [shape]
        while True:
            kind, text = self.peek()
            if kind != "sign" or text not in "+-±":
                break
            self.at += 1
            self.operations += 1
            sign = self._sign_of(text)
            other, shape = self.signed()
            value = algebra.add(value, other, sign)
            parts.append(shape if sign > 0 else f"-{shape}")
        self.depth -= 1
        return value, parts[0] if len(parts) == 1 else f"({'+'.join(sorted(parts))})"

    def signed(self) -> tuple[Quotient, str]:
        """A product with signs before it."""
        sign, seen = 1, False
        while self.peek()[1] in ("+", "-", "±") and self.peek()[0] == "sign":
            sign *= self._sign_of(self.peek()[1])
            self.at += 1
            seen = True
            if self.at > _MAX_TOKENS:
                raise Unreadable("too many signs")
        value, shape = self.product()
        if not seen or sign > 0:
            return value, shape
        return algebra.multiply(algebra.number(-1), value), f"-{shape}"

    def product(self) -> tuple[Quotient, str]:
        """A product; a sign between two factors may be left out."""
        value, shape = self.factor()
        parts = [shape]
        while True:
            kind, text = self.peek()
            if kind == "sign" and text in ("*", "/"):
                self.at += 1
                self.operations += 1
                other, shape = self.signed_factor()
                combine = algebra.multiply if text == "*" else algebra.divide
                value = combine(value, other)
                parts.append(shape if text == "*" else f"/{shape}")
            elif kind in ("name", "word") or (kind == "sign" and text in "(√"):
                self.operations += 1
                other, shape = self.factor()
                value = algebra.multiply(value, other)
                parts.append(shape)
            else:
                break
        return value, parts[0] if len(parts) == 1 else f"[{'*'.join(sorted(parts))}]"

    def signed_factor(self) -> tuple[Quotient, str]:
        """A factor that may have a sign of its own, as in `3 · -2`."""
        if self.take("-"):
            value, shape = self.factor()
            return algebra.multiply(algebra.number(-1), value), f"-{shape}"
        return self.factor()

    def factor(self) -> tuple[Quotient, str]:
        """An atom with what stands behind it: a power, `!`, `%`."""
        value, shape = self.atom()
        while True:
            if self.take("^"):
                self.operations += 1
                exponent, inner = self.signed_factor()
                value, shape = algebra.power(value, exponent), f"{shape}^{inner}"
            elif self.take("!"):
                self.operations += 1
                value, shape = _factorial(value), f"{shape}!"
            elif self.take("%"):
                value = algebra.divide(value, algebra.number(100))
                shape = f"{shape}%"
            else:
                return value, shape

    def atom(self) -> tuple[Quotient, str]:
        """A number, a name, a root, a call, or a sum in brackets."""
        kind, text = self.peek()
        self.at += 1
        if kind == "number":
            value = exact(text)
            self.numbers.append(value)
            return algebra.number(value), str(value)
        if text in ("√", "sqrt"):
            self.operations += 1
            self.rooted = True
            value, shape = self.atom()
            return algebra.root(value), f"√{shape}"
        if text == "choose":
            return self._choose()
        if text in _OF_NUMBERS:
            return self._of_numbers(text)
        if kind == "name" and text in self.functions and self.peek()[1] == "(":
            return self._call(text)
        if kind == "name" or text == "pi":
            held = algebra.PI if text in ("pi", algebra.PI) else text
            return algebra.name(held), held
        if (kind, text) == ("sign", "("):
            value, shape = self.total()
            if not self.take(")"):
                raise Unreadable("a bracket is not closed")
            return value, shape
        raise Unreadable(f"nothing can be read at {text!r}")

    def _choose(self) -> tuple[Quotient, str]:
        self.take("(")
        count, _ = self.total()
        self.take(";")
        part, _ = self.total()
        self.take(")")
        whole, chosen = count.rational(), part.rational()
        if whole is None or chosen is None or not 0 <= chosen <= whole <= _MAX_FACTORIAL:
            raise Unreadable("a binomial of odd numbers")
        self.operations += 1
        return algebra.number(math.comb(int(whole), int(chosen))), f"C{whole},{chosen}"

    def _of_numbers(self, text: str) -> tuple[Quotient, str]:
        """A function of numbers, as `gcd(96; 72)`, `log(2; 8)` or `sin(30)` in degrees."""
        held: list[Fraction] = []
        while self.take(";" if held else "("):
            value = self.total()[0].rational()
            if value is None:
                raise Unreadable(f"{text} of what is no number")
            held.append(value)
        if not self.take(")") or not held:
            raise Unreadable("a bracket is not closed")
        self.operations += 1
        return _OF_NUMBERS[text](held), f"{text}({','.join(map(str, held))})"

    def _call(self, text: str) -> tuple[Quotient, str]:
        self.take("(")
        value, shape = self.total()
        if not self.take(")"):
            raise Unreadable("a bracket is not closed")
        argument, body = self.functions[text]
        self.operations += 1
        held = read(body, {}).value
        top = algebra.put_in(held.top, {argument: value})
        below = algebra.put_in(held.below, {argument: value})
        return algebra.divide(top, below), f"{text}({shape})"

    def _sign_of(self, text: str) -> int:
        if text == "±":
            self.signs_seen = True
            return self.sign
        return -1 if text == "-" else 1


def read(
    text: str, functions: Mapping[str, tuple[str, str]] | None = None, *, sign: int = 1
) -> Expression:
    """The expression that a text is. `sign` is what `±` stands for. Raises Unreadable."""
    reader = _Reader(tokens_of(text), functions or {}, sign)
    if not reader.tokens:
        raise Unreadable("nothing is there")
    value, shape = reader.total()
    if reader.at < len(reader.tokens):
        raise Unreadable(f"something is left at {reader.peek()[1]!r}")
    lone = re.fullmatch(r"\s*-?\d+(?:\.(\d+))?(\.\.\.)?\s*(%)?\s*", text)
    places = None if lone is None else len(lone[1] or "") + (2 if lone[3] else 0)
    return Expression(
        value, shape, tuple(reader.numbers), reader.operations, places,
        percent=lone is not None and bool(lone[3]), open_ended="..." in text, rooted=reader.rooted,
    )  # fmt: skip


def tokens_of(text: str) -> list[tuple[str, str]]:
    """(kind, text) of each token. Raises Unreadable."""
    found: list[tuple[str, str]] = []
    at = 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None or len(found) >= _MAX_TOKENS:
            raise Unreadable(f"{stripped[at : at + 20]!r} is no expression")
        kind = match.lastgroup or ""
        found.append((kind, match[kind]))
        at = match.end()
    return found


def exact(text: str) -> Fraction:
    """The number; one with dots that shows its period twice is the whole of it: `0.3636...`."""
    shown = text.removesuffix("...")
    value, digits = Fraction(shown), shown.partition(".")[2]
    for length in range(1, min(len(digits) // 2, 12) + 1) if text != shown else ():
        if digits[-length:] == digits[-2 * length : -length]:
            return value + Fraction(int(digits[-length:]), (10**length - 1) * 10 ** len(digits))
    return value


def _whole(held: list[Fraction], combine: Callable[..., int]) -> Quotient:
    if len(held) < 2 or any(one.denominator > 1 or one <= 0 for one in held):
        raise Unreadable("it needs whole numbers")
    return algebra.number(combine(*(int(one) for one in held)))


def _logarithm(held: list[Fraction]) -> Quotient:
    base, value = held if len(held) == 2 else (Fraction(10), held[0])
    if base <= 1 or value <= 0:
        raise Unreadable("a logarithm that is none")
    found = math.log(value) / math.log(base)
    near = Fraction(round(found * 12), 12)
    if near.denominator == 1 and abs(near) < 200 and base ** int(near) == value:
        return algebra.number(near)
    return algebra.constant(found)


def _angle(held: list[Fraction], function: str) -> Quotient:
    [degrees] = held
    if function == "tan":
        below = _angle(held, "cos")
        return algebra.divide(_angle(held, "sin"), below)
    turned = (degrees if function == "sin" else degrees + 90) % 360
    sign, turned = (-1 if turned > 180 else 1), turned % 180
    square = {0: 0, 30: 1, 45: 2, 60: 3, 90: 4, 120: 3, 135: 2, 150: 1}.get(int(turned))
    if square is None or turned.denominator > 1:
        return algebra.constant(sign * math.sin(math.radians(turned)))
    return algebra.multiply(algebra.root(algebra.number(square)), algebra.number(Fraction(sign, 2)))


def _series(held: list[Fraction]) -> Quotient:
    """The sum of a row with dots, of which the first terms and the last one stand there."""
    first, second, *middle, last = held
    step = second - first
    if step and not any(one != second + step for one in middle):
        count = (last - first) / step + 1
        if count.denominator == 1 and count >= len(held):
            return algebra.number(count * (first + last) / 2)
    total, term, ratio = first, first, second / first if first else Fraction(0)
    for _ in range(_MAX_DEPTH if ratio > 1 and middle == [second * ratio] else 0):
        term *= ratio
        total += term
        if term == last:
            return algebra.number(total)
    raise Unreadable("a row that is no series")


_OF_NUMBERS: Mapping[str, Callable[[list[Fraction]], Quotient]] = {
    "gcd": lambda held: _whole(held, math.gcd),
    "lcm": lambda held: _whole(held, math.lcm),
    "log": _logarithm,
    "series": _series,
    "floor": lambda held: algebra.number(math.floor(held[-1])),
    "ceil": lambda held: algebra.number(math.ceil(held[-1])),
    "sin": lambda held: _angle(held, "sin"),
    "cos": lambda held: _angle(held, "cos"),
    "tan": lambda held: _angle(held, "tan"),
}


def _factorial(value: Quotient) -> Quotient:
    exact = value.rational()
    if exact is None or exact.denominator != 1 or not 0 <= exact <= _MAX_FACTORIAL:
        raise Unreadable("a factorial of an odd number")
    return algebra.number(math.factorial(int(exact)))
