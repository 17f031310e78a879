"""One Python file of a submission, parsed, with the names and values that its expressions have.

Covered: import aliases, `from` imports, names bound once to a function, `getattr` with a constant,
`__import__`, `import_module`, `sys.modules[...]`, `vars(...)[...]`: all become one dotted name.
Not covered: names that a loop or a call decides.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import cast

from unhack.core.parsing import parse_python
from unhack.tournament.scan.against import Sign
from unhack.tournament.scan.reading.folding import Constants

_MAX_BYTES = 2 << 20
_IMPORTERS = {
    "__import__",
    "importlib.import_module",
    "importlib.__import__",
    "builtins.__import__",
}
_BUILTINS = {"print", "open", "getattr", "setattr", "vars", "exec", "eval", "compile", "exit",
             "quit", "dir", "__import__", "delattr", "bytes", "str", "int", "float", "id",
             "bytearray", "round", "abs", "chr", "ord", "len", "list", "tuple", "reversed", "sum",
             "max", "min", "range", "input", "globals"}  # fmt: skip


class PythonSource:
    """A parsed file."""

    def __init__(self, path: str, data: bytes, *, line: int = 0) -> None:
        """`line`: where the code stands in `path`, for code that was a text in there.

        Raises SyntaxError when it is no Python, or too long to be read as such.
        """
        if len(data) > _MAX_BYTES:
            raise SyntaxError(f"{path} has more than {_MAX_BYTES} bytes")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.tree = parse_python(data)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error)) from None
        self.path, self._line = path, line
        self.within = bool(line)
        """True for code that was a text in another file."""
        self._lines = data.decode("utf-8", "replace").split("\n")
        self.nodes: list[ast.AST] = list(ast.walk(self.tree))
        self.parents: dict[ast.AST, ast.AST] = {
            child: node for node in self.nodes for child in ast.iter_child_nodes(node)
        }
        self._aliases = dict(_aliases(self.nodes))
        self._bound: dict[str, ast.AST | None] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                self._bound[name] = None if name in self._bound else node.value
        self.local = {
            node.name
            for node in self.nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        self.constants = Constants(self.tree, dotted=self.dotted)

    def dotted(self, node: ast.AST, depth: int = 12) -> str:
        """The absolute name that an expression stands for (`os.path.join`), or an empty text."""
        if depth == 0:
            return ""
        match node:
            case ast.Name(id=name):
                if name in self._aliases:
                    return self._aliases[name]
                bound = self._bound.get(name)
                if isinstance(bound, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
                    return self.dotted(bound, depth - 1)
                return name if name in _BUILTINS and name not in self.local else ""
            case ast.Attribute(value=ast.Name(id="bytes"), attr=attr):
                return f"bytes.{attr}"
            case ast.Attribute(value=owner, attr=attr):
                return self._member(owner, attr, depth)
            case ast.Call(func=function, args=[owner, name, *_]):
                if self.dotted(function, depth - 1) in ("getattr", "builtins.getattr"):
                    return self._member(owner, self.constants.text(name) or "", depth)
                return self._imported(function, owner, depth)
            case ast.Call(func=function, args=[name]):
                return self._imported(function, name, depth)
            case ast.Subscript(value=owner, slice=key):
                return self._looked_up(owner, key, depth)
            case _:
                return ""

    def member(self, node: ast.AST) -> str:
        """The attribute that an expression takes, by dot or by `getattr`; or an empty text."""
        match node:
            case ast.Attribute(attr=attr):
                return attr
            case ast.Call(func=function, args=[_, name, *_]) if self.dotted(function) == "getattr":
                return self.constants.text(name) or ""
            case _:
                return ""

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """Every call with the absolute name of what is called."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield node, self.dotted(node.func)

    def possible(self, node: ast.AST) -> list[str]:
        """Texts that an argument may be worth: one constant, or those that a loop goes through."""
        text = self.constants.text(node)
        if text is not None or not isinstance(node, ast.Name):
            return [text] if text is not None else []
        found: list[str] = []
        for other in self.nodes:
            match other:
                case (
                    ast.For(target=ast.Name(id=node.id), iter=given)
                    | ast.comprehension(target=ast.Name(id=node.id), iter=given)
                ):
                    parts = given.elts if isinstance(given, ast.Tuple | ast.List) else []
                    texts = [self.constants.text(part) for part in parts]
                    values = self.constants.value(given) if not parts else texts
                    items = cast(list[object], values if isinstance(values, list) else [])
                    found += [item for item in items if isinstance(item, str)]
                case _:
                    pass
        return found

    def seen(self, kind: str, node: ast.AST, why: str) -> Sign:
        """A sign at a node."""
        line = getattr(node, "lineno", 1)
        text = self._lines[line - 1].strip() if line <= len(self._lines) else ""
        return Sign(kind, self.path, self._line or line, text, why)

    def _member(self, owner: ast.AST, attr: str, depth: int) -> str:
        name = self.dotted(owner, depth - 1)
        return f"{name}.{attr}" if name and attr else ""

    def _imported(self, function: ast.AST, name: ast.AST, depth: int) -> str:
        if self.dotted(function, depth - 1) in _IMPORTERS:
            return self.constants.text(name) or ""
        if isinstance(function, ast.Name) and function.id == "vars":
            return self.dotted(name, depth - 1)
        return ""

    def _looked_up(self, owner: ast.AST, key: ast.AST, depth: int) -> str:
        name = self.dotted(owner, depth - 1)
        if name == "sys.modules":
            return self.constants.text(key) or ""
        if name.endswith(".__dict__"):
            return f"{name.removesuffix('.__dict__')}.{self.constants.text(key) or ''}"
        called = isinstance(owner, ast.Call) and self.dotted(owner.func, depth - 1) == "vars"
        return f"{name}.{self.constants.text(key) or ''}" if called and name else ""


def _aliases(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        match node:
            case ast.Import(names=names):
                for item in names:
                    yield (item.asname, item.name) if item.asname else (
                        item.name.split(".")[0], item.name.split(".")[0]
                    )  # fmt: skip
            case ast.ImportFrom(module=str() as module, names=names):
                for item in names:
                    yield item.asname or item.name, f"{module}.{item.name}"
            case _:
                pass
