"""Calls of a kernel that look like a reach and are none, told by how its source makes them.

Covered: leaving with a failure (`exit(1)` when memory is short), asking the environment for a
setting by a name that stands there, placing its own threads on processors. Every use in the source
has to be such a call: a name that is taken, pasted together, or written in assembler is not.
Not covered: what the calls do; the sandbox keeps an empty environment and all processors' masks.
"""

from __future__ import annotations

from collections.abc import Mapping

from unhack.tournament.scan.reading.csource import CToken, tokens

_LEAVES = frozenset({"exit", "_exit", "_Exit", "quick_exit"})
_ASKS = frozenset({"getenv", "secure_getenv"})
_PLACES = frozenset({"sched_setaffinity", "pthread_setaffinity_np"})
_SECRETS = frozenset(
    {"judge", "verdict", "secret", "sealed", "answer", "answers", "expected", "unhack", "hidden",
     "seed", "grader", "token", "key", "path", "home", "preload"}
)  # fmt: skip
_ASSEMBLER = frozenset({"asm", "__asm__", "__asm"})


def harmless(files: Mapping[str, bytes], names: frozenset[str]) -> frozenset[str]:
    """Those of the library's names that the source uses in an honest way only."""
    read = [token for data in files.values() for token in tokens(data.decode("latin-1"))]
    words = {token.text for token in read if token.kind == "word"}
    if words & _ASSEMBLER or any(_pastes(token, names) for token in read):
        return names & _PLACES
    return frozenset(name for name in names if name in _PLACES or _plain(name, read))


def _pastes(token: CToken, names: frozenset[str]) -> bool:
    """Tell whether a macro could make one of these calls, or another constant of a failure."""
    if token.kind != "directive" or not token.text.lstrip("# \t").startswith("define"):
        return False
    return "##" in token.text or any(name in token.text for name in (*names, "EXIT_FAILURE"))


def _plain(name: str, read: list[CToken]) -> bool:
    places = [at for at, token in enumerate(read) if token.text == name and token.kind == "word"]
    check = _fails if name in _LEAVES else _asks if name in _ASKS else None
    return bool(places and check) and all(check(read[at + 1 : at + 4]) for at in places if check)


def _fails(after: list[CToken]) -> bool:
    """`(1)`, `(EXIT_FAILURE)`: a status that no parent takes for success."""
    if len(after) < 3 or after[0].text != "(" or after[2].text != ")":
        return False
    text = after[1].text
    try:
        return text == "EXIT_FAILURE" or int(text, 0) & 0xFF != 0
    except ValueError:
        return False


def _asks(after: list[CToken]) -> bool:
    """`("OMP_NUM_THREADS")`: a name that stands there and is nobody's secret."""
    if len(after) < 3 or after[0].text != "(" or after[2].text != ")" or after[1].kind != "text":
        return False
    text = after[1].text.strip('"')
    plain = text.replace("_", "").isalnum()
    return plain and not _SECRETS & set(text.lower().split("_"))
