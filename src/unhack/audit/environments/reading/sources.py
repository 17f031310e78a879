"""Paths on which the values of a test in Python depend.

    scope.of(node)      # frozenset({"/app/out.json"}) for `json.load(open(OUT))`

Covered: constants, names, `Path`, `/`, `os.path.join`, f-strings of constants, calls of functions
of the same file, results of programs (`RUN`), what is added to a list or a dictionary.
Not covered: paths that are made at run time, and the order of what happens in loops.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from unhack.core.lines import BoundedPattern

RUN = "<run>"
"""The source of what a program printed or returned."""
_PATH = BoundedPattern(r"/[\w.@+*-]{1,100}(?:/[\w.@+*-]{1,100}){1,12}/?\Z")
_MAKERS = frozenset({"Path", "PurePath", "PosixPath", "str", "abspath", "realpath", "resolve"})
_STARTS = frozenset({
    "subprocess.run", "subprocess.call", "subprocess.check_output", "subprocess.check_call",
    "subprocess.Popen", "subprocess.getoutput", "os.system", "os.popen", "exec", "runpy.run_path",
    "importlib.import_module", "__import__", "importlib.util.spec_from_file_location",
    "pexpect.spawn",
})  # fmt: skip
_TEXT_METHODS = (".startswith", ".endswith", ".count", ".find", ".replace", ".split", ".index")
"""Their constants are values, not files."""
Literal = str | int | float | complex | bytes | bool | None
NONE: frozenset[str] = frozenset()


def name_of(node: ast.AST) -> str:
    """The dotted name, or that of what is called; empty for other nodes."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    if isinstance(node, ast.Attribute):
        before = name_of(node.value)
        return f"{before}.{node.attr}" if before else node.attr
    return node.id if isinstance(node, ast.Name) else ""


def starts_program(node: ast.AST) -> bool:
    """True for a call that starts a program, or loads one as a module."""
    return isinstance(node, ast.Call) and name_of(node) in _STARTS


@dataclass
class PathScope:
    """The names that are known at one place of a test.

    Example:

        PathScope().of(ast.parse("open('/app/a.txt')").body[0])      # frozenset({"/app/a.txt"})
    """

    sources: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Name -> the paths that its value depends on."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Name -> its text, where that is known."""
    values: dict[str, list[ast.expr]] = field(default_factory=dict[str, list[ast.expr]])
    """Name -> the expressions that it was given."""
    functions: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Function of the file -> the paths that it uses."""
    runners: frozenset[str] = NONE
    """Functions of the file that start the program that they are given."""

    def copy(self) -> PathScope:
        """A scope of its own, for a function's body."""
        return PathScope(
            dict(self.sources), dict(self.texts), dict(self.values), self.functions, self.runners
        )

    def text(self, node: ast.AST) -> str | None:
        """The text of an expression; None where it is not known."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self.texts.get(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
            parts = [self.text(node.left), self.text(node.right)]
            return _joined(parts, "/" if isinstance(node.op, ast.Div) else "")
        if isinstance(node, ast.JoinedStr):
            inner = [
                one.value if isinstance(one, ast.FormattedValue) else one for one in node.values
            ]
            return _joined([self.text(one) for one in inner], "")
        if isinstance(node, ast.Call):
            last = name_of(node).rsplit(".", 1)[-1]
            if last in ("join", "joinpath") and "path" in name_of(node).lower():
                return _joined([self.text(one) for one in node.args], "/")
            if last in _MAKERS and node.args:
                return _joined([self.text(one) for one in node.args], "/")
        return None

    def of(self, node: ast.AST) -> frozenset[str]:
        """The paths that a value depends on."""
        text = self.text(node)
        if text is not None:
            return paths_in(text)
        if isinstance(node, ast.Name):
            return self.sources.get(node.id, NONE)
        found = set[str]()
        if isinstance(node, ast.Call):
            name = name_of(node)
            found |= self.functions.get(name, NONE)
            if starts_program(node) or name in self.runners:
                found.add(RUN)
        compared = isinstance(node, ast.Compare) or name_of(node).endswith(_TEXT_METHODS)
        for child in ast.iter_child_nodes(node):
            if not (compared and isinstance(child, ast.Constant)):
                found |= self.of(child)
        return frozenset(found)

    def literals(self, node: ast.AST, *, deep: int = 3) -> list[Literal] | None:
        """The constants that a value is made of; None where it is made of anything else."""
        if isinstance(node, ast.Constant):
            return [] if node.value is ... else [node.value]
        if isinstance(node, ast.Name) and deep and len(self.values.get(node.id, ())) == 1:
            return self.literals(self.values[node.id][0], deep=deep - 1)
        inner: Iterable[ast.AST]
        if isinstance(node, (ast.List, ast.Set, ast.Tuple)):
            inner = node.elts
        elif isinstance(node, ast.Dict):
            inner = [one for one in (*node.keys, *node.values) if one is not None]
        elif isinstance(node, ast.UnaryOp):
            inner = [node.operand]
        elif isinstance(node, ast.BinOp):
            inner = [node.left, node.right]
        elif isinstance(node, ast.Call) and name_of(node) in (
            "set", "frozenset", "list", "sorted", "tuple", "pytest.approx", "approx", "float",
            "int",
        ):  # fmt: skip
            inner = node.args
        else:
            return None
        found = [self.literals(one, deep=deep) for one in inner]
        return [one for part in found for one in part or ()] if None not in found else None

    def loop(self, target: ast.expr, over: ast.expr) -> None:
        """Let a name stand for each part of a value."""
        constant = self.literals(over) is not None
        self.bind(target, self.of(over))
        if constant and isinstance(target, ast.Name):
            self.values[target.id] = [over]

    def bind(self, target: ast.AST, sources: frozenset[str], *, add: bool = False) -> None:
        """Let the names of a target depend on the paths; `add` keeps what was known of them."""
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                kept = self.sources.get(node.id, NONE) if add else NONE
                self.sources[node.id] = kept | sources
                if not add:
                    self.texts.pop(node.id, None)
                    self.values.pop(node.id, None)


def paths_in(text: str) -> frozenset[str]:
    """The absolute paths of two parts or more in a text: the text itself, or words of it."""
    if len(text) > 1000 or "/" not in text:
        return NONE
    words = text.replace("'", " ").replace('"', " ").replace(";", " ").split()
    return frozenset(one.rstrip("/") for one in words if _PATH.match(one))


def _joined(parts: list[str | None], between: str) -> str | None:
    if None in parts:
        return None
    text = ""
    for part in parts:
        assert part is not None
        glued = between and text and not part.startswith("/")
        text = f"{text.rstrip('/')}/{part}" if glued else part if between else text + part
    return text
