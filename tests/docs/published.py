"""The public classes and functions, read from the source: nothing is imported, so that classes of
stacks that are not installed count too.

Public are the names of the pages in `docs/reference/api` and those in the `__all__` of `FACES`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pages import ROOT
from tests.quality.source_roots import source_roots

FACES = ("unhack", "unhack.audit", "unhack.tournament.kit")
CLOSED = {"BaseModel", "Exception", "Generic", "Protocol", "StrEnum", "object"}
"""Bases from elsewhere whose attributes no example names, but for those of `INHERITED`."""
INHERITED = {"StrEnum": {"name", "value"}, "BaseModel": {"model_dump", "model_validate"}}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Parameters:
    """The parameters of a call, without `self`."""

    positional: tuple[str, ...]
    keywords: frozenset[str]
    """Names that may be given by keyword."""
    required: frozenset[str]
    open: bool = False
    """True where more may be given than is known here."""


ANY = Parameters((), frozenset(), frozenset(), open=True)


@dataclass(frozen=True)
class PublicClass:
    """One class, as its source has it."""

    module: str
    node: ast.ClassDef

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def bases(self) -> tuple[str, ...]:
        return tuple(last_name(base) for base in self.node.bases)

    @property
    def parents(self) -> tuple[PublicClass, ...]:
        found = (resolve(f"{self.module}.{name}") for name in self.bases if name)
        return tuple(one for one in found if isinstance(one, PublicClass))

    @property
    def is_open(self) -> bool:
        """True where a base from elsewhere may add members."""
        ours = {one.name for one in self.parents}
        return bool(set(self.bases) - ours - CLOSED) or any(one.is_open for one in self.parents)

    def members(self) -> dict[str, ast.expr | Function | None]:
        """Every attribute by name: its method, its annotation, or None."""
        found: dict[str, ast.expr | Function | None] = {}
        for parent in self.parents:
            found |= parent.members()
        for base in self.bases:
            found |= dict.fromkeys(INHERITED.get(base, ()))
        for one in self.node.body:
            if isinstance(one, Function):
                found[one.name] = one
                if one.name == "__init__":
                    found = dict.fromkeys(own_attributes(one)) | found
            elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                found[one.target.id] = one.annotation
            elif isinstance(one, ast.Assign):
                found |= dict.fromkeys(t.id for t in one.targets if isinstance(t, ast.Name))
        return found

    def parameters(self) -> Parameters:
        """Those of a call of the class."""
        for one in self.node.body:
            if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                return parameters_of(one, bound=True)
        decorators = " ".join(map(ast.unparse, self.node.decorator_list))
        if "dataclass" in decorators:
            names = tuple(self._fields())
            required = frozenset(name for name, given in self._fields().items() if not given)
            return Parameters(names, frozenset(names), required)
        if "BaseModel" in self.bases or any("BaseModel" in one.bases for one in self.parents):
            return Parameters((), frozenset(self._fields()), frozenset())
        return self.parents[0].parameters() if self.parents else ANY

    def _fields(self) -> dict[str, bool]:
        """Name -> True where it has a default."""
        return {
            one.target.id: one.value is not None
            for one in self.node.body
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            if "init=False" not in ast.unparse(one)
        }


@cache
def public_names() -> tuple[str, ...]:
    """Every public name, sorted; modules among them."""
    found: set[str] = set()
    for page in sorted((ROOT / "docs" / "reference" / "api").rglob("*.md")):
        lines = page.read_text(encoding="utf-8").splitlines()
        found |= {line[3:].strip() for line in lines if line.startswith(":::")}
    for face in FACES:
        tree = module_tree(face)
        assert tree is not None, face
        [names] = [
            ast.literal_eval(one.value)
            for one in tree.body
            if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "__all__"
        ]
        found |= {f"{face}.{name}" for name in names}
    return tuple(sorted(found))


@cache
def public_classes() -> dict[str, PublicClass]:
    """The public classes, by the path of their definition."""
    found = [one for one in map(resolve, public_names()) if isinstance(one, PublicClass)]
    return {f"{one.module}.{one.name}": one for one in found}


@cache
def public_functions() -> dict[str, tuple[Function, ...]]:
    """The public functions by their last name; several modules have a `load`."""
    found: dict[str, list[Function]] = {}
    for one in map(resolve, public_names()):
        if isinstance(one, Function) and one not in found.setdefault(one.name, []):
            found[one.name].append(one)
    return {name: tuple(several) for name, several in found.items()}


@cache
def resolve(path: str) -> PublicClass | Function | None:
    """The class or function behind a dotted name, through imports; None for anything else."""
    module, _, name = path.rpartition(".")
    tree = module_tree(module)
    for one in statements(tree) if tree is not None else ():
        if isinstance(one, ast.ClassDef) and one.name == name:
            return PublicClass(module, one)
        if isinstance(one, Function) and one.name == name:
            return one
        if isinstance(one, ast.ImportFrom) and one.module:
            for alias in one.names:
                if (alias.asname or alias.name) == name:
                    return resolve(f"{one.module}.{alias.name}")
    return None


@cache
def module_tree(module: str) -> ast.Module | None:
    """The syntax tree of a module of ours."""
    for root in source_roots():
        for path in (place(root, module).with_suffix(".py"), place(root, module) / "__init__.py"):
            if path.is_file():
                return ast.parse(path.read_text(encoding="utf-8"))
    return None


def place(root: Path, module: str) -> Path:
    """Where a module would lie below the folder of a package, or of packages."""
    names = module.split(".")
    return root.parent.joinpath(*names) if root.name == names[0] else root.joinpath(*names)


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module, those below `if TYPE_CHECKING` too."""
    for one in tree.body:
        yield one
        if isinstance(one, ast.If):
            yield from one.body


def parameters_of(function: Function, *, bound: bool) -> Parameters:
    """The parameters of a function, or of a bound method."""
    given = function.args
    positional = [one.arg for one in (*given.posonlyargs, *given.args)]
    required = positional[: len(positional) - len(given.defaults)]
    if bound and "staticmethod" not in map(ast.unparse, function.decorator_list):
        positional, required = positional[1:], required[1:]
    only = [one.arg for one in given.kwonlyargs]
    without = [name for name, value in zip(only, given.kw_defaults, strict=True) if value is None]
    return Parameters(
        tuple(positional),
        frozenset((*positional, *only)),
        frozenset((*required, *without)),
        open=given.kwarg is not None or given.vararg is not None,
    )


def own_attributes(function: Function) -> Iterator[str]:
    """The names of `self.NAME = …` and `self.NAME: …` in a constructor."""
    for one in ast.walk(function):
        targets = one.targets if isinstance(one, ast.Assign) else ()
        if isinstance(one, ast.AnnAssign):
            targets = (one.target,)
        for target in targets:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                yield target.attr


def last_name(node: ast.expr) -> str:
    """`Base` of `Base`, `module.Base` and `Base[T]`."""
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)
