"""The location of a Python target, found without importing anything.

    pkg.mod:name    pkg.mod:Class.method    path/to/file.py:name    path/to/file.py

Covered: installed packages, editable ones, the current directory; names that a package takes over
from its modules; methods of base classes; the likely reward function of a file.
Not covered: names that exist only once the module has run.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, cast

from unhack.audit.subjects.parameter_names import Function, without_bound
from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.guest.reward.modules import python_of
from unhack.sandbox.rootfs import inside, interpreter
from unhack.tasks.reading import fault, read_text

_MAX_HOPS = 6
METHODS = (
    "score_answer", "check_following", "check_answer", "step", "compute_score", "compute",
    "reward", "score", "verify", "evaluate", "grade", "__call__", "forward",
)  # fmt: skip
"""Methods that give scores, the most telling first."""
_NAMES = (
    "compute_score", "reward_func", "reward_fn", "reward_function", "compute_reward",
    "score_answer", "reward", "verify", "score", "grade", "evaluate", "check",
)  # fmt: skip
INSIDE = "/target"
"""The place of a target's folder in the sandbox."""
_MAX_ENTRIES = 100
_SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "site-packages"})
_PACKAGES = frozenset({"site-packages", "dist-packages"})
_PARTS = ("reward", "score", "verif", "grade", "correct", "check", "eval")


@dataclass(frozen=True)
class Module:
    """A source file and how it is imported."""

    path: Path
    name: str
    """Dotted name below `root`."""
    root: Path
    """The directory that stands on `sys.path`."""

    @cached_property
    def text(self) -> str:
        """The source. Raises TaskError."""
        return read_text(self.path)

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed source. Raises TaskError with the line of a syntax error."""
        try:
            return ast.parse(python_of(self.text, notebook=self.path.suffix == ".ipynb"))
        except SyntaxError as error:
            raise fault(self.path, f"not Python: {error.msg}", line=error.lineno) from None

    @property
    def installed(self) -> bool:
        """True when it stands in site-packages, which the sandbox shows anyway."""
        return self.root.name in _PACKAGES

    @property
    def root_inside(self) -> str:
        """The place of `root` in the sandbox."""
        return inside(os.path.realpath(self.root)) if self.installed else INSIDE


@dataclass(frozen=True)
class Target:
    """The function, method or script that gives the score."""

    module: Module
    entry: str
    """`name`, `Class.method` or `Class`; empty for a script that runs as a program."""
    function: Function | None
    """Its definition; for a class the method that is called; None where only a run can tell."""
    defined_in: Module
    """The module of `function`: that of a base class for an inherited method."""
    owner: ast.ClassDef | None = None

    @property
    def inner(self) -> Function | None:
        """The function that a factory makes and returns."""
        if self.function is None:
            return None
        inner = {node.name: node for node in self.function.body if isinstance(node, Function)}
        for node in self.function.body:
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Name):
                return inner.get(node.value.id)
        return None


def find_target(text: str) -> Target:
    """The target that `text` names.

    Raises UsageError when there is no such file or module, UnknownNameError for a name in it.
    """
    module, entry = module_of(text)
    return resolve(module, entry or likely_entry(module))


def module_of(text: str) -> tuple[Module, str]:
    """The module that `text` names, and the name in it; empty for none. Raises UsageError."""
    place, _, entry = text.rpartition(":") if ":" in text else (text, "", "")
    if place.endswith((".py", ".ipynb")) or os.sep in place:
        return file_module(Path(place)), entry
    found = find_module(place)
    if found is None:
        raise UsageError(
            f"{text}: there is no module {place!r} here or in the environment; "
            "name a file as path/to/file.py:function"
        )
    return found, entry


def file_module(path: Path) -> Module:
    """The module of a file, with the package that it is in. Raises TaskError."""
    if not path.is_file():
        raise fault(path, "no such file")
    path = path.resolve()
    root = path.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    tops = imported_tops(Module(path, path.stem, root).tree) - sys.stdlib_module_names
    for above in (root, *root.parents):  # packages without an `__init__.py` in between
        checkout = (above / above.name).is_dir()  # it is named as the package in it
        if (above.name in tops and not checkout) or above.parent.name in _PACKAGES:
            root = above.parent
            break
    parts = list(path.relative_to(root).with_suffix("").parts)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    if len(parts) == 1 and parts[0] in tops:
        parts[0] = f"audited_{parts[0]}"  # it must not hide the package that it imports
    return Module(path, ".".join(parts), root)


def imported_tops(tree: ast.AST) -> set[str]:
    """First parts of the names of what is imported, but for relative imports."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {item.name.partition(".")[0] for item in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def find_module(name: str) -> Module | None:
    """The source file of a dotted name, by the import system's path, without importing."""
    parts = name.split(".")
    search: list[str] | None = [os.getcwd(), *filter(None, sys.path)]
    spec: Any = None
    for count, part in enumerate(parts, start=1):
        dotted = ".".join(parts[:count])
        try:
            spec = PathFinder.find_spec(dotted, search)
        except KeyError:  # below a package without __init__.py, which only an import would make
            spec = PathFinder.find_spec(part, search)
        if spec is None and count == 1:
            spec = _editable(part)
        if spec is None:
            return None
        search = list(spec.submodule_search_locations or [])
    if not spec.origin or not spec.origin.endswith(".py"):
        return None
    path = Path(spec.origin).resolve()
    depth = len(parts) + (path.name == "__init__.py")
    return Module(path, name, path.parents[depth - 1])


def _editable(name: str) -> Any:
    for finder in sys.meta_path:
        try:
            spec = cast("Any", finder).find_spec(name, None)
        except Exception:
            continue
        if spec is not None:
            return spec
    return None


def definitions(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module's top level, those under `if`, `try` and `with` too."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(node, (ast.If, ast.Try, ast.With)):
                for inner in getattr(node, field, []):
                    inside = inner.body if isinstance(inner, ast.ExceptHandler) else [inner]
                    yield from definitions(inside)


def resolve(module: Module, entry: str, hops: int = _MAX_HOPS) -> Target:
    """The definition of `entry`, through names that the module only takes over.

    Raises UnknownNameError.
    """
    head, _, method = entry.partition(".")
    names: list[str] = []
    for node in definitions(module.tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
            if node.name == head and isinstance(node, Function) and not method:
                return Target(module, entry, node, module)
            if node.name == head and isinstance(node, ast.ClassDef):
                return _in_class(module, node, method)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(item, ast.Name) and item.id == head for item in targets):
                return _of_value(module, entry, node.value, method=method)
    for other, name in _taken_from(module, head) if hops else ():
        try:
            return resolve(other, f"{name}.{method}" if method else name, hops - 1)
        except UsageError:
            continue
    raise UnknownNameError(f"function in {module.path}", entry, valid=names)


def _of_value(module: Module, entry: str, value: ast.expr | None, *, method: str) -> Target:
    """The target whose function a call of `x` or `x.method` runs, where `x` is `f`,
    `partial(f, ...)` or `Class(...)`."""
    unknown = Target(module, entry, None, module)
    name = value.func if isinstance(value, ast.Call) else value
    is_partial = name is not None and ast.unparse(name).endswith("partial")
    if is_partial and isinstance(value, ast.Call) and value.args:
        whole = _of_value(module, entry, value.args[0], method="")
        left = whole.function and without_bound(whole.function, value)
        return replace(whole, function=left)
    if not isinstance(name, ast.Name):
        return unknown
    try:
        found = resolve(module, name.id, 1)
        if found.owner is not None and isinstance(value, ast.Call):
            found = resolve(module, f"{name.id}.{method or '__call__'}", 1)
            return Target(module, entry, found.function, found.defined_in, found.owner)
    except UsageError:
        return unknown
    function = found.function if isinstance(value, ast.Name) else found.inner
    return Target(module, entry, function, module)


def _in_class(module: Module, owner: ast.ClassDef, method: str) -> Target:
    for name in (method,) if method else METHODS:
        found = _method(module, owner, name, _MAX_HOPS)
        if found is not None:
            return Target(module, f"{owner.name}.{name}", found[1], found[0], owner)
    if method:
        valid = [node.name for node in owner.body if isinstance(node, Function)]
        raise UnknownNameError(f"method of {owner.name}", method, valid=valid)
    return Target(module, owner.name, None, module, owner)


def _method(
    module: Module, owner: ast.ClassDef, name: str, hops: int
) -> tuple[Module, Function] | None:
    """The definition of a method in a class or in its bases, as far as source shows them."""
    for node in owner.body:
        if isinstance(node, Function) and node.name == name:
            return module, node
    for base in owner.bases if hops else ():
        label = ast.unparse(base).partition("[")[0].rpartition(".")[2]
        try:
            found = _class(module, label, hops - 1)
        except UsageError:
            continue
        inherited = found and _method(found[0], found[1], name, hops - 1)
        if inherited:
            return inherited
    return None


def _class(module: Module, name: str, hops: int) -> tuple[Module, ast.ClassDef] | None:
    for node in definitions(module.tree.body):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
    for other, real in _taken_from(module, name) if hops > 0 else ():
        found = _class(other, real, hops - 1)
        if found:
            return found
    return None


def _taken_from(module: Module, name: str) -> Iterator[tuple[Module, str]]:
    """Modules from which a module may have `name`, and what it is called there."""
    package = module.name if module.path.name == "__init__.py" else module.name.rpartition(".")[0]
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = node.module or ""
        if node.level:
            parts = package.split(".")
            kept = parts[: len(parts) - node.level + 1]
            base = ".".join([*kept, base] if base else kept)
        for item in node.names:
            if (item.asname or item.name) == name or item.name == "*":
                found = _module_near(module, base)
                if found is not None:
                    yield found, name if item.name == "*" else item.name


def _module_near(module: Module, name: str) -> Module | None:
    """A module beside the given one, else one of the environment."""
    path = module.root.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if name and file.is_file():
            return Module(file, name, module.root)
    return find_module(name) if name else None


def likely_entry(module: Module) -> str:
    """The reward function of a file that names none. Raises UsageError when it is not clear."""
    found = {
        node.name: node
        for node in definitions(module.tree.body)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
    }
    functions = [name for name, node in found.items() if not isinstance(node, ast.ClassDef)]
    for name in _NAMES:
        if name in functions:
            return name
    if len(found) == 1:
        return next(iter(found))
    called = {
        node.func.id
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    likely = [name for name in found if any(part in name.lower() for part in _PARTS)]
    roots = [name for name in likely if name not in called] or likely
    if len(roots) == 1:
        return roots[0]
    few = ", ".join((roots or list(found))[:8]) or "nothing"
    raise UsageError(f"{module.path}: which function gives the score? It defines {few}; name it "
                     f"as {module.path.name}:function")  # fmt: skip


# What of it is mounted.


def folder_binds(
    module: Module, hidden: Sequence[str], *, named: Iterable[str]
) -> tuple[tuple[str, str], ...]:
    """(host path, path inside) of what of a target's folder is mounted.

    All but dot files and what a pattern of `hidden` matches, in a crowded folder nothing; and
    `named`, which the module names.
    """
    words = set(named)
    entries = [
        path
        for path in sorted(module.root.iterdir())
        if not path.name.startswith(".") and path.name not in _SKIPPED and path.exists()
    ]
    top = module.root / Path(module.path.relative_to(module.root).parts[0])
    crowded = len(entries) > _MAX_ENTRIES
    entries = [
        path
        for path in entries
        if path.name in words or not (crowded or any(path.match(pattern) for pattern in hidden))
    ]
    if top not in entries:
        entries.append(top)
    return tuple((str(path), f"{INSIDE}/{path.name}") for path in entries)


def grader_python() -> tuple[str, tuple[tuple[str, str], ...]]:
    """The path inside of the interpreter that a grader finds as `sys.executable`, with which
    graders start processes, and the (host path, path inside) pairs that make it this virtual
    environment's; none outside of one, and where the Python of the environment has moved."""
    base, prefix = os.path.realpath(sys.base_prefix), os.path.realpath(sys.prefix)
    if base == prefix or inside(base) != base:
        return inside(interpreter()), ()
    parts = [f"{prefix}/{name}" for name in ("pyvenv.cfg", "bin")]
    executable = f"{prefix}/bin/{os.path.basename(sys.executable)}"
    return inside(executable), tuple((part, inside(part)) for part in parts)
