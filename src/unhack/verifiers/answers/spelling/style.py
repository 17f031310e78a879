r"""Answers that are written by several conventions, in the one that they are compared in.

`conventional` takes a spelled text (`spelling.latex`) and writes

    (2143)_{5}, 2143_{\text{five}}, 2143\text{ in base }5, 0x1A7      2143_{5}, 1A7_{16}
    x\equiv 15\mod 11, (\text{mod }11), \pmod{11}                     x\equiv 4\pmod{11}
    ]2,5], (3,+\infty)                                                (2,5], (3,\infty)
    \overline{QP}, \angle RQP                                         \overline{PQ}, \angle PQR
    A, C, D as an answer of several choices                           ACD
    y^{(4)}, 4\text{ to }7, 5\text{ percent}, DNE                     y'''', 4:7, 5\%, \text{dne}

`turned` writes a chain of `>` as one of `<`, and `in_order` tells the tuple that
`y=-1, x=4` is.  All of it is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from unhack.verifiers.answers.sentences import DENIED
from unhack.verifiers.answers.spelling.words import DIGITS, counted

_BASES = {word: str(base) for word, base in DIGITS.items() if base > 1}
_BASE = rf"\d{{1,2}}|\\text\{{(?:{'|'.join(_BASES)})\}}"
_IN_BASE = re.compile(
    rf"(-?)(\()?([0-9A-Z]{{1,200}})(?(2)\))(?:_\{{\(?({_BASE})\)?\}}"
    rf"|(\()?\\text\{{(?:in )?base\}} ?({_BASE})(?(5)\))"
    rf"|(\()?\\text\{{(?:in )?base ({'|'.join(_BASES)})\}}(?(7)\)))"
)
_PREFIXED = re.compile(r"(-?)0(?:x([0-9A-Fa-f]{2,60})|b([01]{2,200}))")
_CONGRUENCE = re.compile(
    r"([^=<>]{1,60}?\\equiv ?)(-?\d{1,15}(?:,-?\d{1,15}){0,8})"
    r"(?:,?\(?(?:\\mod|\\bmod|\\text\{(?:mod|modulo)\}) ?(\d{1,15})\)?|\\pmod\{(\d{1,15})\})"
)
_STEPS = re.compile(
    r"([a-z])=(?:(\d{1,9})([kmnt])([+-]\d{1,9})|(-?\d{1,9})\+(\d{1,9})([kmnt]))"
    r",(?:\3|\7)\\in ?\\mathbb\{Z\}"
)
r"""All numbers of a residue class, `x=7k+3,k\in\mathbb{Z}`."""
_OPEN_OUTSIDE = re.compile(r"([][])([^][,]{1,60},[^][,]{1,60})([][])")
_CHOICES = re.compile(r"\(?[A-H]\)?(?:[,;]?\(?[A-H]\)?){1,7}")
_QUADRANTS = {"first": "I", "second": "II", "third": "III", "fourth": "IV"}


def _number_of(match: re.Match[str]) -> str:
    """`5\\text{hours}` of `\\text{five hours}`."""
    return counted(match[1]) or match[0]


def _all_but(match: re.Match[str]) -> str:
    points = re.split(r",|\\text\{(?:and|or)\}", match[1])
    values = ",".join(item.partition("=")[2] or item for item in points)
    return f"\\mathbb{{R}}\\setminus \\{{{values}\\}}"


_SMALL: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(r"\A\\(?:approx|text\{(?:about|approximately|roughly)\}) ?"), ""),
    (re.compile(r"\A\\text\{(?:the )?(?:option|choice)(?:\} ?\(?([A-K])\)?(?:\\text\{)?"
                r"| ([a-k]))(?: ?is (?:correct|right|true))?\}?\Z"),
     lambda m: (m[1] or m[2]).upper()),
    (re.compile(r"\A([A-J]) ?\((\\text\{[^()]*)\)\Z"), r"(\1)\2"),
    (re.compile(r"(?<=.)\([a-z](?:\\neq ?|[<>]|\\[lg]eq ?)-?\d{1,9}\)\Z"), ""),
    (re.compile(r"([a-zA-Z])(?::|\\colon ?)([a-z])\\mapsto ?"), r"\1(\2)="),
    (re.compile(r"(?<![A-Za-z])([a-zA-Z]\([a-z]\))\\equiv ?(?=-?\d{1,9}(?:,|\Z|\\text))"), r"\1="),
    (re.compile(r"\A(\d[\d.,]{0,40})(?:''|\")\Z"), r"\1\\text{inch}"),
    (re.compile(r"(?<=[,(\[;])\+\\infty"), r"\\infty"),
    (re.compile(r"\\(sin|cos|tan)\^\{-1\}"), r"\\arc\1"),
    (re.compile(r"(?<![A-Za-z}])C_\{(\d{1,6})\}\^\{(\d{1,6})\}"), r"\\binom{\1}{\2}"),
    (re.compile(r"(?<![A-Za-z\d}])(?:\{\})?[_^]\{(\d{1,6})\}C_\{(\d{1,6})\}"), r"\\binom{\1}{\2}"),
    (re.compile(r"\A([A-K])\)\Z"), r"\1"),
    (re.compile(r"\A-\((\\frac\{\d{1,40}\}\{\d{1,40}\})\)\Z"), r"-\1"),
    (re.compile(r"\A([abcsu])\(n\)="), r"\1_{n}="),
    (re.compile(r"(?<=\d) ?\\Omega\Z"), r"\\text{ohm}"),
    (re.compile(r"(?<=\d) ?([€£¥₹])\Z"), r"\\text{\1}"),
    (re.compile(r"\\mathbb\{R\}(?:\\setminus ?|-)\\\{(-?[^{},]{1,40})\\\}"),
     r"(-\\infty,\1)\\cup (\1,\\infty)"),
    (re.compile(r"(?<=\d)\\text\{by\}(?=\d)"), r"\\times "),
    (re.compile(r",?(?:\\text\{(?:for|where|with)(?: all| any| every| each)?\} ?|\\forall ?)"
                r"(?=[a-z](?:\\in|[<>]|\\[lg]eq))"), ","),
    (re.compile(r"\A\\text\{[^{}]{1,80} (?:is|are|equals)(?: about| approximately)?\} ?(?=.)"),
     lambda m: m[0] if DENIED.search(m[0]) else ""),
    (re.compile(r"\\frac\{(\\text\{[^{}]*\})\}\{(?:\\text\{([^{}]*)\}|([smh]))(\^\{\d\})?\}\Z"),
     lambda m: f"{m[1]}/\\text{{{m[2] or m[3]}}}{m[4] or ''}"),
    (re.compile(r"\\in ?([CNQRZ])(?![A-Za-z])"), r"\\in \\mathbb{\1}"),
    (re.compile(r",?\(([a-z]\\in ?\\mathbb\{[NZQR]\}(?:\^\{[+*]\}|_\{[^{}]{1,4}\})?)\)\Z"), r",\1"),
    (re.compile(r",?\\text\{for (?:all|every|any)(?: (?:positive|real|rational|integers?|nonzero"
                r"|natural|numbers?)){0,3}\} ?([a-z])\Z"),
     lambda m: "" if m[1] in m.string[: m.start()] else m[0]),
    (re.compile(r"\\(?:vec|hat)\{([ijk])\}"), r"\1"),
    (re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\\text\{(thousand|million|billion)(?: ([^{}]*))?\}"),
     lambda m: _scaled(m[1], m[2]) + (f"\\text{{{m[3]}}}" if m[3] else "")),
    (re.compile(r"\A\\\{\\\}\Z"), r"\\emptyset"),
    (re.compile(r"(?<=\d)\\text\{to\}(?=\d)"), ":"),
    (re.compile(r"\\text\{(?:percent|per cent)\}"), r"\\%"),
    (re.compile(r"\A\\text\{(?:[a-z ]{1,40} )?does not exist\}\Z|DNE"), r"\\text{dne}"),
    (re.compile(r"\\text\{(?:there (?:is|are) |the equation has )?no (real )?solutions?\}"),
     r"\\text{no \1solution}"),
    (re.compile(r"\A(?:\\text\{no solution\}|no ?\\text\{solutions?\})\Z"), r"\\emptyset"),
    (re.compile(r"\A\\text\{[^{}]{1,200}\}\Z"), lambda m: _told(m[0])),
    (re.compile(r"\A(?:\\text\{(?:all )?(?:real numbers|reals)\}|(?:[a-z]\\in ?)?\\mathbb\{R\})\Z"),
     r"(-\\infty,\\infty)"),
    (re.compile(r"\A\\text\{all (?:real numbers|reals)(?: except\}|\} ?[a-z]\\text\{except\}) ?"
                r"([^{}<>]{1,60}(?:\\text\{(?:and|or)\}[^{}<>]{1,60})?)\Z"), _all_but),
    (re.compile(r"\A\\text\{the point\} ?(?=\()"), ""),
    (re.compile(r"\A([a-z])(\([^][()]{1,100}\]|\[[^][()]{1,100}\))\Z"), r"\1\\in \2"),
    (re.compile(r"\\\{([A-Za-z])(\\in ?\\mathbb\{[A-Z]\})?:"), r"\\{\1\2|"),
    (re.compile(r"\A\\\{([a-z])\|\1=([^,|{}<>=]{1,60}),([a-z]\\in ?\\mathbb\{[ZN]\})\\\}\Z"),
     r"\\{\2|\3\\}"),
    (re.compile(r"\A\\\{([^,|{}<>=:]{1,60})[:|]([a-z]\\in ?\\mathbb\{[ZN]\})\\\}\Z"),
     r"\\{\1|\2\\}"),
    (re.compile(r"\A\\text\{(?:(?:in )?the )?(first|second|third|fourth) quadrant\}\Z"),
     lambda m: f"\\text{{quadrant}}{_QUADRANTS[m[1]]}"),
    (re.compile(r"\A\\text\{quadrant (i|ii|iii|iv)\}\Z"),
     lambda m: f"\\text{{quadrant}}{m[1].upper()}"),
    (re.compile(r"\A\\text\{Quadrant\} ?(?=[IV\\])"), r"\\text{quadrant}"),
    (re.compile(r"\A(?:\\text\{(?:the )?empty(?: set\}|\}set)|\\text\{no domain\})\Z"),
     r"\\emptyset"),
    (re.compile(r"\A(?:an? ?\\text\{|\\text\{an? )([a-z]{3,30})\}\Z"), r"\\text{\1}"),
    (re.compile(r"(\\text\{(?:lb|lbs|ft|kg|n|m)\})-(?:\\sec|\\text\{([a-z]{1,6})\})"),
     lambda m: f"{m[1]}\\text{{{m[2] or 'sec'}}}"),
    (re.compile(r"\A\\text\{([^{}]{3,100})\}\Z"), _number_of),
    (re.compile(r"(?<![A-Za-z])([A-Za-z])\^\{\(([1-6])\)\}"), lambda m: m[1] + "'" * int(m[2])),
    (re.compile(r"\\overline\{([A-Z])([A-Z])\}"),
     lambda m: f"\\overline{{{min(m[1], m[2])}{max(m[1], m[2])}}}"),
    (re.compile(r"\\angle ?([A-Z])([A-Z])([A-Z])(?![A-Z])"),
     lambda m: "\\angle " + min(m[1] + m[2] + m[3], m[3] + m[2] + m[1])),
]  # fmt: skip


def _told(text: str) -> str:
    """`\\text{sunday}` of `\\text{the first day is a sunday}`: without articles too."""
    *words, last = text[6:-1].split() or [""]
    plain = " ".join([word for word in words if word not in {"a", "an", "the"}] + [last])
    before, verb, told = plain.replace(" are ", " is ").partition(" is ")
    if verb and len(told) > 2 and not DENIED.search(before) and " is " not in told:
        plain = told
    return f"\\text{{{plain.removesuffix(' condition')}}}"


def conventional(text: str) -> str:
    """The spelled text `text` in one convention."""
    text = _CASES.sub(_in_any_order, text)
    if text.count("[\\begin{pmatrix}") == text.count("\\end{pmatrix}]"):
        text = text.replace("[\\begin{pmatrix}", "\\begin{pmatrix}")
        text = text.replace("\\end{pmatrix}]", "\\end{pmatrix}")
    for pattern, written in _SMALL:
        text = pattern.sub(written, text)
    number = _IN_BASE.fullmatch(text)
    if number:
        base = next(filter(None, number.group(4, 6, 8))).removeprefix("\\text{").removesuffix("}")
        alone = len(number[3]) == 1 and int(number[3], 36) < int(_BASES.get(base, base))
        if number[3].isdigit() and (alone or base in {"10", "ten"}):
            return f"{number[1]}{number[3]}"
        return f"{number[1]}{number[3]}_{{{_BASES.get(base, base)}}}"
    number = _PREFIXED.fullmatch(text)
    if number:
        return f"{number[1]}{(number[2] or number[3]).upper()}_{{{16 if number[2] else 2}}}"
    steps = _STEPS.fullmatch(text)
    if steps:
        modulus, rest = steps[2] or steps[6], steps[4] or steps[5]
        text = f"{steps[1]}\\equiv {int(rest)}\\pmod{{{modulus}}}"
    congruence = _CONGRUENCE.fullmatch(text)
    if congruence and int(congruence[3] or congruence[4]):
        modulus = int(congruence[3] or congruence[4])
        left = congruence[1].rstrip()
        rests = sorted({int(rest) % modulus for rest in congruence[2].split(",")})
        return f"{left} {','.join(map(str, rests))}\\pmod{{{modulus}}}"
    if "]" in text or text.endswith("["):
        text = "\\cup ".join(_OPEN_OUTSIDE.sub(_bracketed, part) for part in _UNION.split(text))
    letters = re.sub(r"[^A-H]", "", text) if _CHOICES.fullmatch(text) else ""
    return letters if letters and sorted(set(letters)) == list(letters) else text


def _scaled(number: str, word: str) -> str:
    return f"{Decimal(number).scaleb({'thousand': 3, 'million': 6, 'billion': 9}[word]):f}"


_UNION = re.compile(r"\\cup(?![A-Za-z]) ?")


def _bracketed(match: re.Match[str]) -> str:
    if match[0] != match.string:
        return match[0]
    left, right = match[1].replace("]", "("), match[3].replace("[", ")")
    return f"{left}{match[2]}{right}"


_ORDER = re.compile(r"(>|\\geq(?![A-Za-z]) ?)")
_OTHER_RELATION = re.compile(r"[<=,;]|\\(?:leq|neq|equiv|approx|in|text)(?![A-Za-z])|\\\{")


def turned(text: str) -> str:
    """`c>b\\geq a` as `a\\leq b<c`; any other text as it is."""
    parts = _ORDER.split(text)
    if len(parts) < 3 or _OTHER_RELATION.search(text):
        return text
    return "".join(
        {">": "<", "\\geq": "\\leq "}.get(part.strip(), part.strip()) for part in reversed(parts)
    )


_PLACE = re.compile(r"([A-Za-z])\(\d{1,9}\)")
_ORDERS = (("r", "\\rho", "\\theta", "\\phi", "z"), ("m", "b"), ("m", "c"))
_RUNS = ("abcdefg", "hk", "klmn", "pqr", "rst", "uvw", "xyzw", "XYZ", "ABCDEFG")


def in_order(names: Sequence[str]) -> list[int] | None:
    """The places of the coordinates that are so named in their tuple, 1 and 0 of `y, x`; None for
    names that are none of coordinates."""
    for order in _ORDERS:
        known = [name for name in order if name in names]
        if len(known) == len(names) > 1 and {"r", "\\rho", "m"} & {*names}:
            return [names.index(name) for name in known]
    places = [_PLACE.fullmatch(name) for name in names]
    if len({at[1] for at in places if at}) == 1 and all(places):  # `e(19), e(18)`
        return sorted(range(len(names)), key=lambda at: int(names[at].partition("(")[2][:-1]))
    ordered = sorted(names)
    if len(names) < 2 or not any("".join(ordered) in run for run in _RUNS):
        return None
    return [names.index(name) for name in ordered]


_LETTERS = re.compile(r"\\(?:(?:begin|end|mathbb)\{[A-Za-z]+\}|[A-Za-z]+)|([A-Za-z])(_\{)?")


def in_other_case(gold: str, answer: str) -> bool:
    """True where the answer has a letter that the gold answer has in the other case alone. A
    constant of integration is `C` or `c`."""
    known, given = _letters(gold), _letters(answer)
    return any(letter.swapcase() in known for letter in given - known - {"C", "c"})


def _letters(text: str) -> set[str]:
    return {match[1] for match in _LETTERS.finditer(text) if match[1]}


def with_cases_apart(gold: str, answer: str) -> tuple[str, str]:
    """Both with other names for capitals that stand beside their small letters, which the parser
    takes for the same."""
    known = _letters(gold) | _letters(answer)

    def named(match: re.Match[str]) -> str:
        letter = match[1]
        if letter is None or letter.islower() or letter.lower() not in known:
            return match[0]
        return f"{letter}_{{u" if match[2] else f"{letter}_{{u}}"

    return _LETTERS.sub(named, gold), _LETTERS.sub(named, answer)


_CASES = re.compile(
    r"\\begin\{cases\}(.*?)\\end\{cases\}|\\\{\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}(?!\\\})"
)
_CONDITION = re.compile(r"\A\\text\{(?:if|for|when|where|as)\} ?|[,.;]\Z")


def _in_any_order(match: re.Match[str]) -> str:
    """The rows of `cases`, each of a value and a condition, in one order, without punctuation."""
    rows = [row.split("&") for row in (match[1] or match[2]).split("\\\\")]
    if any(len(row) != 2 for row in rows):
        return match[0]
    plain = sorted("&".join(_CONDITION.sub("", cell) for cell in row) for row in rows)
    joined = "\\\\".join(plain)
    return f"\\begin{{cases}}{joined}\\end{{cases}}"


def same_text(one: str, other: str) -> bool:
    """True for two spellings that differ at most in what is upright, `5m` and `5\\text{m}`."""
    plain = [_UPRIGHT.sub(r"\1", text).replace(" ", "") for text in (one, other)]
    digits = [_DIGITS_APART.findall(text) for text in (one, other)]
    return one == other or (plain[0] == plain[1] and digits[0] == digits[1])


_UPRIGHT = re.compile(r"\\text\{([^{}]*)\}")
_DIGITS_APART = re.compile(r"\d \d")
