"""The files of a workspace that belong to a submission, among those that it may hand in.

Those that a contest declares by name do; of those that a pattern admits, the ones that a file which
belongs to it names: an import, a text, a listing of the folder. Copies, logs, tries and notes that
an agent leaves beside its work do not, and count neither for it nor against it.

Covered: Python by its imports and texts, anything else by its words; packages; names of a part and
a suffix. What is named too much (a listing of the folder) is taken.
Not covered: names that a program puts together without the suffix; `unhack-check` judges what would
be handed in, so such a program fails there first.
"""

from __future__ import annotations

import ast
import string
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from unhack.core.parsing import parse_python
from unhack.tournament.contest import Declared

_LISTING = {
    b"glob",
    b"rglob",
    b"iglob",
    b"listdir",
    b"iterdir",
    b"scandir",
    b"walk",
    b"iter_modules",
}
"""Words of a program that lists a folder: it may use whatever lies there."""
_WORDS = bytes(
    byte if byte > 127 or chr(byte).isalnum() or byte == 95 else 32 for byte in range(256)
)
"""For `bytes.translate`: all but letters, digits and `_` becomes a space."""
_UNNAMED = "no file that is handed in names it"
_ODD = "its name has more than letters of English, digits and . _ - +"
_NAME_CHARS = frozenset(string.ascii_letters + string.digits + "._-+ ")
_LONGEST_PATH = 160
_LONGEST_PROGRAM = 1 << 20
"""Bytes of a program that is parsed; of a longer one every word counts."""


def select(
    found: Iterable[str], declared: Declared, take: Callable[..., bytes | None]
) -> dict[str, str]:
    """Take what belongs to a submission by `take(path, by_name=…)`, which gives the content or
    None; return the rest of `found`, the paths that a pattern admits, each with the reason.

    Where nothing is declared by name, everything belongs to it.
    """
    roots = [
        path for path in (*declared.required, *declared.optional) if not set(path) & set("*?[")
    ]
    roots = [*dict.fromkeys(roots)]
    known = set(roots)
    waiting = {
        path: _UNNAMED if is_plain_name(path) else _ODD for path in found if path not in known
    }
    by_word: dict[bytes, list[str]] = {}
    for path, reason in waiting.items():
        if reason is _UNNAMED:
            by_word.setdefault(_stem(path)[0], []).append(path)
    texts = [take(path, by_name=True) for path in roots]
    if not roots:
        for path in waiting:
            take(path, by_name=False)
        return {}
    kinds = {PurePosixPath(path).suffix for path in declared.optional} - {"", ".py"}
    while texts:
        text = texts.pop() or b""
        words = set(_naming(text).translate(_WORDS).split())
        used = [
            path
            for word in words
            for path in by_word.get(word, ())
            if words.issuperset(_stem(path))
        ]
        listed = tuple(kind for kind in kinds if _puts_together(text, kind.encode()))
        if listed or words & _LISTING:
            rest = [path for path, reason in waiting.items() if reason is _UNNAMED]
            used += [path for path in rest if words & _LISTING or path.endswith(listed)]
        for path in used:
            if waiting.pop(path, None) is not None:
                texts.append(take(path, by_name=False))
    return waiting


def _naming(text: bytes) -> bytes:
    """The parts of a program in Python that can name a file: imports, texts and what is called; of
    anything else all of it."""
    if len(text) > _LONGEST_PROGRAM:
        return text
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    found: list[str] = []
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found += [getattr(node, "module", None) or "", *(item.name for item in names)]
            case ast.Constant(value=str(value)) if id(node) not in said:
                parts = value.split()
                found += (
                    parts if len(parts) == 1 else [part for part in parts if set(part) & {*"./"}]
                )
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                found += [name] if name.encode() in _LISTING else []
            case _:
                pass
    return "\n".join(found).encode(errors="replace")


def _stem(path: str) -> list[bytes]:
    """The words by which a program names a file: a package goes by its folder, a number, which
    stands in every program, by its whole path."""
    place = PurePosixPath(path)
    stem = place.parent.name if place.stem == "__init__" else place.stem
    stem = path if stem.isdigit() else stem
    return stem.encode().translate(_WORDS).split() or [place.name.encode()]


def _puts_together(text: bytes, suffix: bytes) -> bool:
    """True where it may put a name together: `*.json`, `{name}.json`, `+ ".json"`."""
    return any(mark + suffix in text for mark in (b"*", b"}", b'"', b"'"))


def is_plain_name(path: str) -> bool:
    """True for a relative path that every system and every report can show."""
    parts = path.split("/")
    whole = len(path) <= _LONGEST_PATH and all(parts) and not {".", ".."} & set(parts)
    return whole and all(set(part) <= _NAME_CHARS and part[0] not in "- " for part in parts)
