r"""Symbols of Unicode and what is typed without LaTeX, as LaTeX; the one name of its commands.

    e^(-2t)/x, 10^(-3)          e^{-2t}/x, 10^{-3}
    x <= 3, x >= 3, x != 3      x\leq 3, x\geq 3, x\neq 3
    [0,1] U (2,3]               [0,1]\cup (2,3]
    {x : 0 < x < 1}             \{x:0<x<1\}
    12 by 18, 3 to 1            12\text{by}18, 3\text{to}1
    k equals 15                 k=15
    [[1,2],[3,4]], cbrt(2)      a matrix, \sqrt[3]{2}
    1 in 6, dy/dx               1/6, \frac{dy}{dx}

`y^(4)` stays as it is: it may be a power or a derivative.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from unhack.verifiers.answers.numerals import narrow
from unhack.verifiers.answers.sentences import without_lead
from unhack.verifiers.answers.spelling.words import counted

_SYMBOLS = r"""
–—‒‐‑﹣ -
·⋅∙• \cdot
×✕ \times
÷∕⁄ /
′’ʹ '
″ ''
∗ *
、 ,
或 \text{or}
且 \text{and}
√ \sqrt
∛ \sqrt[3]
∞ \infty
°º˚ ^{\circ}
℃ ^{\circ}C
℉ ^{\circ}F
Ω \Omega
± \pm
∓ \mp
≠ \neq
≤⩽≦ \leq
≥⩾≧ \geq
≈ \approx
≡ \equiv
∼ \sim
… \ldots
∅⌀ \emptyset
∪ \cup
∩ \cap
∈ \in
∉ \notin
⊂ \subset
⊆ \subseteq
∖ \setminus
∣｜ |
∠ \angle
△ \triangle
⊥ \perp
∥ \parallel
→ \to
⇒ \Rightarrow
∑ \sum
∏ \prod
∫ \int
∂ \partial
∇ \nabla
ℝ \mathbb{R}
ℤ \mathbb{Z}
ℕ \mathbb{N}
ℚ \mathbb{Q}
ℂ \mathbb{C}
ℓ \ell
ħ \hbar
∧ \wedge
∨ \vee
⌊ \lfloor
⌋ \rfloor
⌈ \lceil
⌉ \rceil
⟨ \langle
⟩ \rangle
ϕ \phi
ϵɛ \epsilon
µ \mu
"""
_NAMES = r"""
\frac \dfrac \tfrac \cfrac
\binom \dbinom \tbinom
\sqrt \surd
£ \pounds
\leq \le \leqslant \leqq
\geq \ge \geqslant \geqq
\neq \ne
< \lt
> \gt
\ldots \dots \cdots \dotsc \dotsb
\emptyset \varnothing \O \oslash
| \vert \lvert \rvert \mid
( \lparen
) \rparen
[ \lbrack
] \rbrack
\{ \lbrace
\} \rbrace
: \colon
* \ast
/ \div
\infty \infin
\to \rightarrow \longrightarrow
\overline \bar
\hat \widehat
\tilde \widetilde
\vec \overrightarrow
\neg \lnot
i \imath
j \jmath
\setminus \backslash
\wedge \land
\vee \lor
\tan \tg
\cot \ctg
\epsilon \varepsilon
\phi \varphi
"""


def _rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.split("\n") if line]


def _greek(code: int) -> str:
    *_, size, _, name = ("x", *unicodedata.name(chr(code)).replace("FINAL ", "").split())
    name = name.lower().replace("lamda", "lambda")
    return f"\\{name.title() if size == 'CAPITAL' else name} "


_FRACTIONS = {
    letter: "\\frac{{{}}}{{{}}}".format(*unicodedata.normalize("NFKD", letter).split("\u2044"))
    for letter in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
}
_TABLE = str.maketrans(
    {letter: f"{latex} " if latex[-1].isalpha() else latex for letters, latex in _rows(_SYMBOLS)
     for letter in letters}
    | {chr(code): _greek(code) for code in (*range(0x391, 0x3A2), *range(0x3A3, 0x3AA))}
    | {chr(code): _greek(code) for code in range(0x3B1, 0x3CA)}
    | {0x1D7CE + at: str(at % 10) for at in range(50)}
    | _FRACTIONS
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "")
    | dict.fromkeys("\u2009\u202f", "\\,")
)  # fmt: skip
ONE_NAME = {name: names[0] for names in _rows(_NAMES) for name in names[1:]}
"""Command to the name that is written for it."""

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ", "0123456789+-=()nix")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₓᵢₖ", "0123456789+-=()nxik")
_RAISED_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ]+")
_SLASHED = re.compile("([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,9})[⁄/]([₀₁₂₃₄₅₆₇₈₉]{1,9})")
"""A fraction of raised and lowered digits."""
_LOWERED_RUN = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₓᵢₖ]+")


def in_latex(text: str) -> str:
    """`text` with LaTeX for symbols and for raised and lowered characters."""
    text = _SLASHED.sub(lambda at: unicodedata.normalize("NFKC", f"{at[1]}/{at[2]}"), text)
    text = _RAISED_RUN.sub(lambda run: "^{" + run[0].translate(_RAISED) + "}", narrow(text))
    text = _LOWERED_RUN.sub(lambda run: "_{" + run[0].translate(_LOWERED) + "}", text)
    return text.translate(_TABLE)


_SENTENCE = re.compile(
    r"(?i:the|there) (?:[A-Za-z]{2,20} ){2,8}[A-Za-z]{2,20}"
    r"|[A-Z][a-z]{1,19} (?:[A-Za-z]{1,20} ){2,12}[a-zA-Z]{3,20}"
)
_MONEY = {"USD": "\\$", "US$": "\\$", "EUR": "€", "GBP": "£"}
_ORDERS = {
    "greater": ">",
    "more": ">",
    "larger": ">",
    "less": "<",
    "smaller": "<",
    "least": "\\geq ",
    "most": "\\leq ",
}
_ROWS = re.compile(r"\[(\[[^][{}]{1,80}\](?:, ?\[[^][{}]{1,80}\]){1,9})\]")
_TYPED: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(r"\^ ?\((?!\d\))([^(){}]{1,60})\)"), r"^{\1}"),
    (re.compile(r"\A(?:[Ii]t|[Tt]his) is (?=[A-Za-z]{3})"), ""),
    (re.compile(r"<="), r"\\leq "),
    (re.compile(r">="), r"\\geq "),
    (re.compile(r"(?<=[\s\w]) !=|\\not ?="), r"\\neq "),
    (re.compile(r"(?<=[\])}]) U (?=[\[({\\])"), r"\\cup "),
    (re.compile(r"\A\{ ?([A-Za-z] ?[:|][^{}]{1,200})\}\Z"), r"\\{\1\\}"),
    (re.compile(r"\A(\d{1,9}) (?:in|out of) (\d{1,9})\Z"), r"\1/\2"),
    (re.compile(r"(?<=\d) (to|by) (?=\d)"), r"\\text{\1}"),
    (re.compile(r"(?<=\d) ([a-z]{2,12}) by (?=\d)"), r"\\text{ \1}\\times "),
    (re.compile(r"(?<![A-Za-z\\])cbrt ?(?=\()"), r"\\sqrt[3]"),
    (re.compile(r"(?<![A-Za-z\\])log(\d{1,2})(?=\()"), r"\\log_{\1}"),
    (re.compile(r"(?<=\w) in base (?=\d)"), r"\\text{in base}"),
    (re.compile(r"(?<![A-Za-z\\{])(d[a-z])/(d[a-z])(?![A-Za-z^_])"), r"\\frac{\1}{\2}"),
    (
        re.compile(r"\\text\s?\{ ?\\AA ?\}|\\mathrm\{~?\\AA\}|\\AA(?![A-Za-z])|Å"),
        r"\\text{angstrom}",
    ),
    (re.compile(r"(?<=[A-Za-z)}]) ?(?:\$ ?)?\b(?:equals|is equal to) (?=[-$\d\\])"), "="),
    (
        re.compile(
            r"(?<=[A-Za-z)}]) ?(?:\$ ?)?\bis (?:strictly )?(?:(greater|more|larger|less|smaller)"
            r" than|at (least|most)) (?=[-$\d\\])"
        ),
        lambda at: _ORDERS[at[1] or at[2]],
    ),
    (re.compile(r"\( ?mod (\d{1,15})\)"), r"\\pmod{\1}"),
    (re.compile(r"\A(USD|US\$|EUR|GBP) ?(?=[\d.])"), lambda at: _MONEY[at[1]]),
]


def in_typeset(text: str) -> str:
    """`text` with LaTeX for what people type."""
    text = without_lead(text)
    for pattern, written in _TYPED:
        text = pattern.sub(written, text)
    number = counted(text)
    if number is not None:
        return number
    if _SENTENCE.fullmatch(text):
        return f"\\text{{{text}}}"
    rows = _ROWS.fullmatch(text)
    if rows:
        cells = re.sub(r"\], ?\[", r"\\\\", rows[1]).strip("[]").replace(",", "&")
        return f"\\begin{{pmatrix}}{cells}\\end{{pmatrix}}"
    return text
