"""Lines of untrusted text: patterns that see a piece of one, tokens of code, sentences.

Backtracking costs what the pattern makes of the longest text that it sees: with pieces of `PIECE`
characters the whole costs a constant for each character of the text, whatever the pattern.

Covered: bounded patterns, which hold no line break; a hit of up to `OVERLAP` characters that stands
across two pieces of a long line.
Not covered: hits that span lines, and longer hits in lines of more than `PIECE` characters.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator

PIECE = 1000
OVERLAP = 100


class BoundedPattern:
    """A compiled pattern whose methods look at no more than `PIECE` characters of a line."""

    __slots__ = ("_pattern",)

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern = re.compile(pattern, flags)

    def match(self, line: str, start: int = 0) -> re.Match[str] | None:
        """The match that begins at `start`."""
        return self._pattern.match(line, start, start + PIECE)

    def search(self, line: str) -> re.Match[str] | None:
        """The first match in the beginning of a line."""
        return self._pattern.search(line, 0, PIECE)

    def findall(self, line: str) -> list[str]:
        """The hits in the beginning of a line; the pattern has no groups."""
        return self._pattern.findall(line, 0, PIECE)

    def finditer(self, text: str, start: int = 0) -> Iterator[re.Match[str]]:
        """The matches in a text from `start` on, piece by piece, as if in one; none of them may be
        longer than `OVERLAP`."""
        while start < len(text):
            end = start + PIECE
            kept = end - OVERLAP if end < len(text) else end
            start = kept
            for match in self._pattern.finditer(text, end - PIECE, end):
                if match.start() >= kept:
                    break
                yield match
                start = max(start, match.end())

    def is_in(self, text: str) -> bool:
        """True when some line of `text` holds a hit."""
        search = self._pattern.search
        return any(search(piece) is not None for piece in pieces(text))


def pieces(text: str) -> Iterator[str]:
    """The lines of a text that are not empty; long ones in parts that overlap."""
    for line in text.split("\n"):
        if len(line) <= PIECE:
            if line:
                yield line
        else:
            for start in range(0, len(line) - OVERLAP, PIECE - OVERLAP):
                yield line[start : start + PIECE]


_END_TOKEN = BoundedPattern(r"(?:<[|｜][^<>|｜]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>)\Z")
"""A token that ends a turn, as it is decoded."""
_END_LENGTH = 44


def without_end(text: str) -> str:
    """The text without the tokens at its end that end a turn; in linear time."""
    end = len(text)
    while True:
        at = end
        while at and text[at - 1].isspace():
            at -= 1
        token = _END_TOKEN.search(text[max(0, at - _END_LENGTH) : at])
        if token is None:
            return text[:end]
        end = at - len(token[0])


KEYWORDS = frozenset(keyword.kwlist)
STATEMENTS = frozenset({
    "def", "class", "import", "from", "async", "if", "for", "while", "with", "try", "return",
    "raise", "assert", "del", "global",
})  # fmt: skip
"""Words that begin a statement."""
_LONG_QUOTES = ("'''", '"""')
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_TOKEN = BoundedPattern(
    r"#.*|[rRbBuUfF]{0,2}(?:'''|\"\"\"|\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?)"
    r"|[^\W\d]\w*|\d[\w.]*|[=!<>]=|\S"
)


def token_lines(code: str) -> Iterator[tuple[str, list[str]]]:
    """The lines with a token, and their tokens: no comments, a long string as one empty string."""
    within = ""
    for line in code.split("\n"):
        tokens, within = _tokens(line, within)
        if tokens:
            yield line, tokens


def _tokens(line: str, within: str) -> tuple[list[str], str]:
    """The tokens, and the quotes of a long string that the line leaves open."""
    if not within and '"""' not in line and "'''" not in line:
        tokens = _TOKEN.findall(line)
        if tokens and tokens[-1][0] == "#":
            tokens.pop()
        return tokens, ""
    tokens = list[str]()
    at = 0
    while at < len(line):
        if within:
            end = line.find(within, at)
            if end < 0:
                return tokens, within
            at, within = end + 3, ""
            continue
        while at < len(line) and line[at].isspace():
            at += 1
        match = _TOKEN.match(line, at)
        if match is None or match[0][0] == "#":
            break
        token, at = match[0], match.end()
        if token[-3:] in _LONG_QUOTES and len(token) <= 5:
            within, token = token[-3:], '""'
        tokens.append(token)
    return tokens, within


def depth_change(tokens: list[str]) -> int:
    return sum((token in _OPENING) - (token in _CLOSING) for token in tokens)


def is_name(token: str) -> bool:
    return (
        (token[0].isalpha() or token[0] == "_")
        and token not in KEYWORDS
        and (token[-1] not in "\"'")
    )


def without_prose(text: str) -> list[str]:
    """The parts of a text that the sentences at its left edge leave, in order; `[text]` where there
    is no sentence."""
    parts: list[list[str]] = [[]]
    depth, within = 0, ""
    for line in text.split("\n"):
        inside = line[:1] in ("", " ", "\t", "\r")
        if not (inside and not depth and not within and '"""' not in line and "'''" not in line):
            tokens, still_within = _tokens(line, within)
            if not (inside or within) and tokens:
                depth = 0 if tokens[0] in STATEMENTS else depth
                if not depth and _is_prose(tokens, line):
                    parts.append([])
                    continue
            within = still_within
            depth = max(0, depth + depth_change(tokens))
        parts[-1].append(line)
    if len(parts) == 1:
        return [text]
    for part in parts[1:]:
        start = next((at for at, line in enumerate(part) if line.strip() and line[0] > " "), None)
        del part[: len(part) if start is None else start]
    return ["\n".join(part) for part in parts if any(part)] or [""]


_NO_CODE = frozenset("`?$!")
_BULLETS = frozenset("-+>|/%&=<,:;!?")
_GO_ON = frozenset({"else", "elif", "except", "finally", "lambda", "await"})
_SOFT = frozenset({*keyword.softkwlist, "print", "exec"})
"""Words that another word may follow at the beginning of a statement, Python 2's among them."""


def _is_prose(tokens: list[str], line: str) -> bool:
    """True for a line at the left edge that no program of Python could have there."""
    if len(line) > PIECE:  # the last token is cut, and so may be a string
        if any(mark in line for mark in _LONG_QUOTES):
            return False
        tokens = _without_cut(tokens)
    first = tokens[0]
    if first in _BULLETS or tokens[:2] == ["*", "*"] or tokens[-1] == ".":
        return True
    if is_name(first) and (len(tokens) == 1 or (tokens[1] == ":" and "=" not in tokens)):
        return first[0].isupper() or tokens[-1] == ":" or len(tokens) == 1
    if tokens[-1] == ":" and first not in STATEMENTS | _GO_ON | _SOFT:
        return True
    before = "("
    for place, token in enumerate(tokens):
        if token in _NO_CODE or not (token.isascii() or len(token) > 1 or token.isidentifier()):
            return True
        if token[0] in "\"'" and (len(token) < 2 or token[-1] != token[0]):
            return not line.endswith("\\")
        both = _is_operand(before) and _is_operand(token)
        if both and not (before[-1] in "\"'" and token[-1] in "\"'"):
            return True
        before = "(" if place == 0 and token in _SOFT else token
    return False


def _without_cut(tokens: list[str]) -> list[str]:
    """The tokens before the last, without marks that could end a sentence; the first stays."""
    end = len(tokens) - 1
    while end > 1 and tokens[end - 1] in {".", ":"}:
        end -= 1
    return tokens[: max(end, 1)]


def _is_operand(token: str) -> bool:
    return (token[0].isalnum() and token not in KEYWORDS) or token[0] in "_\"'"
