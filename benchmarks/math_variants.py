"""Other ways of writing a published answer, and answers that are near it and wrong.

Each rule takes the text of a gold answer and gives the texts that it makes of it; a rule that does
not fit gives none. The rules know LaTeX and mathematics and nothing of the checks that are
measured with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction

Rule = Callable[[str], Iterator[str]]

INTEGER = re.compile(r"-?\d{1,15}")
DECIMAL = re.compile(r"-?\d{1,12}\.\d{1,12}")
FRACTION = re.compile(r"(-?)\\[dt]?frac\s?\{\s?(-?\d+)\s?\}\s?\{\s?(\d+)\s?\}")
NUMBER_IN = re.compile(r"(?<![\d.\\_^{])(\d+)(?![\d.])")


def _parts(text: str) -> list[str] | None:
    """The members of a list without brackets; None for anything else."""
    if any(mark in text for mark in "()[]|=<>") or "\\text" in text or "\\{" in text:
        return None
    parts = [part.strip() for part in re.split(r",(?=\s|\\|-?\d+(?:,|$))", text)]
    thousands = re.fullmatch(r"-?\d{1,3}(,\d{3})+", text)
    return parts if 1 < len(parts) < 8 and all(parts) and not thousands else None


def in_dollars(text: str) -> Iterator[str]:
    yield f"${text}$"


def with_full_stop(text: str) -> Iterator[str]:
    if text[-1:].isalnum() or text[-1:] in "})":
        yield f"{text}."


def displayed(text: str) -> Iterator[str]:
    yield f"\\displaystyle {text}"


def in_bold_markdown(text: str) -> Iterator[str]:
    if "*" not in text:
        yield f"**{text}**"


def in_extra_braces(text: str) -> Iterator[str]:
    if "," not in text and "=" not in text and "\\text" not in text:
        yield f"{{{text}}}"


def with_sized_brackets(text: str) -> Iterator[str]:
    if "\\left" in text:
        yield text.replace("\\left", "").replace("\\right", "")
    elif "(" in text and text.count("(") == text.count(")") and "[" not in text and "]" not in text:
        yield text.replace("(", "\\left(").replace(")", "\\right)")


def in_parentheses(text: str) -> Iterator[str]:
    if INTEGER.fullmatch(text):
        yield f"\\left({text}\\right)"


def another_fraction(text: str) -> Iterator[str]:
    if "\\frac" in text:
        yield text.replace("\\frac", "\\dfrac")
        yield text.replace("\\frac", "\\tfrac")


def slashed_fraction(text: str) -> Iterator[str]:
    match = FRACTION.fullmatch(text)
    if match:
        yield f"{match[1]}{match[2]}/{match[3]}"


def short_fraction(text: str) -> Iterator[str]:
    short = re.sub(r"\\frac\s?\{\s?(\d)\s?\}\s?\{\s?(\d)\s?\}", r"\\frac\1\2", text)
    if short != text:
        yield short


def fraction_with_over(text: str) -> Iterator[str]:
    match = re.fullmatch(r"\\frac\{([^{}]+)\}\{([^{}]+)\}", text)
    if match:
        yield f"{match[1]} \\over {match[2]}"


def minus_in_numerator(text: str) -> Iterator[str]:
    match = re.fullmatch(r"-\\frac\{(\d+)\}\{(\d+)\}", text)
    if match:
        yield f"\\frac{{-{match[1]}}}{{{match[2]}}}"


def as_decimal(text: str) -> Iterator[str]:
    match = FRACTION.fullmatch(text)
    if match and int(match[3]) in {2, 4, 5, 8, 10, 20, 25} and int(match[2]) % int(match[3]):
        value = Fraction(int(match[2]), int(match[3])) * (-1 if match[1] else 1)
        yield str(float(value))


def decimal_as_fraction(text: str) -> Iterator[str]:
    if DECIMAL.fullmatch(text) and len(text) < 7:
        value = Fraction(text)
        if value.denominator > 1:
            sign = "-" if value < 0 else ""
            yield f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def trailing_zeros(text: str) -> Iterator[str]:
    if INTEGER.fullmatch(text):
        yield f"{text}.0"
    if DECIMAL.fullmatch(text):
        yield f"{text}0"


def grouped_digits(text: str) -> Iterator[str]:
    if INTEGER.fullmatch(text) and abs(int(text)) > 9999:
        for gap in (",", "{,}", ",\\!", "\\,", "\u202f"):
            yield f"{int(text):,}".replace(",", gap)


def ungrouped_digits(text: str) -> Iterator[str]:
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+", text):
        yield text.replace(",", "")


def in_dollars_of_currency(text: str) -> Iterator[str]:
    if re.fullmatch(r"\d{1,9}(\.\d\d)?", text):
        yield f"\\${text}"


def scientific(text: str) -> Iterator[str]:
    match = re.fullmatch(r"(\d(?:\.\d+)?)e(-?\d+)", text)
    if match:
        yield f"{match[1]} \\times 10^{{{int(match[2])}}}"
        yield f"{match[1]}\\cdot10^{{{int(match[2])}}}"
        yield f"{match[1]}×10^{{{int(match[2])}}}"
    small = re.fullmatch(r"0\.(0{2,6})([1-9]\d{0,5})", text)
    if small:
        digits = small[2]
        mantissa = digits[0] + (f".{digits[1:]}" if digits[1:] else "")
        yield f"{mantissa} \\times 10^{{-{len(small[1]) + 1}}}"


def unicode_symbols(text: str) -> Iterator[str]:
    changed = text
    for latex, symbol in (
        ("\\pi", "π"), ("\\infty", "∞"), ("\\leq", "≤"), ("\\geq", "≥"), ("\\cup", "∪"),
        ("\\theta", "θ"), ("^{\\circ}", "°"), ("^\\circ", "°"), ("\\neq", "≠"), ("\\pm", "±"),
        ("\\cdot", "·"), ("\\times", "×"), ("\\alpha", "α"), ("\\lambda", "λ"),
    ):  # fmt: skip
        changed = re.sub(re.escape(latex) + r"(?![A-Za-z])\s?", symbol, changed)
    changed = re.sub(r"\^\{?2\}?(?![\d}])", "²", changed)
    changed = re.sub(r"\\sqrt\s?\{(\d)\}", r"√\1", changed)
    if changed != text:
        yield changed
    if text.startswith("-"):
        yield "\u2212" + text[1:]
    if text in {"\\frac{1}{2}", "\\frac12"}:
        yield "½"


def ascii_names(text: str) -> Iterator[str]:
    if re.fullmatch(r"-?\d*\s?\\pi", text):
        yield re.sub(r"(\d)?\s?\\pi", lambda found: f"{found[1]}*pi" if found[1] else "pi", text)


def other_braces(text: str) -> Iterator[str]:
    bare = re.sub(r"\^\{(\d|[a-z])\}", r"^\1", text)
    if bare != text:
        yield bare
    braced = re.sub(r"\^(\d|[a-z])(?!\w)", r"^{\1}", text)
    if braced != text:
        yield braced
    bare = re.sub(r"\\sqrt\s?\{(\d)\}", r"\\sqrt\1", text)
    if bare != text:
        yield bare


def spaced(text: str) -> Iterator[str]:
    if "\\text" in text or re.search(r"\d\s\d", text):
        return
    wide = re.sub(r"(?<=[\w})])\s?([+=<>-])\s?(?=[\w\\({])", r" \1 ", text)
    if wide != text and "{" not in text:
        yield wide
    if "," in text and not re.search(r"\d,\d", text):
        yield re.sub(r",\s*", ",\\\\ ", text)


def one_name(text: str) -> Iterator[str]:
    if INTEGER.fullmatch(text) or FRACTION.fullmatch(text):
        yield f"x = {text}"


def leading_equals(text: str) -> Iterator[str]:
    if INTEGER.fullmatch(text) or FRACTION.fullmatch(text):
        yield f"= {text}"


def in_text(text: str) -> Iterator[str]:
    if INTEGER.fullmatch(text):
        yield f"\\text{{{text}}}"
    if INTEGER.fullmatch(text) or re.fullmatch("[A-Za-z]", text):
        yield f"\\mathbf{{{text}}}"


def reordered(text: str) -> Iterator[str]:
    parts = _parts(text)
    if parts:
        yield ", ".join(parts[::-1])
        if len(parts) == 2:
            yield f"{parts[0]} \\text{{ and }} {parts[1]}"
            yield f"{parts[1]} \\text{{ or }} {parts[0]}"


def swapped_terms(text: str) -> Iterator[str]:
    match = re.fullmatch(r"([\w^]+)\s?\+\s?([\w^]+|\d*\\sqrt\{\d+\}|\d*\\pi)", text)
    if match:
        yield f"{match[2]} + {match[1]}"
    match = re.fullmatch(r"([\w^]+)\s?-\s?(\w+|\d*\\sqrt\{\d+\})", text)
    if match:
        yield f"-{match[2]} + {match[1]}"


def explicit_product(text: str) -> Iterator[str]:
    match = re.fullmatch(r"(-?\d+)\s?(\\sqrt\{\d+\}|\\pi|[a-z])", text)
    if match:
        yield f"{match[1]} \\cdot {match[2]}"
        yield (
            f"{match[2]} \\cdot {match[1]}"
            if not match[1].startswith("-")
            else f"-{match[2]} \\cdot {match[1][1:]}"
        )


def root_as_power(text: str) -> Iterator[str]:
    if re.fullmatch(r"\\sqrt\{[a-z\d]+\}", text):
        yield f"{text[6:-1]}^{{1/2}}" if len(text) == 8 else f"({text[6:-1]})^{{1/2}}"


def turned_equation(text: str) -> Iterator[str]:
    sides = text.split("=")
    if len(sides) == 2 and re.fullmatch(r"[a-z]\s?", sides[0]) and "," not in text:
        yield f"{sides[1].strip()} = {sides[0].strip()}"
        yield sides[1].strip()


def without_unit(text: str) -> Iterator[str]:
    match = re.fullmatch(
        r"(-?[\d.,]+|\\frac\{\d+\}\{\d+\})\s?\\(?:text|mathrm)\s?\{[~ ]?[a-z ]+\.?\}", text
    )
    if match:
        yield match[1]
    match = re.fullmatch(r"(-?[\d.]+)\s?\^\{?\\circ\}?", text)
    if match:
        yield match[1]
        yield f"{match[1]} \\text{{ degrees}}"


def mixed_number(text: str) -> Iterator[str]:
    match = FRACTION.fullmatch(text)
    if (
        match
        and not match[1]
        and 0 < int(match[3]) < int(match[2])
        and int(match[2]) % int(match[3])
    ):
        whole, rest = divmod(int(match[2]), int(match[3]))
        yield f"{whole}\\frac{{{rest}}}{{{match[3]}}}"


def interval_as_inequality(text: str) -> Iterator[str]:
    match = re.fullmatch(r"([\[(])\s?(-?\d+)\s?,\s?\\infty\s?\)", text)
    if match:
        order = ">" if match[1] == "(" else "\\ge"
        yield f"x {order} {match[2]}"


EQUAL: tuple[Rule, ...] = (
    in_dollars, with_full_stop, displayed, in_bold_markdown, in_extra_braces, with_sized_brackets,
    in_parentheses, another_fraction, slashed_fraction, short_fraction, fraction_with_over,
    minus_in_numerator, as_decimal, decimal_as_fraction, trailing_zeros, grouped_digits,
    ungrouped_digits, in_dollars_of_currency, scientific, unicode_symbols, ascii_names,
    other_braces, spaced, one_name, leading_equals, in_text, reordered, swapped_terms,
    explicit_product, root_as_power, turned_equation, without_unit, mixed_number,
    interval_as_inequality,
)  # fmt: skip


def next_number(text: str) -> Iterator[str]:
    """One of the numbers in it is another."""
    for match in list(NUMBER_IN.finditer(text))[:2]:
        if len(match[1]) < 16:
            yield text[: match.start(1)] + str(int(match[1]) + 1) + text[match.end(1) :]


def other_sign(text: str) -> Iterator[str]:
    if re.fullmatch(r"0(\.0*)?", text) or "\\text" in text or "\\pm" in text:
        return
    if INTEGER.fullmatch(text) or DECIMAL.fullmatch(text) or FRACTION.fullmatch(text):
        yield text[1:] if text.startswith("-") else f"-{text}"
    match = re.search(r"(?<=[\w})]) ?([+-]) ?(?=[\w\\])(?!infty)", text)
    if match and "^{" not in text[: match.start()].rpartition("}")[2]:
        yield text[: match.start(1)] + {"+": "-", "-": "+"}[match[1]] + text[match.end(1) :]


def shifted_point(text: str) -> Iterator[str]:
    if re.fullmatch(r"-?[1-9]\d{0,12}", text):
        yield f"{text}0"
    if DECIMAL.fullmatch(text) and Fraction(text):
        yield (
            str(Fraction(text) * 10)
            if (Fraction(text) * 10).denominator == 1
            else text.replace(".", "", 1)
        )


def turned_fraction(text: str) -> Iterator[str]:
    match = FRACTION.fullmatch(text)
    if match and abs(int(match[2])) != int(match[3]) and int(match[2]):
        yield f"{match[1]}\\frac{{{match[3]}}}{{{match[2]}}}"


def rounded(text: str) -> Iterator[str]:
    match = FRACTION.fullmatch(text)
    if (
        match
        and int(match[3]) % 3 == 0
        and Fraction(int(match[2]), int(match[3])).denominator % 3 == 0
    ):
        yield f"{match[1]}{int(match[2]) / int(match[3]):.4f}"
    if text == "\\pi":
        yield "3.1416"
    root = re.fullmatch(r"(\d*)\\sqrt\{(\d+)\}", text)
    if root and int(root[2]) ** 0.5 % 1:
        yield f"{int(root[1] or 1) * int(root[2]) ** 0.5:.4f}"


def percent_sign(text: str) -> Iterator[str]:
    if INTEGER.fullmatch(text) and int(text):
        yield f"{text}\\%"


def hedged(text: str) -> Iterator[str]:
    if INTEGER.fullmatch(text):
        yield f"{text} \\text{{ or }} {int(text) + 1}"
        yield f"{text}, {int(text) + 2}"


def without_a_member(text: str) -> Iterator[str]:
    parts = _parts(text)
    if parts:
        yield ", ".join(parts[:-1])
        yield ", ".join([*parts, "97"])
        yield ", ".join([*parts[:-1], "97"])


def other_brackets(text: str) -> Iterator[str]:
    if re.fullmatch(r"[\[(][^\[\]()]+,[^\[\]()]+[\])]", text):
        if text[0] == "[":
            yield f"({text[1:]}"
        elif "infty" in text and not text[1:].strip().startswith("-\\infty"):
            yield f"[{text[1:]}"
        if text[-1] == "]":
            yield f"{text[:-1]})"


def swapped_pair(text: str) -> Iterator[str]:
    match = re.fullmatch(r"\(([^,()]+),([^,()]+)\)", text)
    if match and match[1].strip() != match[2].strip() and "infty" not in text:
        yield f"({match[2].strip()},{match[1].strip()})"


def other_exponent(text: str) -> Iterator[str]:
    match = re.search(r"\^\{?(\d)\}?(?![\d}])", text)
    if match:
        yield text[: match.start()] + f"^{{{int(match[1]) + 1}}}" + text[match.end() :]
        if match[1] != "1" and re.search(r"[a-z\\]", text):
            yield text[: match.start()] + text[match.end() :]


def other_subscript(text: str) -> Iterator[str]:
    match = re.search(r"(?<![a-z])([A-Za-z\d])_\{?(\d{1,2})\}?(?![\d}])", text)
    if match:
        yield text[: match.end(1)] + f"_{{{int(match[2]) + 1}}}" + text[match.end() :]
    if re.fullmatch(r"\d+_\{?\d+\}?", text):
        yield text.partition("_")[0]


def other_primes(text: str) -> Iterator[str]:
    for prime in ("^{\\prime}", "^{\\prime \\prime}", "'"):
        if prime in text:
            yield text.replace(prime, "", 1)
            break


def other_letter(text: str) -> Iterator[str]:
    match = re.search(r"(?<![A-Za-z\\{])([a-df-hj-z])(?![A-Za-z])", text)
    if match and "\\text" not in text and "=" not in text and match[1] not in "wdx":
        yield text[: match.start()] + "w" + text[match.end() :]


def without_root_or_pi(text: str) -> Iterator[str]:
    for pattern, other in (
        (r"\\sqrt\s?\{(\d+)\}", r"\1"),
        (r"(?<=\d)\s?\\pi(?![a-z])", ""),
        (r"(?<=\d)i(?![a-z])", ""),
    ):
        changed = re.sub(pattern, other, text, count=1)
        if changed != text and not re.search(r"\d\d+", changed):
            yield changed


def other_function(text: str) -> Iterator[str]:
    for one, other in (
        ("\\sin", "\\cos"),
        ("\\cos", "\\sin"),
        ("\\tan", "\\cot"),
        ("\\ln", "\\sin"),
        ("\\log", "\\tan"),
    ):
        if one in text:
            yield text.replace(one, other, 1)
            break


def without_degrees(text: str) -> Iterator[str]:
    if re.search(r"\\(?:sin|cos|tan)", text) and "\\circ" in text:
        yield re.sub(r"\^\{?\\circ\}?", "", text)


def other_order(text: str) -> Iterator[str]:
    for one, other in (
        ("\\leq", "<"),
        ("\\le ", "< "),
        ("\\geq", ">"),
        ("\\ge ", "> "),
        ("<", "\\leq "),
        (">", "\\geq "),
    ):
        if one in text:
            yield text.replace(one, other, 1)
            break


def other_unit(text: str) -> Iterator[str]:
    match = re.fullmatch(r"(-?[\d.,]+)\s?\\(?:text|mathrm)\s?\{[~ ]?[a-z ]+\.?\}", text)
    if match:
        yield f"{match[1]} \\text{{ furlongs}}"


def without_constant(text: str) -> Iterator[str]:
    if re.search(r"\+\s?C$", text):
        yield re.sub(r"\s?\+\s?C$", "", text)


def turned_matrix(text: str) -> Iterator[str]:
    match = re.fullmatch(
        r"(\\begin\{[pb]matrix\})([^&{}]+)&([^&{}]+)\\\\([^&{}]+)&([^&{}]+)(\\end\{[pb]matrix\})",
        text,
    )
    if match and match[3].strip() != match[4].strip():
        yield f"{match[1]}{match[2]}&{match[4]}\\\\{match[3]}&{match[5]}{match[6]}"


NEAR: tuple[Rule, ...] = (
    next_number, other_sign, shifted_point, turned_fraction, rounded, percent_sign, hedged,
    without_a_member, other_brackets, swapped_pair, other_exponent, other_subscript, other_primes,
    other_letter, without_root_or_pi, other_function, without_degrees, other_order, other_unit,
    without_constant, turned_matrix,
)  # fmt: skip


def variants(gold: str, rules: tuple[Rule, ...]) -> list[tuple[str, str]]:
    """(name of the rule, text) of every variant that is no copy of the gold answer."""
    made = dict[str, str]()
    for rule in rules:
        for text in rule(gold):
            if text.strip() and "".join(text.split()) != "".join(gold.split()):
                made.setdefault(text, rule.__name__)
    return [(name, text) for text, name in made.items()]
