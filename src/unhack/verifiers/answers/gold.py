r"""The gold answer in a column of a data set, as its publishers write it.

`read_gold` takes the value of the column and gives the answer alone:

| column | gold |
|---|---|
| a worked solution with boxes | the last; all in `\boxed{1}` or `\boxed{2}` |
| `… #### 42`, `<answer>42</answer>`, `The answer is 42.` | `42` |
| `42 jars`, `9 (apples)`, `$\frac12$ hours` | the number and its unit: `42\text{ jars}` |
| `3 million`, `25 percent` | `3000000`, `25\%` |
| `$2$ or $-2$`, `1; $\frac89$` | one list: `2, -2` |
| `no solution`, `(B) Paris`, `x^2 + 1` | the same text |
| `3.0`, `1e-3`, `Fraction(1, 3)`, scalars of numpy | `3`, `0.001`, `1/3` |
| a list of answers, also as JSON text | all of them in one list; one where they are equal |
| `{"ground_truth": …}` | what stands there |

Covered: everything else is a GoldError that says what was found: None, a blank, NaN, a bool, an
empty list, sentences without a mark, several quantities; nothing is guessed. Linear time.
Not covered: whether the answer is right; whether a check can read it (the verifiers say so).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, cast

from unhack.core.errors import UsageError, with_article
from unhack.verifiers.answers.final_answer import MAX_MARKED, Marker, joined_boxes, marked_answers
from unhack.verifiers.answers.numerals import bare_math, read_number

MAX_GOLD_CHARS = 500_000
_MAX_PLAIN_CHARS = 10_000
"""Longest answer without a mark."""
_NAME_IT = "name a column that holds a number, a text or a list of them"
_MARK_IT = "give the answer alone, or mark it with \\boxed{...} or `#### ...`"


class GoldError(UsageError):
    """A gold answer cannot be read; the message says what was found and what to do.

    Example:

        try:
            gold = read_gold(row["solution"])
        except GoldError as error:
            print(f"row {number} is left out: {error}")
    """


def read_gold(value: Any) -> str:
    """The gold answer that `value` holds. Raises GoldError.

    For the checks `math` and `numeric`; `exact`, `choice` and `regex` compare the column as it is.

    Example:

        read_gold("Six crates hold 6*7 jars.\\n#### 42")  # '42'
    """
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, Mapping):
        return _read_fields(cast("Mapping[Any, Any]", value))
    if isinstance(value, (list, tuple)):
        return _read_list(cast("Sequence[Any]", value))
    if isinstance(value, bool):
        raise GoldError(f"the gold answer is the bool {value}; give a number or a text")
    if isinstance(value, Rational):
        return str(value)
    if isinstance(value, (Real, Decimal)):
        return _read_real(value)
    plain: Any = getattr(value, "tolist", None)
    if callable(plain) and not isinstance(found := plain(), type(value)):
        return read_gold(found)
    raise GoldError(f"the gold answer is {with_article(value)}; {_NAME_IT}")


def _read_fields(fields: Mapping[Any, Any]) -> str:
    if "ground_truth" in fields:
        return read_gold(fields["ground_truth"])
    keys = sorted(map(str, fields))[:8]
    shown = f"{with_article(fields)} with the keys {keys}" if keys else with_article(fields)
    raise GoldError(f"the gold answer is {shown}; {_NAME_IT}")


def _read_real(value: Any) -> str:
    if not math.isfinite(value):
        raise GoldError(f"the gold answer is the float {value}; leave the row out")
    text = format(Decimal(str(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _read_list(values: Sequence[Any]) -> str:
    if not values:
        raise GoldError("the gold answer is an empty list; leave the row out")
    golds = [read_gold(item) for item in values]
    if len({_as_number(gold) for gold in golds}) == 1:
        return golds[0]
    if any(isinstance(item, str) and _last_mark(item) is not None for item in values):
        raise GoldError(
            f"the gold answer is a list of texts whose answers differ: {_shown(', '.join(golds))}; "
            "give one of them"
        )
    return ", ".join(golds)


_NO_ANSWER = frozenset({
    "null", "nan", "n/a", "####", "notfound", "not found", "proof", "see solution",
})  # fmt: skip
"""Texts in the column of rows without an answer, NuminaMath's words among them."""


def _as_number(gold: str) -> Fraction | str:
    number = read_number(gold)
    return gold if number is None else number.value


def _read_text(text: str) -> str:
    text = text.strip()
    if len(text) > MAX_GOLD_CHARS:
        raise GoldError(f"the gold answer is longer than {MAX_GOLD_CHARS} characters; {_MARK_IT}")
    if text.casefold() in _NO_ANSWER or text == "None":
        raise GoldError(f"the gold answer is the text {text!r}, which is none; leave the row out")
    if (text[:2], text[-2:]) == ('["', '"]') or text[:2] == '{"':
        try:
            return read_gold(json.loads(text))
        except (ValueError, RecursionError):
            pass
    text = text.rpartition("</think>")[2]
    marked = _last_mark(text)
    gold = _read_plain(text if marked is None else marked)
    if not gold.strip(" .,;"):
        raise GoldError(f"the gold answer is blank: {_shown(text)}; {_MARK_IT}")
    return gold


_LOOSE_BOX = re.compile(r"\\(?:boxed|fbox)\s{1,8}([^\s{}$\\]{1,40})")
_LOOSE_HASHES = re.compile(r"####\s{0,8}(.{1,1000})\Z")


def _last_mark(text: str) -> str | None:
    """The content of the last mark of `text`; None without a mark."""
    for marker in (Marker.BOXED, Marker.HASHES, Marker.TAG, Marker.PHRASE):
        found = marked_answers(text, [marker])
        if len(found) > MAX_MARKED:
            raise GoldError(f"the gold answer has more than {MAX_MARKED} marks; {_MARK_IT}")
        if found and marker is Marker.BOXED:
            return joined_boxes(text, found)[0]
        if found:
            return found[-1].text
        if marker is Marker.BOXED and "\\boxed" in text:
            loose = _LOOSE_BOX.findall(text)
            return loose[-1] if loose else ""
        if marker is Marker.HASHES and (late := _LOOSE_HASHES.search(text[text.rfind("\n") + 1 :])):
            return late[1]
    return None


_MATH_WORDS = re.compile(
    r"(?:arc)?(?:sin|cos|tan|cot)h?|csc|sec|det|dim|exp|gcd|lcm|lim|ln|log|max|min|mod|sqrt|sup|inf"
    r"|infinity|pi|in|to"
)
_WORD = re.compile(
    r"(?:[^\W\d_]{3,}(?:[-'’][^\W\d_]+)*|(?i:am|an|as|at|by|cm|ft|if|in|is|it|kg|km|mm|no|of|on|or|pm))"
    r"[.,;:!?]?"
)
_SENTENCE_WORD = re.compile(r"[^\W\d_]{2,}(?:[-'’][^\W\d_]+)*[.,;:!?]?")
_QUANTITY = re.compile(
    r"(?P<value>\$[^$]+\$|[\\$€£¥₹]{0,2}-?[\d][\d,./]*)\s{0,4}"
    r"(?:(?<=\s)\(\s?(?P<inner>[^\W\d_]{2}[^()\d$=+*^\\]{0,60})\)|(?P<unit>[^\W\d_$][^\d$()=<>:\\{}]{0,59}))"
)
_NO_UNIT = re.compile(
    r"\b(?:or|and|to|by|than|more|less|least|most|fewer|as|at|not|if|when|where|is|are|plus|minus)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\A(?:(?:the )?(?:solution|answer)s? (?:is|are) ?:? {1,3}(?=\$)"
    r"|the (?:[a-z]{1,20} ){1,6}(?:is|are|equals|has length|measures) {1,3}"
    r"(?=\$[^$]{1,200}\$\.?\Z))",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"[a-z]{1,20}: ?\$[^$]{1,100}\$(?:, ?[a-z]{1,20}: ?\$[^$]{1,100}\$){1,5}")
_COUNTED = re.compile(r"[^(]+\([^()]+\)")
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_CHOICE = re.compile(r"\(?[A-Z][).:]\s.*", re.DOTALL)
_MAX_WORDS = 8
_MATHEMATICS = re.compile(
    r"\$[^$]*\$|\\[A-Za-z]+\s?\{[^{}]*\}|\\(?:angle|triangle)\s?[A-Z]{1,4}(?![A-Za-z])"
)
_UNIT_IN_DOLLARS = re.compile(r"\A([\d.,/]{1,40}) \$ ?(mm|cm|dm|km|m|ft|in)(\^\{?[23]\}?)? ?\$\Z")
_JOINED = re.compile(r"\s?\\text\s?\{ ?(and|or) ?\}\s?")
_ORDER = re.compile(r"[<>]|\\(?:[lg]eq?|[lg]t)(?![A-Za-z])|\\[lg]eqslant")
_CLOCK = re.compile(r"\d{1,2}:\d\d\s?[ap]\.?m\.?", re.IGNORECASE)
_OPEN_END = re.compile(r"[-+*/=<>^,]\Z|\\(?:cdot|times|le|ge|leq|geq|approx) ?\Z|\A[*/=<>^,]")
"""An end that another part of the same expression follows."""


def _read_plain(text: str) -> str:
    """The answer that a text without a mark is."""
    text = _LABEL.sub("", text.strip().strip("*").strip())
    if len(text) > _MAX_PLAIN_CHARS:
        raise GoldError(f"the gold answer is {len(text)} characters without a mark; {_MARK_IT}")
    inner = bare_math(text)
    if inner != text and inner.removesuffix(".") != text.removesuffix("."):
        return inner
    if _LABELLED.fullmatch(inner):
        return re.sub(r"([a-z]{1,20}): ?\$([^$]*)\$", r"\\text{\1}:\2", inner)
    text = _UNIT_IN_DOLLARS.sub(r"\1\\text{ \2}\3", inner)
    outside = _MATHEMATICS.sub(" $ ", text)
    if _CLOCK.fullmatch(text):
        return text
    tokens = outside.split()
    words = [token for token in tokens if _WORD.fullmatch(token)]
    if _COUNTED.fullmatch(text) and (quantity := _read_quantity(text)) is not None:
        return quantity
    if all(_MATH_WORDS.fullmatch(word.rstrip(".,;:!?").lower()) for word in words):
        return _read_items(text, words)
    sentence = len(tokens) <= _MAX_WORDS and all(map(_SENTENCE_WORD.fullmatch, tokens))
    if _CHOICE.fullmatch(text) or (sentence and words):
        return text
    quantity = _read_quantity(text)
    return quantity if quantity is not None else _read_items(text, words)


def _read_items(text: str, words: list[str]) -> str:
    """One expression, or a list of expressions and quantities. Raises GoldError."""
    text = _JOINED.sub(r" \1 ", text)
    items = [item for item in re.split(r"\s*(?:[;,]?\s+(?:and|or)\s+|;)\s*", text) if item]
    if len(items) == 1 and not words and "$" not in text.replace("\\$", "").removeprefix("$"):
        return text
    if len(items) == 1 and re.fullmatch(r"\$[^$]+\$(?:\s?[,\n]\s{0,8}\$[^$]+\$)+", text):
        items = re.findall(r"\$[^$]+\$", text)
    golds: list[str] = []
    for item in items:
        inner = bare_math(item)
        plain = not any(_WORD.fullmatch(token) for token in inner.split()) and "$" not in inner
        gold = inner if plain else _read_quantity(item)
        if gold is None or (len(items) > 1 and _OPEN_END.search(gold)):
            raise GoldError(f"the gold answer is prose, {_shown(text)}; {_MARK_IT}")
        golds.append(gold)
    units = {gold.partition("\\text{")[2] for gold in golds} - {""}
    if len(units) > 1:
        raise GoldError(f"the gold answer has several units, {_shown(text)}; {_MARK_IT}")
    either = " or " in text and all(_ORDER.search(gold) for gold in golds)
    return ("\\text{ or }" if either else ", ").join(golds)


def _read_quantity(text: str) -> str | None:
    r"""A number or an expression with its unit as `42\text{ jars}`; None for anything else."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    value, unit = bare_math(match["value"]), (match["inner"] or match["unit"]).strip(" .*")
    first, _, rest = unit.partition(" ")
    if first in {"percent", "per"} and rest in {"", "cent"}:
        return f"{value}\\%"
    number = read_number(value)
    if first in _SCALES and number is not None:
        value, unit = str(number.value * 10 ** _SCALES[first]), rest
    if _NO_UNIT.search(unit) or unit in _SCALES:
        return None
    return f"{value}\\text{{ {unit}}}" if unit else value


def _shown(text: str) -> str:
    return repr(text if len(text) <= 90 else f"{text[:60]} … {text[-25:]}")
