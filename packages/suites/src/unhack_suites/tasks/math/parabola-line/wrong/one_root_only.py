"""Flaw: keeps only the root with the plus sign."""
import re


def coefficients(text: str) -> tuple[int, int, int]:
    found = {"x^2": 0, "x": 0, "": 0}
    for term in text.replace(" ", "").replace("-", "+-").split("+"):
        if term:
            number, power = re.fullmatch(r"(-?\d*)(x\^2|x|)", term).groups()
            found[power] += int(number + "1" if number in ("", "-") else number)
    return found["x^2"], found["x"], found[""]


def solve(prompt: str) -> str:
    curves = re.findall(r"\$y = ([^$]+)\$", prompt)[-2:]
    a, b, c = coefficients(curves[0])
    _, slope, height = coefficients(curves[1])
    b, c = b - slope, c - height
    d = b * b - 4 * a * c
    root = rf"\frac{{{-b}+\sqrt{{{d}}}}}{{{2 * a}}}"
    return rf"They meet at $x = {root}$, so \boxed{{\left\{{{root}\right\}}}}"
