"""Generated packages loaded into this process, apart from `sys.modules`, with a bound on steps.

    loaded = Loaded({"pkg/__init__.py": ..., "tests/test_a.py": ...})
    loaded.module("pkg")

Every load has its own modules, so hundreds of variants of a package run one after another in one
process. Loops and calls count; a load that exceeds its allowance raises `OutOfStepsError`, which no
`except Exception` catches.

Covered: packages that this project's own templates and operators made, none of which touches the
world.
Not covered: code of anybody else, a completion above all: nothing here is sealed.
"""

from __future__ import annotations

import ast
import builtins
import functools
import sys
import types
from collections.abc import Mapping
from typing import Any

STEPS = 30_000
"""Steps of a test; a generated one takes a few hundred."""


class OutOfStepsError(BaseException):
    """A run took more steps than it may: most likely an endless loop."""


class _Counted(ast.NodeTransformer):
    """Puts a call that counts at the head of every function, loop and comprehension."""

    def __init__(self, path: str) -> None:
        self._place: list[str] = []
        self._path = path

    def _tick(self, where: str = "") -> ast.Call:
        name = ast.Name("__step__", ast.Load())
        return ast.Call(name, [ast.Constant(where)], [])

    def _function(self, node: ast.FunctionDef) -> ast.AST:
        self._place.append(node.name)
        self.generic_visit(node)
        at = 1 if ast.get_docstring(node, clean=False) is not None else 0
        place = f"{self._path}:{'.'.join(self._place)}"
        node.body.insert(at, ast.copy_location(ast.Expr(self._tick(place)), node.body[0]))
        self._place.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._place.append(node.name)
        self.generic_visit(node)
        self._place.pop()
        return node

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.copy_location(ast.Expr(self._tick()), node.body[0]))
        return node

    visit_For = visit_While = _loop  # noqa: N815

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.ifs.insert(0, self._tick())
        return node


@functools.lru_cache(maxsize=2048)
def _compiled(path: str, source: str) -> types.CodeType:
    tree = ast.fix_missing_locations(_Counted(path).visit(ast.parse(source, path)))
    return compile(tree, path, "exec", dont_inherit=True)


class Raises:
    """`pytest.raises` for generated tests."""

    def __init__(self, expected: type[BaseException] | tuple[type[BaseException], ...]) -> None:
        self._expected = expected

    def __enter__(self) -> Raises:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        if kind is None:
            raise AssertionError("nothing was raised")
        return issubclass(kind, self._expected)


_PYTEST = types.ModuleType("pytest")
vars(_PYTEST)["raises"] = Raises


class Loaded:
    """One load of a tree of files."""

    def __init__(self, files: Mapping[str, str], *, watched: str = "") -> None:
        self.files = files
        self._roots = {path.partition("/")[0] for path in files if path.endswith("/__init__.py")}
        self._modules: dict[str, types.ModuleType] = {}
        self._builtins = {
            **vars(builtins), "__import__": self._import, "__step__": self._step,
        }  # fmt: skip
        self._watched = watched
        self._steps = 0
        self.depths: list[int] = []
        """Calls of generated code on the stack at each entry into the watched function."""

    def module(self, name: str) -> types.ModuleType:
        """The module of a dotted name. Raises what its code raises, ModuleNotFoundError."""
        if name in self._modules:
            return self._modules[name]
        parent, _, last = name.rpartition(".")
        if parent:
            self.module(parent)
        base = name.replace(".", "/")
        path = f"{base}/__init__.py" if f"{base}/__init__.py" in self.files else f"{base}.py"
        if path not in self.files:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        module = self.run_file(path, name)
        if parent:
            setattr(self._modules[parent], last, module)
        return module

    def run_file(self, path: str, name: str) -> types.ModuleType:
        """A file run as a module of this load."""
        module = self._modules[name] = types.ModuleType(name)
        space = vars(module)
        space["__builtins__"] = self._builtins
        space["__package__"] = name if path.endswith("__init__.py") else name.rpartition(".")[0]
        self.rewind()
        try:
            exec(_compiled(path, self.files[path]), space)
        except BaseException:
            del self._modules[name]
            raise
        return module

    def scope(self) -> dict[str, Any]:
        """A fresh namespace whose imports come from this load."""
        return {"__builtins__": self._builtins, "__name__": "scope", "__package__": ""}

    def rewind(self) -> None:
        """Give the next run its steps."""
        self._steps = 0

    def _step(self, where: str) -> bool:
        self._steps += 1
        if self._steps > STEPS:
            raise OutOfStepsError("the code takes too many steps")
        if where and where == self._watched:
            self.depths.append(_depth(self.files))
        return True

    def _import(
        self,
        name: str,
        space: Mapping[str, Any] | None = None,
        _locals: object = None,
        names: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> Any:
        full = name
        if level:
            base = str((space or {}).get("__package__", "")).split(".")
            full = ".".join([*base[: len(base) - level + 1], *([name] if name else [])])
        if full == "pytest":
            return _PYTEST
        if full.partition(".")[0] not in self._roots:
            return builtins.__import__(name, dict(space or {}), {}, names or (), level)
        module = self.module(full)
        for wanted in names or ():
            if not hasattr(module, wanted) and self._has(f"{full}.{wanted}"):
                self.module(f"{full}.{wanted}")
        return module if names else self.module(full.partition(".")[0])

    def _has(self, name: str) -> bool:
        return f"{name.replace('.', '/')}.py" in self.files


def _depth(files: Mapping[str, str]) -> int:
    """Frames of the tree's files above the caller of `_step`."""
    frame: types.FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename in files
        frame = frame.f_back
    return count - 1
