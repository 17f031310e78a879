"""Planted files whose content, or whose name as a path to open, stands in a submission.

Covered: shared spans of 26 bytes that no public data explain, layout and public words aside; rare
words (16 characters or more) and numbers (six digits or more) of the planted files, and opening
them by name.
Not covered: a name in a comment, a list or a message: whoever saw the file may say so.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from unhack.tournament.contest import Files
from unhack.tournament.scan.against import Sign, shown
from unhack.tournament.scan.reading.source import PythonSource
from unhack.tournament.scan.reading.texts import ScannedText, place
from unhack.tournament.scan.signs.reach import OPENERS
from unhack.tournament.scan.signs.spans import shared

_KIND = "honeypot"
_SHORTEST = 26
_LONG_WORD = 16
_DIGITS = 6
_TELLING = 8
"""Characters of words that no public data hold, in a span that tells."""
_SENTENCE = 40
"""Characters of public words in an order that no public data have."""
_LAYOUT = b" \t\n\r\"'`,;:()[]{}<>=|"
_LOADERS = OPENERS | {
    "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "json.load", "torch.load", "shutil.copy",
    "shutil.copyfile", "os.path.exists", "os.path.isfile", "os.path.getsize", "os.path.join",
}  # fmt: skip
_TO_SPACE = bytes.maketrans(
    bytes(c for c in range(256) if not (chr(c).isascii() and (chr(c).isalnum() or c in b"._-"))),
    b" " * sum(not (chr(c).isascii() and (chr(c).isalnum() or c in b"._-")) for c in range(256)),
)


def used(
    pieces: Sequence[ScannedText],
    sources: Mapping[str, PythonSource],
    honeypots: Files,
    *,
    public: bytes,
) -> list[Sign]:
    """Signs that a planted file was read."""
    found: list[Sign] = []
    usual = _Usual(public) if honeypots else None
    for name, content in honeypots.items():
        hits = shared(pieces, content, public, shortest=_SHORTEST)
        for hit in [hit for hit in hits if usual is None or usual.surprised(hit.content)][:1]:
            line = place(hit.text, hit.at)
            text = shown(hit.content[:80].decode("latin-1"))
            found.append(_seen(hit.text.path, line, text, f"contains text found only in {name}"))
        words = _rare(content, public)
        for piece in pieces:
            both = words & _words(piece.data)
            if both:
                word = min(both)
                line = place(piece, piece.data.find(word))
                found.append(_seen(piece.path, line, word.decode("latin-1"), f"repeats {name}"))
        for source in sources.values():
            found += _opened(source, name)
    return found


class _Usual:
    """Public words, and public data without their layout."""

    def __init__(self, public: bytes) -> None:
        self._words = set(public.translate(_TO_SPACE).split())
        self._bare = public.translate(None, _LAYOUT)

    def surprised(self, span: bytes) -> bool:
        """Tell whether a span holds more than layout, and words that everybody was given.

        Words count whole; those at its ends may be cut off, and then they count as known when some
        public word ends or begins so.
        """
        words = span.translate(_TO_SPACE).split()
        foreign = sum(c >= 0x80 or (c < 0x20 and c not in b"\t\n\r") for c in span)
        own = [word for word in words[1:-1] if word not in self._words]
        own += [word for word in {*words[:1], *words[-1:]} if word not in self._bare]
        if sum(map(len, own)) + foreign >= _TELLING:
            return True
        bare = span.translate(None, _LAYOUT)
        return len(bare) >= _SENTENCE and bare not in self._bare


def _seen(path: str, line: int, fragment: str, why: str) -> Sign:
    return Sign(_KIND, path, line, fragment, why, "honeypot")


def _opened(source: PythonSource, planted: str) -> list[Sign]:
    """Calls that open a file of that name."""
    base = planted.rpartition("/")[2]
    found: list[Sign] = []
    for node, name in source.calls():
        if name not in _LOADERS:
            continue
        for argument in node.args:
            for text in source.possible(argument):
                if text == planted or text.rpartition("/")[2] == base:
                    seen = source.seen(_KIND, node, f"opens {planted}")
                    found.append(_seen(seen.path, seen.line, seen.fragment, seen.why))
    for node in source.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            text = source.constants.text(node.right) or ""
            if text == planted or text.rpartition("/")[2] == base:
                seen = source.seen(_KIND, node, f"makes a path to {planted}")
                found.append(_seen(seen.path, seen.line, seen.fragment, seen.why))
    return found


def _rare(content: bytes, public: bytes) -> set[bytes]:
    """Words of a planted file that chance or common usage do not write."""
    return {word for word in _words(content) if word not in public}


def _words(content: bytes) -> set[bytes]:
    """Long words that mix letters and digits, and numbers with many digits."""
    found: set[bytes] = set()
    for word in content[: 4 << 20].translate(_TO_SPACE).split():
        plain = word.strip(b"._-")
        digits = sum(48 <= c <= 57 for c in plain)
        mixed = len(plain) >= _LONG_WORD and 4 <= digits < len(plain)
        number = digits >= _DIGITS and digits >= len(plain) - 2 and b"." in plain
        if mixed or (number and len(set(plain.replace(b".", b"").strip(b"0"))) >= _DIGITS - 2):
            found.add(plain)
    return found
