"""A submission made ready to run.

Covered: C compiled, Python as it is; which packages a Python submission needs (its imports decide
whether code may be made at run time).
Not covered: packages other than NumPy and Numba: they are not there.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from unhack.tournament.kit import parse_python
from unhack_contests.kernels.compilation import compiler
from unhack_contests.kernels.problem import KernelProblem
from unhack_contests.submission import RefusedError

_NAMES = ("solution.c", "solution.py")


@dataclass(frozen=True, slots=True)
class Submission:
    """Files for the sealed process, and which of them is loaded."""

    entry: str
    files: Mapping[str, bytes]
    preload: tuple[str, ...] = ()
    programs: bool = False

    @property
    def python(self) -> bool:
        return self.entry.endswith(".py")


def files_of(folder: Path) -> dict[str, bytes]:
    """The regular files of a folder that count: the source and its headers."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.iterdir()):
        wanted = path.name in _NAMES or path.suffix == ".h"
        if wanted and path.is_file() and not path.is_symlink():
            found[path.name] = path.read_bytes()
    return found


def take(folder: Path, problems: list[KernelProblem]) -> Submission:
    """Raises RefusedError."""
    files = files_of(folder)
    sources = [name for name in _NAMES if name in files]
    if len(sources) != 1:
        raise RefusedError(
            "there are a solution.c and a solution.py: hand in one"
            if sources
            else "there is no solution.c and no solution.py"
        )
    names = [problem.name for problem in problems]
    if sources == ["solution.py"]:
        return _python(files["solution.py"])
    library = compiler.build(files, entries=tuple(names))
    missing = [name for name in names if name not in library.exports]
    if missing:
        raise RefusedError(f"it has no function {missing[0]}")
    return Submission("kernel.so", {"kernel.so": library.code})


def _python(source: bytes) -> Submission:
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RefusedError(f"it does not parse: {error}") from None
    imported = {top.partition(".")[0] for top in _imports(tree)}
    compiled = "numba" in imported
    if compiled and importlib.util.find_spec("numba") is None:
        raise RefusedError("numba is not installed here")
    preload = ("numpy", "numba") if compiled else ("numpy",)
    return Submission("solution.py", {"solution.py": source}, preload, programs=compiled)


def _imports(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found
