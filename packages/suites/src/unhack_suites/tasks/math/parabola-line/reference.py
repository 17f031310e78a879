"""Sets both sides equal, uses the quadratic formula and reduces the surds."""
import re
from math import gcd, isqrt


def coefficients(text: str) -> tuple[int, int, int]:
    found = {"x^2": 0, "x": 0, "": 0}
    for term in text.replace(" ", "").replace("-", "+-").split("+"):
        if term:
            number, power = re.fullmatch(r"(-?\d*)(x\^2|x|)", term).groups()
            found[power] += int(number + "1" if number in ("", "-") else number)
    return found["x^2"], found["x"], found[""]


def value(p: int, q: int, d: int, r: int) -> str:
    """LaTeX of (p + q * sqrt(d)) / r with r > 0, where d is square-free and not 1, or q is 0."""
    common = gcd(p, q, r)
    p, q, r = p // common, q // common, r // common
    root = ("" if abs(q) == 1 else str(abs(q))) + rf"\sqrt{{{d}}}"
    if q == 0:
        top = str(p)
    elif p == 0:
        top = ("-" if q < 0 else "") + root
    else:
        top = f"{p}{'-' if q < 0 else '+'}{root}"
    return top if r == 1 else rf"\frac{{{top}}}{{{r}}}"


def solve(prompt: str) -> str:
    curves = re.findall(r"\$y = ([^$]+)\$", prompt)[-2:]
    a, b, c = coefficients(curves[0])
    _, slope, height = coefficients(curves[1])
    b, c = b - slope, c - height
    if a < 0:
        a, b, c = -a, -b, -c
    d = b * b - 4 * a * c
    square = max(k for k in range(1, isqrt(d) + 2) if d % (k * k) == 0) if d else 0
    rest = d // square**2 if d else 1
    if rest == 1:
        roots = sorted({(-b - square, 2 * a), (-b + square, 2 * a)})
        texts = [value(p, 0, 0, r) for p, r in roots]
    else:
        texts = [value(-b, q, rest, 2 * a) for q in (-square, square)]
    return (
        f"Setting both sides equal gives ${a}x^2 + ({b})x + ({c}) = 0$ with discriminant ${d}$, so "
        rf"the set is \boxed{{\left\{{{', '.join(texts)}\right\}}}}"
    )
