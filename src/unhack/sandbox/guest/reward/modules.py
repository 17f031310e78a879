"""The loader of a verifier's module, as it was written or as much of it as can be had.

    how, preload, failures = probe(target)        the first way that works
    module = load(target, how)                    that way again
    function = find(module, "Class.method")

Ways, the most faithful first: `import`; `stubs`, with missing packages replaced; `file`, past
the code of its parent packages; `slice`, only what the entry needs, each statement on its own.

Covered: packages that are missing or cannot be imported, relative imports of a file that stands
alone, top levels that train or never end, notebooks and their `!` and `%` lines.
Not covered: names that other modules put into the module.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.machinery
import json
import os
import signal
import sys
import types
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from unhack.sandbox.guest.candidate import serve
from unhack.sandbox.guest.reward import stub_modules

HOME = "/scratch/work"
WAYS = ("import", "stubs", "file", "slice")
"""A message's `how` is a way, a colon, and the names of missing modules that are replaced besides
the heavy ones."""
_MAX_MISSING = 25
_WAY_S = 25.0
"""Seconds that one way may take."""
_ALONE = "beside"
"""The package that a file without one is given, for its relative imports."""
_LEVELS = 4
_SHADOW = "audited_"
"""Before the name of a file that is called like a package which it imports."""
_BINDING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_GROWING = frozenset({"append", "extend", "add", "update", "setdefault", "register"})
_EDITED: dict[str, str] = {}
"""File -> the text that runs in its place."""


def probe(target: dict[str, Any], ways: Sequence[str] = WAYS) -> tuple[str, list[str], list[str]]:
    """(how, what may be preloaded, why other ways failed). Raises ImportError when none works."""
    if not target["entry"]:
        return "import", [], []
    before = set(sys.modules)
    failures: list[str] = []
    renewed: set[str] = set()
    late = False
    for way in ways:
        if late and way != "slice":  # the others run the same top level
            continue
        missing: list[str] = []
        while len(missing) < _MAX_MISSING:
            how = f"{way}:{','.join(missing)}"
            try:
                with _limit_time():
                    find(load(target, how), target["entry"])
            except BaseException as error:
                name = _what_is_missing(error)
                own = target["module"].partition(".")[0]
                if way in ("stubs", "file") and name and name not in (own, *missing):
                    missing.append(name)
                    continue
                late = isinstance(error, TimeoutError)
                if way != "import" and how not in renewed and not late:
                    renewed.add(how)
                    if _forget_pure(before):
                        continue
                names, message = serve.describe(error)
                failures.append(f"{way}: {names[0]}: {message}"[:300])
                break
            return how, _preloadable(before, target, way), failures
    raise ImportError("; ".join(failures)[:1500])


@contextlib.contextmanager
def _limit_time() -> Generator[None]:
    """A top level that trains, or waits, is broken off."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"its top level runs for more than {_WAY_S:g} s")

    old = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, _WAY_S, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def _what_is_missing(error: BaseException | None) -> str:
    """The top-level module whose absence is behind an error; empty for another cause."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name.partition(".")[0]
        error = error.__cause__ or error.__context__
    return ""


def _preloadable(before: set[str], target: dict[str, Any], way: str) -> list[str]:
    """Top-level packages that were imported for real from site-packages."""
    if target["installed"] and way == "import":
        return [target["module"]]
    found: dict[str, None] = {}
    for name in sorted(set(sys.modules) - before):
        top = name.partition(".")[0]
        file = getattr(sys.modules.get(top), "__file__", None) or ""
        if "-packages/" in file and "permissive" not in file:
            found[top] = None
    return list(found)


def load(target: dict[str, Any], how: str) -> types.ModuleType:
    """The module of a target. Raises whatever its code raises.

    With `edited`, a path and a text, that text runs in place of the file's."""
    way, _, names = how.partition(":")
    if target.get("edited"):
        _EDITED.update([target["edited"]])
        sys.meta_path.insert(0, _EditedFinder())
        _forget(target)
    if target["root"] not in sys.path:
        shadows = target["module"].startswith(_SHADOW)
        sys.path.insert(len(sys.path) if shadows else 0, target["root"])
    if HOME not in sys.path:
        sys.path.append(HOME)
    if way == "import" and target["path"].endswith(".py"):
        return importlib.import_module(target["module"])
    stub_modules.allow(names.split(",") if names else ())
    _forget(target)
    if way == "stubs" and target["path"].endswith(".py"):
        return importlib.import_module(target["module"])
    _bare_parents(target)
    source = read_source(target["path"])
    if way == "slice":
        source = slice_of(source, target["entry"])
    module = types.ModuleType(target["module"])
    module.__file__ = target["path"]
    module.__package__ = target["module"].rpartition(".")[0] or _ALONE + f".{_ALONE}" * _LEVELS
    folder, _, file = target["path"].rpartition("/")
    if file == "__init__.py":  # it imports what lies beside it
        module.__package__, module.__path__ = target["module"], [folder]
    sys.modules[target["module"]] = module
    exec(compile(source, target["path"], "exec", dont_inherit=True), module.__dict__)
    return module


def find(module: types.ModuleType, entry: str) -> Any:
    """The object under a dotted name. Raises AttributeError, ImportError for a stub."""
    value: Any = module
    for name in entry.split("."):
        value = getattr(value, name)
    if isinstance(value, stub_modules.Anything):
        raise ImportError(f"{entry} could not be made without what is missing")
    return value


def read_source(path: str) -> str:
    """The Python of a file: of a notebook its code cells, without lines for the shell."""
    if path in _EDITED:
        return _EDITED[path]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return python_of(text, notebook=path.endswith(".ipynb"))


def python_of(text: str, *, notebook: bool) -> str:
    """The Python of a file's text. Lines that only a notebook understands are blank, so that line
    numbers stay."""
    if notebook:
        cells: list[Any] = json.loads(text).get("cells", [])
        sources = [cell["source"] for cell in cells if cell.get("cell_type") == "code"]
        text = "\n".join(
            source if isinstance(source, str) else "".join(source) for source in sources
        )
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        lines = text.split("\n")
        return "\n".join("" if line.lstrip()[:1] in {"!", "%"} else line for line in lines)
    return text


class _EditedLoader(importlib.machinery.SourceFileLoader):
    """A loader of another text of a file, of which nothing is cached."""

    def path_stats(self, path: str) -> Any:
        raise OSError(f"{path} is edited")

    def get_data(self, path: str) -> bytes:
        return _EDITED[path].encode()


class _EditedFinder:
    """A finder of the files that are edited; of no other."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The specification of an edited module."""
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if found is None or found.origin not in _EDITED:
            return None
        found.loader = _EditedLoader(name, found.origin)
        return found


def _forget(target: dict[str, Any]) -> None:
    """Drop what an earlier try left half imported."""
    tops = {target["module"].partition(".")[0], _ALONE}
    for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
        del sys.modules[name]


def _forget_pure(before: set[str]) -> bool:
    """Drop packages without native code that a failed try imported: registries fill only once."""
    late: dict[str, list[str]] = {}
    for name in sorted(set(sys.modules) - before):
        late.setdefault(name.partition(".")[0], []).append(name)
    dropped = False
    for top, names in late.items():
        files = [getattr(sys.modules[name], "__file__", None) or "" for name in (top, *names)
                 if name in sys.modules]  # fmt: skip
        if files and "-packages/" in files[0] and not any(file.endswith(".so") for file in files):
            for name in names:
                del sys.modules[name]
            dropped = True
    return dropped


class _Package(types.ModuleType):
    """A package whose own code runs only when a name of it is asked for, and then piecewise."""

    def __getattr__(self, name: str) -> Any:
        path = os.path.join(self.__path__[0], "__init__.py")
        beside = os.path.join(self.__path__[0], name)
        if name.startswith("__") or os.path.exists(beside) or os.path.exists(f"{beside}.py"):
            raise AttributeError(name)
        if self.__dict__.get("_tried") or not os.path.exists(path):
            raise AttributeError(name)
        self.__dict__["_tried"] = True
        with contextlib.suppress(Exception):
            source = slice_of(read_source(path), "")
            exec(compile(source, path, "exec", dont_inherit=True), self.__dict__)
        return self.__dict__[name] if name in self.__dict__ else self._missing(name)

    def _missing(self, name: str) -> Any:
        raise AttributeError(name)


def _bare_parents(target: dict[str, Any]) -> None:
    """Packages without their own code, so that siblings can be imported past them."""
    parts: list[str] = target["module"].split(".")[:-1]
    folders: list[str] = [
        os.path.join(target["root"], *parts[: count + 1]) for count in range(len(parts))
    ]
    if not parts:
        parts, folders = [_ALONE] * (_LEVELS + 1), [target["root"]] * (_LEVELS + 1)
    for count, folder in enumerate(folders, start=1):
        package = _Package(".".join(parts[:count]))
        package.__path__ = [folder]
        package.__package__ = package.__name__
        sys.modules[package.__name__] = package


# Slices.


def slice_of(source: str, entry: str) -> str:
    """The statements of a module that bind what `entry` needs, all that bind something where it is
    empty. Each stands on its own: one that fails is left out, and what it would have bound by an
    import is a stub."""
    body = list(_statements(ast.parse(source).body))
    wanted = _find_needed(body, entry.partition(".")[0]) if entry else None
    kept: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            kept.insert(0, node)
        elif wanted is None or wanted & _bound(node):
            kept.append(_guard(node, _stubs(node)))
    return ast.unparse(ast.fix_missing_locations(ast.Module(kept, [])))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that bind or fill names, out of `with` blocks too."""
    for node in body:
        if isinstance(node, ast.With):
            yield from _statements(node.body)
        elif isinstance(node, (ast.If, ast.Try)) or _bound(node):
            yield node


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement binds, or whose value it fills."""
    if isinstance(node, _BINDING):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {item.asname or item.name.partition(".")[0] for item in node.names}
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {_root(name) for target in targets for name in _parts(target)}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        filled = isinstance(called, ast.Attribute) and called.attr in _GROWING
        return {_root(called)} if filled else set()
    if isinstance(node, (ast.If, ast.Try)):
        inner = [child for child in ast.walk(node) if isinstance(child, ast.stmt) and child != node]
        return {name for child in inner for name in _bound(child)}
    return set()


def _parts(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [part for item in target.elts for part in _parts(item)]
    return [target]


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _find_needed(body: list[ast.stmt], name: str) -> set[str]:
    """All names of the module that lead to `name`, and those of star imports."""
    found, waiting = {name, "*"}, {name}
    while waiting:
        waiting = {
            other.id if isinstance(other, ast.Name) else str(getattr(other, "value", ""))
            for node in body
            if _bound(node) & waiting
            for other in ast.walk(node)
            if isinstance(other, ast.Name)
            or (isinstance(other, ast.Constant) and isinstance(other.value, str)
                and other.value.isidentifier())
        } - found  # fmt: skip
        found |= waiting
    return found


def _stubs(node: ast.stmt) -> list[ast.stmt]:
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return []
    maker = f"__import__('{stub_modules.__name__}', fromlist=['x']).stub"
    module = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
    lines = [
        f"{item.asname or item.name.partition('.')[0]} = {maker}({module + item.name!r})"
        for item in node.names
        if item.name != "*"
    ]
    return ast.parse("\n".join(lines)).body


def _guard(node: ast.stmt, otherwise: list[ast.stmt]) -> ast.stmt:
    caught = ast.ExceptHandler(
        ast.Name("BaseException", ast.Load()), None, otherwise or [ast.Pass()]
    )
    return ast.Try([node], [caught], [], [])
