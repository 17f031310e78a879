"""The cases that a prompt shows, read as data.

Covered: doctests, `f(1) == 2`, `f(1) -> 2`, `f(1) returns 2`, assert lines, `Input: a = 1, b = 2`
with `Output: 3`; sample input and output blocks of programs.
Not covered: examples told in prose, tables, and values that are not Python literals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from unhack.audit.subject import AuditProblem, Call

_MAX_EXAMPLES = 100
_LONGEST = 20_000
_LONGEST_CALL = 2000
_AFTER_CALL = re.compile(
    r"\s*(?:===?|=>|-{1,2}>|➞|→|⇒|=|is|#+\s*(?:=>|->|==)?|(?:should\s+)?(?:returns?|gives?|be|"
    r"equals?|evaluates\s+to))\s*:?\s*(.*)"
)
_INPUT = re.compile(
    r"^[ \t>*#`-]*(?:sample |example )?inputs?\b(?:[ \t*`#]*\d+)?[*]*:?[*]*[ \t]*(.*)$",
    re.I | re.M,
)
_OUTPUT = re.compile(
    r"^[ \t>*#`-]*(?:(?:sample|example|expected) )?outputs?\b(?:[ \t*`#]*\d+)?[*]*:?[*]*"
    r"[ \t]*(.*)$",
    re.I | re.M,
)
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)^[ \t]*\1[ \t]*$", re.S | re.M)
_OPEN, _CLOSE = "([{", ")]}"


class _NoLiteralError(Exception):
    """A piece of text that is no literal."""


def examples_of(problem: AuditProblem) -> tuple[Call, ...]:
    """The cases that the prompt shows, in order, each once; empty when none can be read.

    For a program `args` is `(stdin,)` and `expected` the text that it prints.
    """
    prompt = problem.prompt[:_LONGEST]
    if problem.entry_point is None:
        found = _program_blocks(prompt)
    else:
        name = problem.entry_point.rpartition(".")[2]
        shown = [*_calls_in(prompt, name), *_label_pairs(prompt)]
        found = (call for _, call in sorted(shown, key=lambda item: item[0]))
    unique: dict[str, Call] = {}
    for call in found:
        unique.setdefault(repr((call.args, call.kwargs)), call)
    return tuple(unique.values())[:_MAX_EXAMPLES]


def _calls_in(prompt: str, name: str) -> Iterator[tuple[int, Call]]:
    """Calls of the function that a result follows, with their places."""
    places = re.finditer(rf"(?<!\w){re.escape(name)}\s*\(", prompt)
    for match in islice(places, 2 * _MAX_EXAMPLES):
        end = _closing(prompt, match.end() - 1)
        before = prompt[prompt.rfind("\n", 0, match.start()) + 1 : match.start()]
        if end is None or re.search(r"\bdef\s+$", before):
            continue
        try:
            args, kwargs = _arguments(prompt[match.start() : end])
            expected = _result(prompt, end, before)
        except _NoLiteralError:
            continue
        yield match.start(), Call(args, kwargs, expected)


def _arguments(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The literal arguments of a call. Raises _NoLiteralError."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _NoLiteralError from error
    if not isinstance(tree, ast.Call) or any(word.arg is None for word in tree.keywords):
        raise _NoLiteralError
    args = tuple(_literal(ast.unparse(item)) for item in tree.args)
    return args, {str(word.arg): _literal(ast.unparse(word.value)) for word in tree.keywords}


def _result(prompt: str, end: int, before: str) -> Any:
    """The value that follows a call which ends at `end`. Raises _NoLiteralError."""
    line_end = prompt.find("\n", end)
    line_end = len(prompt) if line_end < 0 else line_end
    rest = prompt[end:line_end]
    if re.search(r"\bassert\s+not\s+$", before):
        return False
    if re.search(r"\bassert\s+$", before) and not rest.strip():
        return True
    if ">>>" in before and not rest.strip():
        return _first_literal(prompt[line_end + 1 :].partition("\n\n")[0])
    rest = rest.lstrip("`* )")
    match = _AFTER_CALL.match(rest)
    if match is None:
        raise _NoLiteralError
    shown = match[1].strip() or prompt[line_end + 1 :].split("\n", 1)[0].strip()
    tail = prompt[line_end:]
    return _first_literal(shown + tail if shown[:1] in _OPEN else shown)


def _first_literal(text: str) -> Any:
    """The literal with which a text begins. Raises _NoLiteralError."""
    text = text.strip().strip("`").strip()
    if not text:
        raise _NoLiteralError
    if text[0] in _OPEN:
        end = _closing(text, 0)
        return _literal(text[:end]) if end else _raise()
    if text[0] in "'\"":
        end = text.find(text[0], 1)
        while end > 0 and text[end - 1] == "\\":
            end = text.find(text[0], end + 1)
        return _literal(text[: end + 1]) if end > 0 else _raise()
    word = re.match(r"[-+]?[\w.]+(?:[-+]\d+)?", text)
    return _literal(word[0].rstrip(".")) if word else _raise()


def _raise() -> Any:
    raise _NoLiteralError


_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None}


def _literal(text: str) -> Any:
    """A Python or JSON literal. Raises _NoLiteralError."""
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        pass
    try:
        plain = re.sub(r"\b(?:true|false|null)\b", lambda m: repr(_WORDS[m[0]]), text)
        return ast.literal_eval(plain)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise _NoLiteralError from error


def _closing(text: str, start: int) -> int | None:
    """The place after the bracket that closes the one at `start`; None when nothing does."""
    depth, quote, at = 0, "", start
    while at < min(len(text), start + _LONGEST_CALL):
        letter = text[at]
        if quote:
            at += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def _pairs(prompt: str, read: Callable[[str], str]) -> Iterator[tuple[int, str, str]]:
    """(place, input, output) for each input heading that an output heading follows."""
    marks = [(match.start(), "in", match) for match in _INPUT.finditer(prompt)]
    marks += [(match.start(), "out", match) for match in _OUTPUT.finditer(prompt)]
    marks.sort(key=lambda mark: mark[0])
    for index in range(len(marks) - 1):
        (place, kind, first), (between, after, second) = marks[index], marks[index + 1]
        if (kind, after) != ("in", "out"):
            continue
        end = marks[index + 2][0] if index + 2 < len(marks) else len(prompt)
        yield place, read(prompt[first.start(1) : between]), read(prompt[second.start(1) : end])


def _label_pairs(prompt: str) -> Iterator[tuple[int, Call]]:
    """`Input: nums = [1, 2], target = 3` and `Output: [0, 1]`."""
    for place, given, printed in _pairs(prompt, _without_fence):
        try:
            args = _assignments(given)
            expected = _first_literal(printed)
        except _NoLiteralError:
            continue
        yield place, Call(args, {}, expected)


def _assignments(text: str) -> tuple[Any, ...]:
    """The values of `a = 1, b = [2]`, or of `1, [2]`, of one line or several.

    Raises _NoLiteralError.
    """
    first = text.strip().strip("`").strip().split("\n\n", 1)[0]
    pieces = [re.sub(r"^[^\W\d]\w*\s*=(?!=)", "", piece) for piece in _pieces(first)]
    return tuple(_literal(piece) for piece in pieces)


def _pieces(text: str) -> list[str]:
    """Split at the commas and line ends that stand in no brackets or quotes."""
    pieces, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        depth += 0 if quote else (letter in _OPEN) - (letter in _CLOSE)
        if letter in ",\n" and not quote and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [piece.strip(" \t>;`") for piece in pieces if piece.strip(" \t>;`")]


def _without_fence(text: str) -> str:
    fenced = _FENCE.search(text)
    return fenced[2].strip() if fenced else text.strip()


def _program_blocks(prompt: str) -> Iterator[Call]:
    """Sample inputs and outputs of a program, fenced or plain."""
    for _, given, printed in _pairs(prompt, _block):
        if given and printed:
            yield Call((given,), {}, printed)


def _block(text: str) -> str:
    """The first fenced block, or the first plain paragraph; empty for prose."""
    fenced = _FENCE.search(text)
    if fenced:
        return fenced[2]
    plain = text.strip("\n \t*:").split("\n\n")[0]
    prose = re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", plain)
    return "" if prose else plain + ("\n" if plain else "")
