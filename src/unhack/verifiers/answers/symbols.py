r"""Symbols of Unicode as LaTeX, and the one name of LaTeX commands that have several."""

from __future__ import annotations

import re
import unicodedata

from unhack.verifiers.answers.numerals import narrow

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
° ^{\circ}
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
    | _FRACTIONS
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "")
    | dict.fromkeys("\u2009\u202f", "\\,")
)  # fmt: skip
ONE_NAME = {name: names[0] for names in _rows(_NAMES) for name in names[1:]}
"""Command to the name that is written for it."""

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ", "0123456789+-=()nix")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₓᵢₖ", "0123456789+-=()nxik")
_RAISED_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ]+")
_LOWERED_RUN = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₓᵢₖ]+")


def in_latex(text: str) -> str:
    """`text` with LaTeX for symbols and for raised and lowered characters."""
    text = _RAISED_RUN.sub(lambda run: "^{" + run[0].translate(_RAISED) + "}", narrow(text))
    text = _LOWERED_RUN.sub(lambda run: "_{" + run[0].translate(_LOWERED) + "}", text)
    return text.translate(_TABLE)
