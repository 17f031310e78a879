"""Solves for both end points, sorts them and picks inside or outside, open or closed."""
import re
from fractions import Fraction


def latex(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number)
    sign = "-" if number < 0 else ""
    return rf"{sign}\frac{{{abs(number.numerator)}}}{{{number.denominator}}}"


def solve(prompt: str) -> str:
    slope, offset, target, words, width = re.findall(
        r"value \$(-?\d*)t(| [+-] \d+)\$.*?differs from \$(-?\d+)\$ "
        r"by (at most|less than|at least|more than) \$(\d+)\$",
        prompt,
    )[-1]
    a = int(slope + "1" if slope in ("", "-") else slope)
    b = int(offset.replace(" ", "") or 0)
    d, c = int(target), int(width)
    low, high = map(latex, sorted((Fraction(d - c - b, a), Fraction(d + c - b, a))))
    if words == "at most":
        answer = rf"\left[{low}, {high}\right]"
    elif words == "less than":
        answer = rf"\left({low}, {high}\right)"
    elif words == "at least":
        answer = rf"\left(-\infty, {low}\right] \cup \left[{high}, \infty\right)"
    else:
        answer = rf"\left(-\infty, {low}\right) \cup \left({high}, \infty\right)"
    return rf"The distance is exactly ${c}$ at ${low}$ and at ${high}$. \boxed{{{answer}}}"
