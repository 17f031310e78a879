"""Signs that a submission grew from one that was flagged.

Programs become sequences of tokens without comments and layout; of all runs of ten tokens the
smallest hash of every eight neighbours is kept (winnowing, Schleimer, Wilkerson and Aiken 2003).
What the flagged submission shares with anything clean is no sign. Of what is its own, more than
half, and at least twenty fingerprints, must return; for data files, the same content.

Covered: copied programs with other names of files, other layout, moved functions.
Not covered: programs that were rewritten; the counterfactual measurement answers those.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import tokenize
from collections.abc import Iterable

from unhack.tournament.contest import Files
from unhack.tournament.scan.against import Sign
from unhack.tournament.scan.reading import csource

_RUN = 10
_NEIGHBOURS = 8
_MIN_SHARED = 20
_SHARE = 0.5
_DATA_FILE = 1024
_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


def grown(files: Files, tainted: Iterable[Files], clean: Iterable[Files]) -> list[Sign]:
    """A sign for the flagged submission that most of it comes from."""
    known = [_prints(one) for one in clean]
    innocent = set[int]().union(*(prints for prints in known))
    mine = _prints(files)
    worst: Sign | None = None
    highest = 0.0
    for other in tainted:
        theirs = set(_prints(other)) - innocent
        both = theirs & set(mine)
        share = len(both) / len(theirs) if theirs else 0.0
        if len(both) >= _MIN_SHARED and share > max(_SHARE, highest):
            highest = share
            first = min(both, key=lambda item: mine[item])
            path, line = mine[first]
            why = f"copied from a flagged submission ({share:.0%} of its unique lines)"
            worst = Sign("tainted_seed", path, line, _line(files[path], line), why, "lineage")
        worst = worst or _copied(files, other, clean)
    return [worst] if worst else []


def _copied(files: Files, other: Files, clean: Iterable[Files]) -> Sign | None:
    """The same data file."""
    free = {content for one in clean for content in one.values()}
    theirs = set(other.values()) - free
    for path, content in sorted(files.items()):
        if len(content) >= _DATA_FILE and content in theirs:
            digest = hashlib.sha256(content).hexdigest()[:16]
            return Sign("tainted_seed", path, 0, digest, "is a file of a flagged one", "lineage")
    return None


def _prints(files: Files) -> dict[int, tuple[str, int]]:
    """Fingerprint -> where it stands first."""
    found: dict[int, tuple[str, int]] = {}
    for path, content in sorted(files.items()):
        tokens = _tokens(path, content)
        hashes = [
            _hash(" ".join(text for text, _ in tokens[at : at + _RUN]))
            for at in range(max(0, len(tokens) - _RUN + 1))
        ]
        for at in range(max(0, len(hashes) - _NEIGHBOURS + 1)):
            window = hashes[at : at + _NEIGHBOURS]
            least = min(range(_NEIGHBOURS), key=window.__getitem__)
            found.setdefault(window[least], (path, tokens[at + least][1]))
    return found


def _tokens(path: str, content: bytes) -> list[tuple[str, int]]:
    """Words and signs of a program with their lines; long literals are cut."""
    if path.endswith(".py"):
        read: list[tuple[str, int]] = []
        with contextlib.suppress(tokenize.TokenError, SyntaxError, UnicodeError, ValueError):
            for token in tokenize.tokenize(io.BytesIO(content).readline):
                if token.type not in _LAYOUT:
                    read.append((token.string[:200], token.start[0]))
        return read
    if path.endswith((".c", ".h", ".cu", ".cpp")):
        return [(t.text[:200], t.line) for t in csource.tokens(content.decode("latin-1"))]
    return []


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _line(content: bytes, line: int) -> str:
    lines = content.decode("utf-8", "replace").split("\n")
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
