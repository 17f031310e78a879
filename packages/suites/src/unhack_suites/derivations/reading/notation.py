"""Mathematical notation as people write it, in one plain form.

Covered: signs of Unicode, LaTeX, superscripts, roots, percent, thousands in three spellings,
decimal commas, mixed numbers, units behind numbers, words for operations.
Not covered: pictures, matrices, integrals, subscripts; such text stays as it is and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from unhack_suites.derivations.reading.units import with_marks

MAX_LINE = 2000
"""Longer lines are not read."""
_SIGNS = str.maketrans({
    "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "•": "*", "∗": "*", "÷": "/",
    "∕": "/", "⁄": "/", "≅": "≈", "≃": "≈", "∼": "≈", "{": "(", "}": ")", "[": "(", "]": ")",
    "\u00a0": " ", "\u202f": " ", "\u2009": " ", "“": " ", "”": " ", "…": "...", "＝": "=",
    "∛": "^^", "∜": "^^",
})  # fmt: skip
_SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERS = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "theta": "θ", "rho": "ρ", "lambda": "λ"}
_FRACTIONS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅛": "1/8"}
_VULGAR = re.compile(f"(\\d*) ?([{''.join(_FRACTIONS)}])")
_LATEX: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\\\\ ?(?=&? ?=)"), " "),
    (re.compile(r"\\\\"), " ; "),
    (re.compile(r"\\(?:left|right|displaystyle|quad|qquad|[,;:! ])"), " "),
    (re.compile(r"\\(sin|cos|tan|log|ln|lg|gcd)(?![A-Za-z])"), r" \1"),
    (re.compile(r"\\(?:lvert|rvert|vert|mid)\b"), "|"),
    (re.compile(r"\\(?:l?dots|cdots)\b"), "..."),
    (re.compile(r"(?:⌊|\\lfloor) ?([\d./ ]+)(?:⌋|\\rfloor)"), r" floor(\1)"),
    (re.compile(r"(?:⌈|\\lceil) ?([\d./ ]+)(?:⌉|\\rceil)"), r" ceil(\1)"),
    (re.compile(r"(?<=\d) ?¢"), " cents"),
    (re.compile(r"\\le(?:q|qslant)?\b|(?<!<)<=(?!>)"), "≤"),
    (re.compile(r"\\ge(?:q|qslant)?\b|>="), "≥"),
    (re.compile(r"\\lt\b"), "<"),
    (re.compile(r"\\gt\b"), ">"),
    (re.compile(r"\\(alpha|beta|gamma|theta|rho|lambda)\b"), lambda found: _GREEK[found[1]]),
    (re.compile(r"\\(?:cdot|times|ast)\b"), "*"),
    (re.compile(r"\\div\b"), "/"),
    (re.compile(r"\\(?:approx|simeq|sim)\b"), "≈"),
    (re.compile(r"\\pm\b"), "±"),
    (re.compile(r"\\pi\b"), "π"),
    (re.compile(r"\\(?:Rightarrow|implies|to|therefore|Longrightarrow)\b"), " => "),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\\boxed\b"), " answer "),
    (re.compile(r"\\sqrt\s*(?=\[)"), "^^"),  # a root of another degree: no expression that is read
    (re.compile(r"\\sqrt\b"), "√"),
    (re.compile(r"\\(?:det|begin|end|quad|qquad|dim|deg)\b"), " "),
    (re.compile(r"\\[\[\]()]|\$\$|\*\*|__|`|&"), " "),
)
_POWER = re.compile(r"(?<=[\d)])\*\*(?=[\d(])|(?<=[\d)]) \*\* (?=[\d(])|(?<=\b[a-z])\*\*(?=[\d(])")
"""As in Python; other stars in pairs are bold print."""
_NESTED = (
    (re.compile(r"\\[dt]?frac ?{([^{}]*)} ?{([^{}]*)}"), r"((\1)/(\2))"),
    (re.compile(r"\\[dt]?frac ?(\d)(\d)"), r"(\1/\2)"),
    (re.compile(r"\\[dt]?frac ?(\d) ?{([^{}]*)}"), r"((\1)/(\2))"),
    (re.compile(r"\\[dt]?frac ?{([^{}]*)} ?(\d)"), r"((\1)/(\2))"),
    (re.compile(r"\\sqrt ?{([^{}]*)}"), r"√(\1)"),
    (re.compile(r"\^ ?{ ?\\circ ?}|\^ ?\\circ\b|\\degree\b"), "°"),
    (
        re.compile(r"\\(?:text|mathrm|mathbf|mathit|textbf|textit|operatorname)\*? ?{([^{}]*)}"),
        r" \1",
    ),
    (re.compile(r"\\boxed ?{([^{}]*)}"), r" answer \1 "),
    (re.compile(r"\\binom ?{([^{}]*)} ?{([^{}]*)}"), r"C(\1; \2)"),
    (re.compile(r"(?<=[_^]) ?{([^{}]*)}"), r"(\1)"),
)
"""From the inside to the outside."""
_MARK = re.compile(
    r"^\s*(?:[-*•>]\s+|#{1,6}\s+|\(?\d{1,2}[.)]\s+|(?:=>|⇒|→|⟹|∴)\s*|step\s+\d+\s*[:.]\s*)+",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+|(?:'\d{3})+)(?![\d])")
_COMMA = re.compile(r"(?<=\d),(?=\d)")
_MIXED = re.compile(r"(?<![\d.^/*+(-])(?<![\d.^/*+-] )\b(\d+) (\d{1,3})/(\d{1,3})\b(?!/)")
_CHOOSE = re.compile(r"\b(?:C|nCr|binom)\(\s*(\d+)\s*[,;]\s*(\d+)\s*\)")
_WORDY_CALL = re.compile(
    r"\b(?:[A-Z]\((?=[^()]*(?:[a-z]{2}|[=|∩∪]|\bor\b|\band\b))|[ABD-Z]\((?=[^()]*,))[^()]*\)"
)
"""As `P(no head)`: words with brackets."""
_DECIMAL = re.compile(r"(?<![\d(,])\d+,(?:\d{1,2}|\d{4,})(?![\d)])")
_DEGREES = re.compile(r"°(?: ?[CF]\b)?|[€£¥$]")
_ANGLE = re.compile(r"\b(sin|cos|tan) ?(?:\( ?(\d+(?:\.\d+)?) ?° ?\)|(\d+(?:\.\d+)?) ?°)")
_LOGGED = r"\d[\d./]*(?: ?\^ ?\(?\d+\)?)?"
_LOG = re.compile(rf"\blog ?_ ?\(?(\d+)\)? ?(?:\( ?({_LOGGED}) ?\)|({_LOGGED})(?![\w(]))")
_LOG_LOW = re.compile(r"\blog ?([₀-₉]+|\d+(?=\())")
_LOG_TEN = re.compile(r"\b(?:log|lg) ?(?:\( ?(\d[\d.]*) ?\)|(\d[\d.]*)(?![\w(]))")
_CALL = re.compile(
    r"\b(?:(gcd|gcf|hcf)|(lcm)) ?\(((?: ?\d+ ?,)+ ?\d+) ?\)|\b(?:the )?(?:(greatest common "
    r"(?:divisor|factor)|highest common factor|gcd|gcf|hcf)|(least common multiple|lowest common "
    r"multiple|lcm)) (?:of|for) ((?:\d+, )*\d+,? and \d+)",
    re.IGNORECASE,
)
_SUBSCRIPT = re.compile(
    r"(?<![A-Za-z\\])([A-Za-z])(?:_ ?\(?(\w{1,3})\)?(?!\w)|([₀-₉ₙₐₓ]+))"
    r"|(?<![A-Za-z\d.])([a-z])(\d)(?![\w.])|(?:∠|\\angle|\b[Aa]ngle) ?([A-Z]{1,3})\b"
)
_IN_BASE = re.compile(r"\b(\d[\dA-F]{0,30})(?:_ ?\(?(\d{1,2})\)?(?![\d])|([₀-₉]{1,2}))")
_LOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_INLINE = re.compile(r"\$((?:[^$]*[\\=<>^_+≈≤≥·×][^$]*)|[A-Za-z]|-?\d+[a-z]?)\$(?!\d)")
_CLOCK = re.compile(r"\b(\d{1,2}):([0-5]\d)\b(?: ?([ap])\.?m\b\.?)?", re.IGNORECASE)
_HOURS = re.compile(r"\b(\d+) ?(?:h|hrs?|hours?)(?: and)? (\d+) ?(?:min|mins|minutes?)\b(?! ?[*/])")
_VERBS = (
    r"(?:times|plus|minus|of|is|are|and|or|divided|multiplied|by|gives?|makes?|equals|so|then|"
    r"which|that|this|to|from|than|hence|since|because|if|as|the|per|sqrt|pi|choose|gcd|lcm|log|"
    r"sin|cos|tan|series|answer)\b"
)
_THING = rf" (?!{_VERBS})[A-Za-z]{{2,}}(?: (?!{_VERBS})[a-z]{{2,}}){{0,2}}(?:/[a-z]+| per [a-z]+)?"
_THINGS = (
    (re.compile(r"(?<=[\d⟧])(?: ?/ ?| per )(?!sqrt)[a-z]{2,}(?= ?(?:[-+*/=≈),;.]|$))"), ""),
    (re.compile(rf"(?<=[\d⟧]){_THING}(?= [-+*/] ?[\d(])"), ""),
    (re.compile(rf"([-+*/] ?\d[\d.]*(?:⟦[^⟧]*⟧)?){_THING}(?= ?[=≈])"), r"\1"),
)
"""Nouns behind the numbers of a calculation."""
_WITH_REST = re.compile(
    r"(\d+) ?/ ?(\d+) ?[=≗] ?(\d+),? ?(?:with |and )?(?:an? )?(?:remainder|rem\.?|R|r)"
    r" ?(?:of )?(\d+)"
)
_ASIDE = re.compile(r"(?<!\w)\((?=(?:⟦[^⟧]*⟧|[^()⟦A-Za-z]|\b[A-Za-z]\b|pi)*[A-Za-z]{2})([^()]*)\)")
"""A remark in brackets."""
_ABSOLUTE = re.compile(r"\|([^|=A-Z∪∩]+)\| ?= ?(\d+(?:[./]\d+)?)(?![\w.]| ?[-+*/^])")
_COUNT = re.compile(r"\|[^|=]*[A-Z][^|=]*\|")
_TAG = re.compile(r" ?\\tag\{[^{}]*\}|(?<=[\d)a-z]) \((?:\d|[ivx]+|\*+)\)\s*$")
_OVER_FRACTION = re.compile(r"[÷] ?(\d+/\d+)(?![\d/.])")
_SERIES = re.compile(
    r"(\d+) ?\+ ?(\d+) ?\+(?: ?(\d+) ?\+)?(?: ?\d+ ?\+){0,3} ?\.\.\. ?\+ ?(\d+)(?![\d./])"
)
_LARGE = re.compile(r"\b(\d{1,9}(?:\.\d{1,9})?) (thousand|million|billion)\b")
_OF_ALL = re.compile(
    r"\b(?:the )?(sum|product|mean|average|difference) of ((?:\d[\d.]*, )*\d[\d.]*,? and \d[\d.]*)"
    r"(?= (?:is|equals|=))"
)
_OWNER = re.compile(r"(?<=[a-z])['’]s\b")
_PI = re.compile(
    r"(?:π|\\pi|\bpi)\W{0,4}(?:=|≈|\\approx|as|of|is|to be)?\W{0,3}(3\.14\d*|22/7)(?![\d.])"
)
_OPERATIONS = (
    (re.compile(r"(?<=[\d)⟧])\s+x\s+(?=[\d(])"), " * "),
    (re.compile(r"(?<=[\d)%⟧])\s+(?:times|multiplied by)\s+(?=[\d(])", re.I), " * "),
    (re.compile(r"(?<=[\d)%⟧])\s+plus\s+(?=[\d(])", re.I), " + "),
    (re.compile(r"(?<=[\d)%⟧])\s+minus\s+(?=[\d(])", re.I), " - "),
    (re.compile(r"(?<=[\d)⟧])\s+(?:divided by|per)\s+(?=[\d(])", re.I), " / "),
    (re.compile(r"(?<=[%])\s+of\s+(?=[\d($])", re.I), " * "),
    (re.compile(r"(?<=/\d)\s+of\s+(?=[\d($])", re.I), " * "),
    (re.compile(r"(?<=[\d)⟧])(?:\s:\s|:)(?=[\d(])"), " / "),
    (re.compile(r"(?<=!) ?(?=\d)"), " * "),
    (re.compile(r"/ ?(\d+)π"), r"/(\1π)"),
)
_SPACES = re.compile(r"\s+")
_IS_WORDS = (
    r"(?<=[\d)%⟧])\s*,?\s*(?:which|that|this)?\s*\b"
    r"(?:is|are|equals|makes|gives|is equal to|comes to)\s+"
)
_ABOUT = re.compile(_IS_WORDS + r"(?:about|roughly|approximately)\s+(?=[(\d-])", re.IGNORECASE)
_IS = re.compile(_IS_WORDS + r"(?=[(\d-])", re.IGNORECASE)


@dataclass(slots=True)
class Spelling:
    """The way in which one derivation writes what can be read in two ways.

    Example:

        plain("x_1 = 19:30", Spelling(clock=True))
    """

    decimal_comma: bool = False
    clock: bool = False
    """True where `19:30` is a time, in minutes, and no quotient."""
    pi: str = ""
    """The value that the problem gives for π."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Names with an index, or of an angle -> the letter that stands for them."""

    def letter(self, name: str) -> str:
        """The letter that stands for a name."""
        return self.names.setdefault(name, chr(_FIRST_LETTER + len(self.names)))

    def named(self, text: str) -> str:
        """The text with its own names for such letters."""
        return (
            "".join(
                next((name for name, held in self.names.items() if held == sign), sign)
                for sign in text
            )
            if self.names
            else text
        )


_FIRST_LETTER = 0x4E00


def spelling_of(statement: str, text: str, *, decimal_comma: bool) -> Spelling:
    """The spelling of a problem and its derivation."""
    ratio = re.search(r"\b(?:ratio|scale|proportion)", statement, re.IGNORECASE)
    told = _PI.search(statement)
    return Spelling(decimal_comma, ratio is None and bool(_CLOCK.search(statement)),
                    told[1] if told else "")  # fmt: skip


def plain(line: str, spelling: Spelling | None = None) -> str:
    """The line in plain notation; empty for one that is too long to be read."""
    if len(line) > MAX_LINE:
        return ""
    spelling = spelling or Spelling()
    # single spaces: runs of them would be tried in every division by patterns with several
    line = _POWER.sub("^", line.replace("\\$", "€" if "€" in line else "$")).replace("**", " ")
    text = _MARK.sub("", _SPACES.sub(" ", line).strip())
    if text.startswith("|") and text.endswith("|"):
        text = text.strip("|").replace("|", " ; ")  # a row of a table
    text = _INLINE.sub(r" \1 ", _TAG.sub("", text))
    for _ in range(8):
        shorter = text
        for pattern, put in _NESTED:
            shorter = pattern.sub(put, shorter)
        if shorter == text:
            break
        text = shorter
    for pattern, put in _LATEX:
        text = pattern.sub(put, text)
    text = _OVER_FRACTION.sub(r"/ (\1)", text)
    text = _VULGAR.sub(lambda found: f"({found[1]}+{_FRACTIONS[found[2]]})" if found[1] else
                       f"({_FRACTIONS[found[2]]})", text)  # fmt: skip
    text = _SUPERS.sub(lambda found: f"^({found[0].translate(_SUPER)})", text).translate(_SIGNS)
    text = _WORDY_CALL.sub(" the chance ", text)
    text = _OWNER.sub("", _COUNT.sub(" the count ", text.split(" | ")[0].replace("**", "^")))
    text = _CHOOSE.sub(r"choose(\1; \2)", text)
    text = _calls(_SPACES.sub(" ", text), spelling)
    text = _CLOCK.sub(_minutes if spelling.clock else _apart, text)
    text = _HOURS.sub(lambda found: f"{int(found[1]) * 60 + int(found[2])} min", text)
    text = _numbers(text, decimal_comma=spelling.decimal_comma)
    text = _LARGE.sub(_written_out, _MIXED.sub(_mixed, text))
    text = _DEGREES.sub(" ", with_marks(_SPACES.sub(" ", text)))
    text = _SPACES.sub(" ", text)
    text = _ABSOLUTE.sub(r"(\1)^2 = (\2)^2", text)
    for pattern, put in (*_THINGS, *_OPERATIONS):
        text = pattern.sub(put, text)
    text = _WITH_REST.sub(r"\1 = \2 * \3 + \4", _ASIDE.sub(r" ; \1 ; ", text))
    if spelling.pi:
        text = re.sub("π|\\bpi\\b", f"({spelling.pi})", text)
    return _IS.sub(" ≗ ", _ABOUT.sub(" ≙ ", text))


def _calls(text: str, spelling: Spelling) -> str:
    """Functions of numbers, numbers in another base and names with an index, in one form."""
    text = _ANGLE.sub(lambda found: f"{found[1]}({found[2] or found[3]})", text)
    text = _LOG_LOW.sub(lambda found: f"log_{found[1].translate(_LOW)}", text)
    text = _LOG.sub(_logarithm, text)
    text = _LOG_TEN.sub(lambda found: f"log(10; {found[1] or found[2]})", text)
    text = _CALL.sub(_common, text)
    text = _OF_ALL.sub(_of_all, text)
    text = _SERIES.sub(
        lambda found: f"series({'; '.join(one for one in found.groups() if one)})", text
    )
    text = _IN_BASE.sub(_in_ten, text)
    return _SUBSCRIPT.sub(lambda found: _indexed(found, spelling), text)


def _indexed(found: re.Match[str], spelling: Spelling) -> str:
    if found[1] == "C":
        return found[0]
    index = (found[2] or found[3] or found[5] or "").translate(_LOW)
    return spelling.letter(f"∠{found[6]}" if found[6] else f"{found[1] or found[4]}_{index}")


def _logarithm(found: re.Match[str]) -> str:
    return f"log({found[1]}; {re.sub('[()]', '', found[2] or found[3])})"


def _common(found: re.Match[str]) -> str:
    numbers = re.findall(r"\d+", found[3] or found[6])[:8]
    return f"{'gcd' if found[1] or found[4] else 'lcm'}({'; '.join(numbers)})"


def _of_all(found: re.Match[str]) -> str:
    """A sum, product, mean or difference in words as a calculation."""
    numbers = re.findall(r"\d+(?:\.\d+)?", found[2])[:12]
    if found[1] == "difference":
        numbers.sort(key=float, reverse=True)
    sign = {"product": " * ", "difference": " - "}.get(found[1], " + ")
    below = f" / {len(numbers)}" if found[1] in ("mean", "average") else ""
    return f"({sign.join(numbers)}){below}"


def _in_ten(found: re.Match[str]) -> str:
    base = int(found[2] or found[3].translate(_LOW))
    try:
        return str(int(found[1], base)) if 2 <= base <= 16 else found[0]
    except ValueError:
        return found[0]


def _minutes(found: re.Match[str]) -> str:
    half = 720 if (found[3] or "").lower() == "p" and int(found[1]) < 12 else 0
    return f"{int(found[1]) * 60 + int(found[2]) + half} min"


def _apart(found: re.Match[str]) -> str:
    return found[0] if found.string[found.end() :].lstrip().startswith("=") else (
        f"{found[1]} {found[2]}"
    )  # fmt: skip


def may_have_decimal_commas(text: str) -> bool:
    """True where a comma stands in a number as it does in no thousands."""
    return bool(_DECIMAL.search(text))


def _numbers(text: str, *, decimal_comma: bool) -> str:
    if decimal_comma:
        text = re.sub(r"(?<=\d) (?=\d{3}\b)", "", text)
        return _COMMA.sub(".", text)
    return _THOUSANDS.sub(lambda found: re.sub(r"[ ,']", "", found[0]), text)


def _written_out(found: re.Match[str]) -> str:
    value = Fraction(found[1]) * {"thousand": 1000, "million": 10**6, "billion": 10**9}[found[2]]
    return str(value.numerator) if value.denominator == 1 else found[0]


def _mixed(found: re.Match[str]) -> str:
    whole, top, below = found.groups()
    return f"({whole}+{top}/{below})" if 0 < int(top) < int(below) else found[0]
