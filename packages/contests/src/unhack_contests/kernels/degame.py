"""A submission in C with threads that run at once, and without constructors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.kit import Files
from unhack_contests.kernels.compilation.submission import files_of

_STRIPPED = {
    "threads run at once": (
        "#include <pthread.h>\n#define pthread_create(t, a, f, x) ((void)(t), (f)(x), 0)\n"
        "#define pthread_detach(t) ((void)(t), 0)\n#define pthread_join(t, r) 0\n"
    ),
    "without constructors": "#define constructor unused\n#define __constructor__ unused\n",
}


def variants(folder: Path) -> Mapping[str, Files]:
    """By what was done; none for a submission in Python."""
    files = files_of(folder)
    if "solution.c" not in files:
        return {}
    return {
        name: {**files, "solution.c": text.encode() + files["solution.c"]}
        for name, text in _STRIPPED.items()
    }
