r"""One spelling for each way of writing the same mathematics.

`spell` takes a text apart into LaTeX's own parts and writes it again: without spaces and sizes
(`\,`, `\left`, `\displaystyle`), delimiters, Markdown and fonts, with braces around every argument
(`\frac12`, `x^2`), LaTeX for symbols of Unicode (`½`, `√2`, `x²`, `≤`), words in `\text{}`, one
name for what has several (`\dfrac`, `\le`, `9 \over 2`, arrays and matrices), no commas or thin
spaces within a number, and the fraction that a repeating decimal is.

Nothing that tells two answers apart is dropped: subscripts, primes, accents, degrees, products,
brackets, words and the space within `2 2/3` stay. The spelling is for comparing; it says nothing
about what a notation means.

Covered: texts of at most `MAX_SPELLED_CHARS`, nested at most `MAX_DEPTH` deep, in linear time.
Not covered: macros, environments other than matrices and `cases`.
"""

from __future__ import annotations

import re

from unhack.verifiers.answers.numerals import bare_math
from unhack.verifiers.answers.spelling.plain_numbers import with_plain_numbers
from unhack.verifiers.answers.spelling.style import conventional
from unhack.verifiers.answers.spelling.symbols import ONE_NAME, in_latex, in_typeset
from unhack.verifiers.answers.spelling.words import in_text
from unhack.verifiers.answers.units import UNITS

MAX_SPELLED_CHARS = 1000
MAX_DEPTH = 25


class SpellingError(ValueError):
    """The text is no LaTeX that can be taken apart: too long, too deep, or braces left open."""


_DROPPED = re.compile(
    r"\\(?:displaystyle|textstyle|scriptstyle|left|right|middle|[bB]igg?[lr]?|limits|nolimits|bf|rm|it"
    r"|tiny|small|normalsize|[lL]arge|LARGE|[hH]uge|mathstrut|strut|hfill|allowbreak|cr)"
)
_SPACES = re.compile(r"\s+|~|\\(?:[,;:!> ]|q?quad|thinspace|enspace)")
_BLANK = re.compile(rf"{_SPACES.pattern}|{_DROPPED.pattern}")
_FONTS = re.compile(
    r"\\(?:math(?:bf|it|sf|tt|normal|bin|rel|ord)|boldsymbol|bm|pmb|bold|emph)|\\(?:underline|boxed|fbox)"
)
_COLOURS = re.compile(r"\\(?:(?:text)?color|[hv]space|[hv]?phantom)")
_TEXTS = re.compile(r"\\(?:text(?:bf|it|rm|sf|tt|up|normal)?|[mh]box|mathrm|operatorname|mathop)")
_FUNCTIONS = re.compile(
    r"(?:arc)?(?:sin|cos|tan|cot)h?|sec|csc|ln|log|lg|exp|gcd|lcm|det|min|max|lim|sup|inf|mod"
)
_ACCENTS = [
    *("\\overline", "\\hat", "\\vec", "\\dot", "\\ddot", "\\tilde"),
    *("\\mathbb", "\\mathcal", "\\mathfrak", "\\mathscr"),
]
_ARGUMENTS = {"\\frac": 2, "\\binom": 2, "\\sqrt": 1, "\\pmod": 1, **dict.fromkeys(_ACCENTS, 1)}
_MATRICES = re.compile(r"(?:[pbB]?|small|psmall)matrix|array")

_TOKEN = re.compile(
    r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,4}(?![\d.]))?|\.\d+|\s+|.", re.DOTALL | re.ASCII
)
_ROW_SPACE = re.compile(r"(?<=\\\\)\[-?[\d.]{1,6} ?(?:pt|em|ex|mm|cm)\]")
_TEN_TIMES = re.compile(r"(?<=\d) ?[x×] ?(?=10\s?\^)")
_VECTOR_PRODUCT = re.compile(
    r"(?<=[)}])\s?\\(times|cdot)\s?(?=\(?\s?\\(?:mathbf|boldsymbol|bm|vec|hat|overrightarrow)(?![a-z]))"
)
_VECTOR_SIGNS = {"times": "\\vectimes ", "cdot": "\\vecdot "}
"""Products of vectors have signs of their own: a parser takes both for the product of numbers."""
_ASCII_NAME = re.compile(
    r"(?<![A-Za-z\\])(sqrt|pi|infinity|inf|oo|exp|ln|log|arcsin|arccos|arctan|sinh|cosh|tanh|sin"
    r"|floor(?=\()|ceil(?=\()|cos|tan|cot|sec(?!\}|\Z)|csc|theta|alpha|beta|gamma|lambda|sigma|omega|phi)(?![A-Za-z])"
)
_UNIT_LETTERS = frozenset("mgsLNJKVWTHFhMC")
"""Units of one letter, in upright type or set off by a space: `5 \\mathrm{~m}`."""
_WORDED = re.compile(r"\\text ?\{ ?([^{}]*?) ?\}")
_CHOICE_LABEL = re.compile(r"\(?[A-J](?:\)|[.:]|\)[.:])")
_APPLIED = frozenset(
    [
        *("sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "ln", "log"),
        *("sinh", "cosh", "tanh"),
    ]
)
_RAW_WORDS = re.compile(r"[A-Za-z .'/-]*[A-Za-z]{2}[A-Za-z .'/-]*|[\u4e00-\u9fff]+")


def spell(text: str) -> str:
    """The one spelling of `text`. Raises SpellingError."""
    if len(text) > MAX_SPELLED_CHARS:
        raise SpellingError(f"it is longer than {MAX_SPELLED_CHARS} characters")
    spelled = conventional(_spell(in_typeset(_without_wraps(in_latex(text))), 0))
    depth = 0
    for mark in _BRACKET.findall(spelled):
        depth += 1 if mark in "({[" or mark.startswith("\\begin") else -1
        if depth > MAX_DEPTH:
            raise SpellingError(f"it is nested deeper than {MAX_DEPTH}")
    return spelled


_BRACKET = re.compile(r"[][(){}]|\\(?:begin|end)(?=\{)")
_MAX_WRAPS = 6


def _without_wraps(text: str) -> str:
    """`text` without delimiters, Markdown and a leading equals sign around it."""
    for _ in range(_MAX_WRAPS):
        before = text
        text = bare_math(text)
        for mark in ("**", "__", "`", "*"):
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                text = text[len(mark) : -len(mark)]
        text = text.strip().removeprefix("=").removeprefix("\\[").removesuffix("\\]").strip()
        if text == before:
            break
    text = text[:-1] if text.endswith("\\") and not text.endswith("\\\\") else text
    unescaped = text.replace("\\$", "")
    if unescaped.count("$") % 2 == 0 and "$" in unescaped:
        text = re.sub(r"(?<!\\)\$", " ", text)
    return text.replace("**", "^").replace("\\\\$", "\\$")


def _spell(text: str, depth: int) -> str:
    text = _ROW_SPACE.sub("", text)
    text = _VECTOR_PRODUCT.sub(lambda sign: _VECTOR_SIGNS[sign[1]], text)
    text = _TEN_TIMES.sub(r"\\times ", with_plain_numbers(text, whole=depth == 0))
    text = _ASCII_NAME.sub(_command_of, text)
    text = in_text(text) if depth == 0 else text
    return _Speller(_TOKEN.findall(text), depth).sequence("")


def _command_of(match: re.Match[str]) -> str:
    name = {"infinity": "infty", "inf": "infty", "oo": "infty"}.get(match[1], match[1])
    return f"\\{name} "


_FRACTIONS = frozenset(["\\frac", "\\dfrac", "\\tfrac"])
_ROUNDED = {"\\floor": "\\lfloor {}\\rfloor ", "\\ceil": "\\lceil {}\\rceil "}
_TRANSPOSED = frozenset(["\\top", "\\intercal", "\\text{T}"])
_RANKS = {"_": 0, "'": 1, "^": 2}


class _Speller:
    """One pass over the tokens of a text."""

    def __init__(self, tokens: list[str], depth: int) -> None:
        self._tokens = tokens[::-1]
        self._depth = depth

    def sequence(self, end: str) -> str:
        """The part before the token `end`, which is taken as well."""
        self._go_deeper()
        parts: list[str] = []
        while self._tokens:
            token = self._tokens.pop()
            if token == end:
                break
            if token in {"}", "\\end"}:
                raise SpellingError("its braces do not match")
            self._add(parts, self._item(token))
        else:
            if end:
                raise SpellingError("a brace is left open")
        self._depth -= 1
        return _joined(parts)

    def _add(self, parts: list[str], part: str) -> None:
        """Append; of the scripts of one base the subscript stands first, the exponent last."""
        at = len(parts)
        if part[:1] in _RANKS:
            while at and parts[at - 1] == " ":
                at -= 1
            while at and parts[at - 1][:1] in _RANKS and _RANKS[parts[at - 1][0]] > _RANKS[part[0]]:
                at -= 1
        parts.insert(at, part)

    def _item(self, token: str) -> str:
        token = ONE_NAME.get(token, token)
        if _SPACES.fullmatch(token):
            return " "
        if token == "{":
            inner = self.sequence("}")
            return inner or "{}"
        if _DROPPED.fullmatch(token):
            if token in {"\\left", "\\right"} and self._tokens and self._tokens[-1] == ".":
                self._tokens.pop()
            return ""
        if token in "^_":
            return self._script(token)
        if _FONTS.fullmatch(token):
            return self._argument()
        if _COLOURS.fullmatch(token):
            self._argument()
            return ""
        if _TEXTS.fullmatch(token):
            return self._text(token)
        if token in _ARGUMENTS:
            return self._with_arguments(token)
        if token == "\\exp":
            return self._exponential()
        if token[1:] in _APPLIED and self._tokens and self._tokens[-1] == "{":
            inner = self._argument()
            return token + (inner if len(inner) < 2 or inner[0] == "(" else f"({inner})")
        if token in _ROUNDED and self._tokens:
            while self._tokens[-1] in {" ", "("}:
                if self._tokens.pop() == "(":
                    return _ROUNDED[token].format(self._until_parenthesis())
        if token == "\\begin":
            return self._environment()
        if token == "\\degree":
            return "^{\\circ}"
        if token == "\\|":
            return "|"
        if token == "\\prime":
            return "'"
        if "e" in token.lower() and token[0].isdigit():
            mantissa, _, power = token.lower().partition("e")
            return f"{mantissa}\\cdot 10^{{{int(power)}}}"
        return token

    def _go_deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise SpellingError(f"it is nested deeper than {MAX_DEPTH}")

    def _argument(self, *, one_digit: bool = False) -> str:
        self._go_deeper()
        argument = self._read_argument(one_digit=one_digit)
        self._depth -= 1
        return argument

    def _read_argument(self, *, one_digit: bool) -> str:
        while self._tokens and _SPACES.fullmatch(self._tokens[-1]):
            self._tokens.pop()
        if not self._tokens:
            raise SpellingError("an argument is missing")
        token = self._tokens.pop()
        if token == "{":
            return self.sequence("}")
        if one_digit and token.isdigit() and len(token) > 1:
            self._tokens.append(token[1:])
            return token[0]
        if token in {"}", "&", "\\\\", "\\end"}:
            raise SpellingError("an argument is missing")
        if token in "+-":
            signed = self._tokens and (
                self._tokens[-1][0].isdigit() or self._tokens[-1] in _FRACTIONS
            )
            return token + self._argument() if signed else token
        return self._item(token)

    def _script(self, mark: str) -> str:
        inner = self._argument()
        inner = "T" if mark == "^" and inner in _TRANSPOSED else inner
        if mark == "^" and inner and set(inner.replace("\\prime", "'")) == {"'"}:
            return inner.replace("\\prime", "'")
        return f"{mark}{{{inner}}}"

    def _with_arguments(self, command: str) -> str:
        index = ""
        while self._tokens and self._tokens[-1].isspace():
            self._tokens.pop()
        if command == "\\sqrt" and self._tokens and self._tokens[-1] == "[":
            self._tokens.pop()
            inner = self.sequence("]")
            index = f"[{inner}]" if inner != "2" else ""
        if command == "\\sqrt" and self._tokens and self._tokens[-1] == "(":
            self._tokens.pop()
            return f"\\sqrt{index}{{{self._until_parenthesis()}}}"
        inners = [
            self._argument(one_digit=command in {"\\frac", "\\binom"})
            for _ in range(_ARGUMENTS[command])
        ]
        return command + index + "".join(f"{{{inner}}}" for inner in inners)

    def _exponential(self) -> str:
        while self._tokens and _BLANK.fullmatch(self._tokens[-1]):
            self._tokens.pop()
        if self._tokens and self._tokens[-1] == "(":
            self._tokens.pop()
            return f"e^{{{self._until_parenthesis()}}}"
        return f"e^{{{self._argument()}}}"

    def _until_parenthesis(self) -> str:
        taken: list[str] = []
        depth = 1
        while self._tokens:
            token = self._tokens.pop()
            depth += (token == "(") - (token == ")")
            if not depth:
                return _Speller(taken, self._depth).sequence("")
            taken.append(token)
        raise SpellingError("a parenthesis is left open")

    def _text(self, command: str) -> str:
        while self._tokens and self._tokens[-1].isspace():
            self._tokens.pop()
        if not self._tokens or self._tokens[-1] != "{":
            return ""
        self._tokens.pop()
        taken: list[str] = []
        depth = 1
        while self._tokens:
            token = self._tokens.pop()
            depth += (token == "{") - (token == "}")
            if not depth:
                break
            taken.append(token)
        else:
            raise SpellingError("a brace is left open")
        raw = " ".join("".join(" " if _SPACES.fullmatch(item) else item for item in taken).split())
        raw = _WORDED.sub(r"\1", raw)
        if raw.replace(".", "").lower() in {"am", "pm"}:
            return f"\\text{{{raw.replace('.', '').lower()}}}"
        if _CHOICE_LABEL.fullmatch(raw):
            return raw
        if command in {"\\operatorname", "\\mathrm", "\\mathop"} and _FUNCTIONS.fullmatch(raw):
            return f"\\{raw}"
        parted = bool(taken) and _SPACES.fullmatch(taken[0]) is not None
        if raw in _UNIT_LETTERS and (parted or command == "\\mathrm"):
            return f"\\text{{{raw}}}"
        if raw in _JOINT or (_RAW_WORDS.fullmatch(raw) and not _JOINT.intersection(raw.split())):
            return f"\\text{{{raw.casefold().strip(' .')}}}"
        if UNITS.fullmatch(raw) and not raw.isalpha():
            raw = re.sub(r"(?<![\\A-Za-z])[A-Za-z]+", r"\\text{ \g<0>}", raw)
        return _Speller(_TOKEN.findall(in_text(raw)), self._depth).sequence("").rstrip(".")

    def _environment(self) -> str:
        name = self._argument().replace("\\text{", "").rstrip("}")
        if name == "array":
            self._argument()
        cells: list[str] = [""]
        parts: list[str] = []
        while self._tokens:
            token = self._tokens.pop()
            if token == "\\end":
                self._argument()
                break
            if token in {"&", "\\\\"}:
                cells[-1] = _joined(parts)
                cells += [token, ""]
                parts = []
            else:
                self._add(parts, self._item(token))
        else:
            raise SpellingError(f"the environment {name[:20]} is left open")
        cells[-1] = _joined(parts)
        if not cells[-1] and len(cells) > 1:
            del cells[-2:]
        kind = "pmatrix" if _MATRICES.fullmatch(name) else name
        return f"\\begin{{{kind}}}{''.join(cells)}\\end{{{kind}}}"


def _joined(parts: list[str]) -> str:
    """The parts in one text, a space only where two digits or a command and a letter would run
    together."""
    for between, command in (("\\over", "\\frac"), ("\\choose", "\\binom")):
        if between in parts:
            at = parts.index(between)
            return f"{command}{{{_joined(parts[:at])}}}{{{_joined(parts[at + 1 :])}}}"
    kept: list[str] = []
    parted = False
    for part in parts:
        last = kept[-1] if kept else ""
        if part == " " or not part:
            parted = parted or part == " "
            continue
        words, more = _WORDS_ALONE.fullmatch(last), _WORDS_ALONE.fullmatch(part)
        if words and more and not _JOINT.intersection({words[1], more[1]}):
            kept[-1] = f"\\text{{{words[1]} {more[1]}}}"
        elif last and (
            (parted and last[-1].isdigit() and part[0].isdigit())
            or (part[0].isalpha() and _ENDS_IN_COMMAND.search(last[-30:]))
        ):
            kept.append(f" {part}")
        else:
            kept.append(part)
        parted = False
    return "".join(kept).replace("+-", "-")


_JOINT = frozenset(["and", "or"])
_WORDS_ALONE = re.compile(r" ?\\text\{([^{}]*)\}")
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
