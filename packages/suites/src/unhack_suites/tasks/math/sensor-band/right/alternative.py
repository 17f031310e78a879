"""Works with the centre and the half-width; writes decimals where they are finite."""
import re
from fractions import Fraction


def number(value: Fraction) -> str:
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        return f"{float(value):g}"
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def solve(prompt: str) -> str:
    condition = prompt[prompt.rindex("value $") :].replace("temperatures $t$", "")
    reading, target, width = re.findall(r"\$([^$]+)\$", condition)[:3]
    left, _, right = reading.replace(" ", "").partition("t")
    a = Fraction({"": "1", "-": "-1"}.get(left, left))
    centre = (int(target) - Fraction(right or "0")) / a
    half = int(width) / abs(a)
    low, high = number(centre - half), number(centre + half)
    strict = "less than" in condition or "more than" in condition
    opening, closing = ("(", ")") if strict else ("[", "]")
    if "at most" in condition or "less than" in condition:
        answer = f"{opening}{low}, {high}{closing}"
    else:
        answer = rf"{opening}{high}, \infty) \cup (-\infty, {low}{closing}"
    return f"Centre {centre}, half-width {half}, so $t$ lies in $\\boxed{{{answer}}}$."
