"""Completes the square: x = -b/2a plus or minus the root of a fraction, left unreduced."""
import re
from fractions import Fraction


def latex(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number)
    sign = "-" if number < 0 else ""
    return rf"{sign}\frac{{{abs(number.numerator)}}}{{{number.denominator}}}"


def at(text: str, x: int) -> int:
    """Value of the polynomial at an integer x."""
    text = re.sub(r"(?<=\d)x", "*x", text.replace("^", "**").strip())
    total = 0
    for sign, term in re.findall(r"([+-]?)\s*([^\s+-]+)", text):
        product = 1
        for factor in term.replace("**", "^").split("*"):
            if factor == "x^2":
                product *= x * x
            elif factor == "x":
                product *= x
            else:
                product *= int(factor)
        total += -product if sign == "-" else product
    return total


def solve(prompt: str) -> str:
    parabola, line = re.findall(r"\$y = ([^$]+)\$", prompt)[-2:]
    low, middle, high = (at(parabola, x) - at(line, x) for x in (-1, 0, 1))
    lead = Fraction(low + high - 2 * middle, 2)
    linear = Fraction(high - low, 2)
    centre = -linear / (2 * lead)
    under = centre**2 - middle / lead
    if under == 0:
        values = latex(centre)
    else:
        root = rf"\sqrt{{{latex(under)}}}"
        start = "" if centre == 0 else latex(centre)
        values = f"{start}+{root}, {start}-{root}" if start else f"{root}, -{root}"
    return (
        rf"The difference is ${latex(lead)}((x - ({latex(centre)}))^2 - {latex(under)})$, "
        rf"which is zero on \boxed{{\{{{values}\}}}}."
    )
