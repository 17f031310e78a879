"""The Python library that stage 2 sees: bytecode without a source, a comment or a docstring.

Sealed windows have the shapes of library files. Whoever reads such a file beside a window knows
what comes next, so stage 2 gets a library of its own in the place of the host's: the modules that
`library.txt` names and numpy, compiled, and compiled extensions. No window is drawn from a file of
those modules (`is_visible`), so what is left of them tells of no window.

Covered: sources, comments, docstrings and line numbers; modules that are not named, in any form;
sources and pages among the system's libraries.
Not covered: names, constants and error messages of the named modules, and strings of compiled
libraries: they are English and Python in general.
"""

from __future__ import annotations

import ast
import atexit
import importlib.util
import marshal
import os
import shutil
import sys
import sysconfig
import tempfile
import threading
import types
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import cast

import numpy as np

from unhack.sandbox.rootfs import inside, root_spec
from unhack.tournament.kit import Kind, Profile, parse_python

_HEADER = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
"""Of bytecode that is never held against a source."""
_READABLE = (
    ".py", ".pyc", ".pyi", ".pm", ".pl", ".pod", ".rb", ".h", ".hpp", ".c", ".txt", ".md", ".rst",
    ".html", ".json", ".xml", ".tcl", ".js", ".lua", ".pc", ".cmake", ".la", ".zip", ".whl", ".egg",
)  # fmt: skip
_LEFT_OUT = frozenset({"test", "tests", "idlelib", "__pycache__", "f2py", "_pyinstaller"})
_EMPTY = ("site-packages", "dist-packages")
"""Directories that the sandbox covers: they have to be there."""
_NO_COLUMN = 0x80 | 13 << 3
_LOCK = threading.Lock()


@lru_cache(maxsize=1)
def modules() -> frozenset[str]:
    """Top-level names of the standard library that stage 2 may import."""
    lines = resources.files(__package__ or "").joinpath("library.txt").read_text().splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def is_visible(name: str) -> bool:
    """Tell whether stage 2 has, in any form, the library file of that path (`json/decoder.py`), or
    whether the interpreter holds its twin in C (`_pydecimal.py` beside `_decimal`)."""
    top = name.partition("/")[0].removesuffix(".py")
    plain = top.removeprefix("_py").lstrip("_")
    frozen = {entry.lstrip("_") for entry in sys.builtin_module_names}
    return plain in {entry.lstrip("_") for entry in modules()} or plain in frozen


def binds() -> dict[str, Path]:
    """Path inside -> folder on the host, to be mounted over what the sandbox shows otherwise.

    Raises OSError where the library cannot be read or its copy not be written.
    """
    with _LOCK:
        top = _folder()
    return covering(top)


def place() -> str:
    """The path of Python's library."""
    return os.path.realpath(os.path.dirname(os.__file__))


def place_inside() -> str:
    """Its path in a sandbox."""
    return inside(place())


def covering(top: Path) -> dict[str, Path]:
    """The mounts that show a folder of `build` in the place of Python's library, and nothing in the
    place of texts elsewhere."""
    found = {place_inside(): top / "library"}
    for path in _texts((place(),)):
        found[path] = top / "empty"
    return found


@lru_cache(maxsize=1)
def _folder() -> Path:
    return build(modules())


def build(names: Iterable[str]) -> Path:
    """`library`, with these modules of Python's and numpy, and `empty`, in a directory that ends
    with this process. Raises OSError."""
    top = Path(tempfile.mkdtemp(prefix="unhack-library-"))
    atexit.register(shutil.rmtree, str(top), ignore_errors=True)
    (top / "empty").mkdir()
    library = top / "library"
    for name in _EMPTY:
        (library / name).mkdir(parents=True)
    source = Path(place())
    built = (path.stem for path in source.glob("_sysconfigdata*.py"))
    for name in sorted({*names, *built}):
        take(source, name, library)
    for folder in {source, Path(sysconfig.get_path("platstdlib"))}:
        if (folder / "lib-dynload").is_dir():
            take(folder, "lib-dynload", library, known=frozenset(names))
    packages = Path(np.__file__).resolve().parent.parent
    take(packages, "numpy", library)
    if (packages / "numpy.libs").is_dir():
        take(packages, "numpy.libs", library)
    open_to_all(top)
    return top


def open_to_all(top: Path) -> None:
    """Let every user read what is there."""
    for path in (top, *top.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def take(
    source: Path, name: str, target: Path, *, known: frozenset[str] | None = None,
    shared: bool = True,
) -> None:  # fmt: skip
    """Copy a module or folder, its Python as bytecode, and no other file but shared libraries
    (none where not `shared`).

    `known`: names of the modules that `target` has, where it is a folder of extensions.
    """
    if (source / f"{name}.py").is_file():
        _take_file(source / f"{name}.py", target / f"{name}.py", name)
    for path in sorted((source / name).rglob("*")):
        below = path.relative_to(source)
        wanted = _LEFT_OUT.isdisjoint(below.parts) and not _is_half(path, known)
        if path.is_file() and wanted and (shared or path.suffix == ".py"):
            _take_file(path, target / below, ".".join(below.with_suffix("").parts))


def _is_half(path: Path, known: frozenset[str] | None) -> bool:
    """Tell whether it is the compiled half of a module that is not there (`_asyncio`)."""
    if known is None:
        return False
    name, top = path.name.partition(".")[0].lstrip("_"), path.parent.parent
    return name not in known and ((top / f"{name}.py").exists() or (top / name).is_dir())


def _take_file(path: Path, target: Path, name: str) -> None:
    if path.suffix == ".py":
        try:
            # 2 leaves docstrings and assertions out: numpy's assert what its docstrings say
            code = compile(path.read_bytes(), name, "exec", dont_inherit=True, optimize=2)
        except (SyntaxError, ValueError):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.with_suffix(".pyc").write_bytes(_HEADER + marshal.dumps(without_places(code)))
    elif ".so" in path.suffixes:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def without_places(code: types.CodeType) -> types.CodeType:
    """The same bytecode without the places that its instructions stand at."""
    inner = (
        without_places(item) if isinstance(item, types.CodeType) else item
        for item in code.co_consts
    )
    whole, rest = divmod(len(code.co_code) // 2, 8)
    # Entries of the location table without a column: eight instructions each, no line further on.
    table = bytes([_NO_COLUMN | 7, 0]) * whole
    if rest:
        table += bytes([_NO_COLUMN | rest - 1, 0])
    return code.replace(co_consts=tuple(inner), co_linetable=table, co_firstlineno=1)


def bytecode(tree: ast.Module, name: str) -> bytes:
    """A `.pyc` file of a program that needs no source. Raises SyntaxError, ValueError."""
    return _HEADER + marshal.dumps(compile(tree, name, "exec", dont_inherit=True))


def bare(source: bytes) -> ast.Module:
    """A program without comments, layout and texts that stand for themselves; everything is on its
    first line. Raises SyntaxError, ValueError."""
    tree = parse_python(source)
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            lines = getattr(node, field, None)
            if isinstance(lines, list):
                kept = [line for line in cast("list[ast.stmt]", lines) if not _is_remark(line)]
                needed = field == "body" and not isinstance(node, ast.Module)
                setattr(node, field, kept or ([ast.Pass()] if needed else []))
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            ast.copy_location(node, _FIRST_LINE)
    return tree


_FIRST_LINE = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def _is_remark(line: ast.stmt) -> bool:
    value = line.value if isinstance(line, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str | bytes)


def programs(submission: Path) -> dict[str, ast.Module]:
    """Path -> `bare` program of every module that is Python; other files are not for stage 2."""
    found: dict[str, ast.Module] = {}
    for path in sorted(submission.rglob("*.py")):
        try:
            found[path.relative_to(submission).as_posix()] = bare(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return found


def _texts(covered: tuple[str, ...]) -> Iterator[str]:
    """Topmost directories with sources or pages among the system's libraries that a sandbox
    shows."""
    for source, _ in root_spec(Profile(kind=Kind.SCRATCH)).binds:
        if source in covered or not os.path.isdir(source):
            continue
        for place, folders, names in os.walk(source):
            if place in covered:
                folders.clear()
            elif place != source and any(name.endswith(_READABLE) for name in names):
                folders.clear()
                yield place
