"""Kinds of problems with known derivations: each draws its numbers and writes its lines.

Covered: every derivation is right by construction and holds at least two calculating lines; answers
are whole numbers or short decimals.
Not covered: hard mathematics; the point is the checking of steps.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction

Drawn = tuple[str, tuple[str, ...], str]
"""(statement, lines of the derivation, answer)."""
_THINGS = ("pens", "mugs", "lamps", "ropes", "bricks", "jars", "tiles", "bags")


def shown(value: Fraction | int) -> str:
    """A number as a short decimal. Raises ValueError for one that has none."""
    exact = Fraction(value)
    for places in range(5):
        scaled = exact * 10**places
        if scaled.denominator == 1:
            whole = f"{abs(int(scaled)):0{places + 1}d}"
            text = f"{whole[:-places]}.{whole[-places:]}" if places else whole
            return f"-{text}" if exact < 0 else text
    raise ValueError(f"{value} is no short decimal")


def shopping(rng: random.Random) -> Drawn:
    """Prices times counts, summed, and change."""
    one, other = rng.sample(_THINGS, 2)
    a, b = rng.randint(13, 48), rng.randint(13, 48)
    p, q = Fraction(rng.randint(5, 60), 4), Fraction(rng.randint(5, 60), 4)
    total = a * p + b * q
    paid = (int(total) // 100 + 1) * 100
    statement = (
        f"{a} {one} cost {shown(p)} dollars each and {b} {other} cost {shown(q)} dollars each. "
        f"Someone pays with {paid} dollars. How much change is due?"
    )
    lines = (
        f"{a} * {shown(p)} = {shown(a * p)}",
        f"{b} * {shown(q)} = {shown(b * q)}",
        f"{shown(a * p)} + {shown(b * q)} = {shown(total)}",
        f"{paid} - {shown(total)} = {shown(paid - total)}",
    )
    return statement, lines, shown(paid - total)


def linear(rng: random.Random) -> Drawn:
    """A linear equation with the unknown on both sides."""
    x, a, b = rng.randint(2, 19), rng.randint(5, 14), rng.randint(2, 9)
    c = rng.choice([n for n in range(2, 12) if n != a])
    d = a * (x + b) - c * x
    sign = "+" if d >= 0 else "-"
    statement = f"Solve {a}(x + {b}) = {c}x {sign} {abs(d)}."
    lines = (
        f"{a}x + {a * b} = {c}x {sign} {abs(d)}",
        f"{a - c}x = {d - a * b}",
        f"x = {x}",
    )
    return statement, lines, str(x)


def system(rng: random.Random) -> Drawn:
    """Two linear equations, by elimination."""
    x, y, a, b = rng.randint(3, 15), rng.randint(3, 15), rng.randint(2, 6), rng.randint(2, 6)
    first, second = a * x + b * y, a * x - b * y
    statement = f"{a}x + {b}y = {first} and {a}x - {b}y = {second}. What is y?"
    lines = (
        f"{2 * a}x = {first + second}",
        f"x = {x}",
        f"{a * x} + {b}y = {first}",
        f"{b}y = {first - a * x}",
        f"y = {y}",
    )
    return statement, lines, str(y)


def percent_change(rng: random.Random) -> Drawn:
    """A rise and a fall by percents."""
    start, up, down = 200 * rng.randint(7, 40), 5 * rng.randint(2, 9), 5 * rng.randint(2, 9)
    rise = Fraction(start * up, 100)
    fall = (start + rise) * Fraction(down, 100)
    statement = (
        f"A stock of {start} litres grows by {up}% and then shrinks by {down}%. How much is left?"
    )
    lines = (
        f"{up}% of {start} = {shown(rise)}",
        f"{start} + {shown(rise)} = {shown(start + rise)}",
        f"{down}% of {shown(start + rise)} = {shown(fall)}",
        f"{shown(start + rise)} - {shown(fall)} = {shown(start + rise - fall)}",
    )
    return statement, lines, shown(start + rise - fall)


def average(rng: random.Random) -> Drawn:
    """A missing value from a mean."""
    values = [rng.randint(41, 97) for _ in range(4)]
    mean = rng.randint(55, 80)
    missing = 5 * mean - sum(values)
    statement = (
        f"Four of five scores are {', '.join(map(str, values))}. The mean of all five scores is "
        f"{mean}. What is the fifth score?"
    )
    lines = (
        f"5 * {mean} = {5 * mean}",
        f"{' + '.join(map(str, values))} = {sum(values)}",
        f"{5 * mean} - {sum(values)} = {missing}",
    )
    return statement, lines, str(missing)


def series(rng: random.Random) -> Drawn:
    """The sum of an arithmetic sequence."""
    first, step, count = rng.randint(14, 40), rng.randint(3, 11), 2 * rng.randint(8, 20)
    last = first + (count - 1) * step
    total = count * (first + last) // 2
    statement = (
        f"A row has {first} seats, and each of the next rows {step} more. There are {count} rows. "
        "How many seats are there?"
    )
    lines = (
        f"{count} - 1 = {count - 1}",
        f"{first} + {count - 1} * {step} = {last}",
        f"{first} + {last} = {first + last}",
        f"{count} * {first + last} / 2 = {total}",
    )
    return statement, lines, str(total)


def frame(rng: random.Random) -> Drawn:
    """The area between two rectangles."""
    a, b, w = rng.randint(26, 70), rng.randint(26, 70), rng.randint(2, 9)
    statement = (
        f"A picture of {a} cm by {b} cm has a frame of {w} cm on every side. What is the area of "
        "the frame in square centimetres?"
    )
    lines = (
        f"{a} + 2 * {w} = {a + 2 * w}",
        f"{b} + 2 * {w} = {b + 2 * w}",
        f"{a + 2 * w} * {b + 2 * w} = {(a + 2 * w) * (b + 2 * w)}",
        f"{a} * {b} = {a * b}",
        f"{(a + 2 * w) * (b + 2 * w)} - {a * b} = {(a + 2 * w) * (b + 2 * w) - a * b}",
    )
    return statement, lines, str((a + 2 * w) * (b + 2 * w) - a * b)


def mixture(rng: random.Random) -> Drawn:
    """The share of salt in a mixture."""
    m, n = 10 * rng.randint(4, 30), 10 * rng.randint(4, 30)
    p, q = rng.randint(3, 18), rng.randint(19, 45)
    salt, whole = Fraction(m * p + n * q, 100), m + n
    statement = (
        f"{m} g of water with {p}% salt and {n} g with {q}% salt are mixed. How many grams of "
        "water without salt does the mixture hold?"
    )
    lines = (
        f"{p}% of {m} = {shown(Fraction(m * p, 100))}",
        f"{q}% of {n} = {shown(Fraction(n * q, 100))}",
        f"{shown(Fraction(m * p, 100))} + {shown(Fraction(n * q, 100))} = {shown(salt)}",
        f"{m} + {n} = {whole}",
        f"{whole} - {shown(salt)} = {shown(whole - salt)}",
    )
    return statement, lines, shown(whole - salt)


def journey(rng: random.Random) -> Drawn:
    """The mean speed in the second part of a journey."""
    v, w, t, u = rng.randint(41, 99), rng.randint(41, 99), rng.randint(2, 6), rng.randint(2, 6)
    way = v * t + w * u
    statement = (
        f"A car goes {way} km in {t + u} hours. In the first {t} hours its speed is {v} km/h. What "
        "is its mean speed in the rest of the time, in km/h?"
    )
    lines = (
        f"{v} * {t} = {v * t}",
        f"{way} - {v * t} = {w * u}",
        f"{t + u} - {t} = {u}",
        f"{w * u} / {u} = {w}",
    )
    return statement, lines, str(w)


def growth(rng: random.Random) -> Drawn:
    """Interest on interest for two years."""
    start, rate = 1000 * rng.randint(2, 30), rng.randint(2, 15)
    factor = 1 + Fraction(rate, 100)
    once, twice = start * factor, start * factor**2
    statement = (
        f"{start} euros earn {rate}% interest a year, which is left on the account. What interest "
        "is earned in two years together?"
    )
    lines = (
        f"1 + {rate}/100 = {shown(factor)}",
        f"{start} * {shown(factor)} = {shown(once)}",
        f"{shown(once)} * {shown(factor)} = {shown(twice)}",
        f"{shown(twice)} - {start} = {shown(twice - start)}",
    )
    return statement, lines, shown(twice - start)


def quadratic(rng: random.Random) -> Drawn:
    """A quadratic equation with whole solutions, by factors."""
    p, q = rng.sample(range(2, 90), 2)
    statement = f"Solve x^2 - {p + q}x + {p * q} = 0. What is the sum of the squares of both?"
    lines = (
        f"(x - {p})(x - {q}) = 0",
        f"x = {p} or x = {q}",
        f"{p}^2 = {p * p}",
        f"{q}^2 = {q * q}",
        f"{p * p} + {q * q} = {p * p + q * q}",
    )
    return statement, lines, str(p * p + q * q)


def shares(rng: random.Random) -> Drawn:
    """Fractions of an amount, one after the other."""
    b, d = rng.choice((3, 4, 5, 7)), rng.choice((3, 4, 5, 6))
    a, c = rng.randint(1, b - 1), rng.randint(1, d - 1)
    whole = b * d * rng.randint(9, 40)
    first = whole * a // b
    rest = whole - first
    if rest % d:
        return shares(rng)
    second = rest * c // d
    statement = (
        f"Of {whole} apples {a}/{b} are sold on Monday, and {c}/{d} of the rest on Tuesday. How "
        "many are left?"
    )
    lines = (
        f"{a}/{b} * {whole} = {first}",
        f"{whole} - {first} = {rest}",
        f"{c}/{d} * {rest} = {second}",
        f"{rest} - {second} = {rest - second}",
    )
    return statement, lines, str(rest - second)


KINDS: Mapping[str, Callable[[random.Random], Drawn]] = {
    made.__name__.replace("_", "-"): made
    for made in (
        shopping, linear, system, percent_change, average, series, frame, mixture, journey, growth,
        quadratic, shares,
    )
}  # fmt: skip
"""Every kind by name."""
