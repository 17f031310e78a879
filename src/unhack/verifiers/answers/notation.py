r"""Notation that the library's LaTeX parser would drop: rewritten, or found before.

`for_parser` gives the text that `math_verify`'s parser is handed, or None where a notation is in it
that the parser is not known to keep; such an answer is compared as text alone. Kept by writing:

    y''          a name of its own, y_{q2}               x^T     a power of a name that is not T
    30^\circ     30\pi/180 in a sine, else 30 d_{g}      \lg x   \log_{10} x

Compared as text: numbers with a subscript (`385_9`), words within an expression, `!!`, congruences,
angles and segments (`\angle ABC`, `\overline{AB}`), conditional bars, dots, products of vectors,
and every command that stands not in `_KNOWN`.

Bounds: exponents and factorials of at most `_MAX_EXPONENT_DIGITS`, powers nested at most
`_MAX_TOWER` deep, brackets `_MAX_PARSED_DEPTH`. What is beyond them is compared as text too.
"""

from __future__ import annotations

import math
import re

_MAX_EXPONENT_DIGITS = 5
_MAX_TOWER = 2
_MAX_PARSED_DEPTH = 12

_GREEK = (
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|upsilon"
    "|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega"
)
_KNOWN = re.compile(
    rf"\\(?:{_GREEK}|pi|frac|sqrt|sin|cos|tan|cot|sec|csc|sinh|cosh|tanh|arcsin|arccos|arctan|ln|log"
    r"|exp|cdot|times|infty|cup|cap|setminus|emptyset|leq|geq|neq|binom|lfloor|rfloor|lceil|rceil"
    r"|int|sum|prod|lim|to|min|max|gcd|lcm|hat|vec|dot|ddot|tilde|overline|mathbb|begin|end|circ|pm"
    r"|hbar|ell|det|in|lg)(?![A-Za-z])|\\[%{}\\$]"
)
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_AS_TEXT = re.compile(
    r"\d ?_|!!|[\])}\d]'|\^\{[^{}]*\*\}|\\text|\\ldots|[:;?@#~\"]|\\circ\}\d|_\{\}|\{\}_|\d \d"
    r"|\\(?:overline|hat|vec|tilde|dot)\{[^{}]{2,}\}|(?:\A|[^\w}])_|(?:\A|[^\w})\]|'])\^|\\mathbb\{[^RQZCN]"
)
_LEIBNIZ = re.compile(r"\\frac\{d(?:\^\{\d\})? ?[^{}]{0,20}\}\{d ?[^{}]{1,8}(?:\^\{\d\})?\}")
"""A derivative, which the parser takes for zero where it sees no function."""
_PRIMES = re.compile(r"((?:\\[A-Za-z]+ ?|[A-Za-z]))(?:_\{([^{}']*)\})?('{1,6})")
_BELOW = re.compile(r"_\{\\text\{([A-Za-z]{1,12})\}\}")
_TURNED = re.compile(r"\^\{T\}")
_GAMMA = re.compile(r"\\gamma(?![A-Za-z]) ?(?:_\{([^{}]*)\})?")
"""A letter, which the parser would take for the function."""
_TURNED_MATRIX = re.compile(r"[A-SU-Z]\^\{T\}")
_MATRIX = re.compile(r"(?<![\\A-Za-z])[A-SU-Z]")
"""Matrices, whose product has an order that the parser does not keep."""
_DEGREES = re.compile(r"((?<![\d.])\d+(?:\.\d+)?|[A-Za-z]|\\[a-z]+ ?)\^\{\\circ\}")
_TRIGONOMETRIC = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-z])")
_APPLIED = re.compile(
    r"(\\(?:sin|cos|tan|cot|sec|csc|ln|log)) ?"
    r"(\d{0,4}(?:[a-z]|\\(?:alpha|beta|theta|phi|pi)(?![a-z]))|\d{1,9})"
    r"(?= ?\\(?:cdot|times)(?![A-Za-z]))"
)
"""A function before a sign of multiplication, which the parser would take for its argument."""
_OF_BARS = re.compile(r"(\\(?:ln|log|lg)(?:_\{[^{}]*\}|\^\{\d\})?) ?(\|[^|]*\|)")
"""A logarithm of an absolute value, which the parser would take for one of all that follows."""
_OF_ROOT = re.compile(
    r"(\\(?:sin|cos|tan)) ?(\d{1,4}\\sqrt\{\d{1,4}\}(?:[a-z]|\\pi(?![a-z]) ?)?)(?![\w\\({^])"
)
"""A function of a number times a root, of which the parser would take the number alone."""
_FACTORIAL_POWER = re.compile(r"(?<![\d.])(\d{1,5}|[a-z])!\^")
_POWER = re.compile(r"\^\{-?(\d+)\}|(?<!\d)(\d+)\)?!")


def for_parser(text: str) -> str | None:
    """`text` as the parser keeps all of it; None where it must be compared as text."""
    text = _PRIMES.sub(_named_primes, _BELOW.sub(r"_{\1}", text))
    if _AS_TEXT.search(text) or _LEIBNIZ.search(text) or text.count("|") % 2:
        return None
    if any(not _KNOWN.fullmatch(command) for command in _COMMAND.findall(text)):
        return None
    if not _is_bounded(text):
        return None
    if "'" in text:
        return None
    if _TURNED_MATRIX.search(text) and len(set(_MATRIX.findall(text))) > 1:
        return None
    for pattern in (_APPLIED, _OF_BARS, _OF_ROOT):
        text = pattern.sub(r"\1(\2)", text)
    text = _FACTORIAL_POWER.sub(r"(\1!)^", text)
    text = _GAMMA.sub(r"g_{am\1}", _TURNED.sub("^{T_{0}}", text))
    in_degrees = _TRIGONOMETRIC.search(text)
    text = _DEGREES.sub(r"{\\frac{\1\\pi}{180}}" if in_degrees else r"\1\\cdot d_{g}", text)
    text = re.sub(r"\\lg(?![A-Za-z])", r"\\log_{10}", text)
    return None if "\\circ" in text else text.replace("*", "\\cdot ")


_NAME = r"(?:\\[A-Za-z]+ ?|[A-Za-z])(?:_\{[^{}]{1,20}\})?"
_DERIVED = re.compile(
    rf"\\frac\{{d(?:\^\{{(2)\}})? ?({_NAME})(?:\([tx]\))?\}}\{{d ?[tx](?:\^\{{2\}})?\}}"
    rf"|\\(d?)dot\{{({_NAME})\}}(_\{{[^{{}}]{{1,20}}\}})?|({_NAME})('{{1,2}})(?=\([tx]\))"
)
_OF_TIME = re.compile(r"(?<=[A-Za-z'}])\(t\)")


def with_named_derivatives(gold: str, answer: str) -> tuple[str, str]:
    """Two equations with `v'` for `\\dot{v}`, `\\frac{dv}{dt}` and `v'(t)`, and `v` for `v(t)`."""

    def named(match: re.Match[str]) -> str:
        base = (match[2] or match[4] or match[6]).strip() + (match[5] or "")
        return base + ("''" if match[1] or match[3] or match[7] == "''" else "'")

    pair = [_DERIVED.sub(named, text) for text in (gold, answer)]
    if not all("=" in text and "'" in text for text in pair):
        return gold, answer
    return _OF_TIME.sub("", pair[0]), _OF_TIME.sub("", pair[1])


_WHOLE = r"\d{1,9}(?:\^\{\d\})?"
_PRODUCT = re.compile(
    rf"(?:(?<=frac|sqrt)|(?<=[]}}]))\{{{_WHOLE}(?:\\(?:cdot|times) ?{_WHOLE}){{0,8}}\}}"
)
_TERM = re.compile(r"(\d+)(?:\^\{(\d)\})?")


def multiplied(text: str) -> str:
    """`text` with products of whole numbers in fractions and below roots multiplied out."""
    return _PRODUCT.sub(
        lambda at: f"{{{math.prod(int(n) ** int(k or 1) for n, k in _TERM.findall(at[0]))}}}", text
    )


_NO_FACTOR = re.compile(r"\\int|d ?[A-Zr-z\\]|\\frac\{d[}^]|_\{[^{}]*d")
_D_ALONE = re.compile(r"d(?=e|[^A-Za-z]|\Z)")
_D_FIRST = re.compile(r"(\\[A-Za-z]+)|d(?=[A-Za-z])")


def with_factors(gold: str, answer: str) -> tuple[str, ...]:
    """Both with `d` as a factor where it is a letter of the gold answer: the parser takes the `df`
    of `de+df` for a differential."""
    alone = not _NO_FACTOR.search(gold) and _D_ALONE.search(_COMMAND.sub("", gold))
    return tuple(
        _D_FIRST.sub(lambda at: at[1] or "{d}", item) if alone else item for item in (gold, answer)
    )


def _named_primes(match: re.Match[str]) -> str:
    base, below, primes = match[1], match[2], len(match[3])
    name = f"q{primes}" if below is None else f"{below},q{primes}"
    return f"{base.strip()}_{{{name}}}"


def _is_bounded(text: str) -> bool:
    if any(len(match[1] or match[2]) > _MAX_EXPONENT_DIGITS for match in _POWER.finditer(text)):
        return False
    depth, towers, tower = 0, [0], 0
    before = ""
    for letter in text:
        if letter in "{([":
            depth += 1
            towers.append(tower + (before == "^"))
            tower = towers[-1]
        elif letter in "})]" and len(towers) > 1:
            depth -= 1
            towers.pop()
            tower = towers[-1]
        if depth > _MAX_PARSED_DEPTH or tower > _MAX_TOWER:
            return False
        before = letter
    return True
