"""Text that others wrote, made safe to look at, and numbers as readers want them.

Covered: control, bidirectional and other invisible characters become escapes, HTML is escaped for
element content and quoted attributes, long texts lose their middle. Not covered: letters that look
like other letters.
"""

from __future__ import annotations

from html import escape

MAX_LETTERS = 20_000
"""Letters of one text on a page; the middle of a longer one is left out."""
_KEPT = "\n\t"


def visible(text: str, *, most: int | None = None) -> str:
    """Text without control or bidirectional characters: they become escapes such as `\\u202e`.

    Line ends and tabs stay. With `most`, at most about that many characters, from both ends.
    """
    if most is not None and len(text) > most:
        left_out = len(text) - most
        head, tail = text[: most * 2 // 3], text[len(text) - most // 3 :]
        text = f"{head} … {left_out} more characters … {tail}"
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char in _KEPT else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def one_line(text: str, *, most: int) -> str:
    """Text on one line: line ends become visible signs."""
    return visible(text, most=most).replace("\n", "⏎").replace("\t", "⇥")


def safe(text: str, *, most: int = MAX_LETTERS) -> str:
    """Visible text as HTML, for the content of an element or a quoted attribute."""
    return escape(visible(text, most=most))


def number(value: float) -> str:
    """Four significant digits without a useless zero, and no exponent up to a million."""
    size = abs(value)
    if value and (size >= 1e6 or size < 1e-3):
        return f"{value:.3g}"
    return f"{value:.0f}" if size >= 1e4 else f"{value:.4g}"
