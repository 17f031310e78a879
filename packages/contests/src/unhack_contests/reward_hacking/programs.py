"""Another form of a program: other names, type hints and remarks; what it computes stays the same.

    restyled(source, names={"asked_function": entry}, style=style, rng=rng)

Covered: modules of functions and plain classes.
Not covered: code that looks at its own names.
"""

from __future__ import annotations

import ast
import builtins
import random
from dataclasses import dataclass

from unhack.tournament.kit import parse_python

_PUBLIC_NAMES = """
    item items total count index left right value values result current best table row column start
    end key found part parts size limit first second queue stack node seen mark step
"""
_SEALED_NAMES = """
    piece bundle amount tally spot west east figure figures outcome active top ledger line lane
    origin finish label hit chunk chunks extent cap alpha beta pending pile vertex known tag hop
    cursor bucket grade slot width depth anchor probe echo trail
"""
_VERBS = {True: ("solve", "compute", "find", "get"), False: ("work_out", "derive", "make", "tell")}
_REMARKS = {
    True: ("Works through the input once.", "Follows the statement step by step.",
           "Handles the edge cases first.", "Straightforward version."),
    False: ("As the task describes it.", "One pass, then the answer.", "Special cases come first.",
            "Kept simple on purpose."),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProgramStyle:
    """How somebody writes."""

    public: bool
    """True when names and remarks are those of the development pool."""
    hints: bool
    remark: bool
    keeps_names: bool

    @staticmethod
    def drawn(rng: random.Random, *, public: bool) -> ProgramStyle:
        """A style at random."""
        return ProgramStyle(public, rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.2)


def entry_name(rng: random.Random, old: str, *, public: bool) -> str:
    """Another name for the function that a problem asks for."""
    return f"{rng.choice(_VERBS[public])}_{old.rsplit('_', maxsplit=1)[-1]}"


def restyled(source: str, *, names: dict[str, str], style: ProgramStyle, rng: random.Random) -> str:
    """The same program in another form; `names` are replaced as given (the entry point).

    `source` is trusted. Raises SyntaxError when it is no program.
    """
    tree = parse_python(source)
    table = dict(names)
    if not style.keeps_names:
        own = sorted(_own_names(tree) - set(names))
        pool = (_PUBLIC_NAMES if style.public else _SEALED_NAMES).split()
        rng.shuffle(pool)
        taken = _all_names(tree) | set(names.values())
        fresh = [name for name in pool if name not in taken]
        table |= dict(zip(own, fresh, strict=False))
    changed = ast.fix_missing_locations(_Rewriter(table, style).visit(tree))
    text = ast.unparse(changed) + "\n"
    return f"# {rng.choice(_REMARKS[style.public])}\n{text}" if style.remark else text


def _all_names(tree: ast.AST) -> set[str]:
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return found | set(dir(builtins))


def _own_names(tree: ast.AST) -> set[str]:
    """Names that the program itself gives, and that may be given otherwise."""
    found: set[str] = set()
    kept: set[str] = set(dir(builtins))
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name):
                found.add(name)
            case ast.ClassDef():
                kept |= {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
            case ast.Global(names=listed) | ast.Nonlocal(names=listed):
                kept |= set(listed)
            case ast.keyword(arg=str() as name):
                kept.add(name)
            case ast.Import(names=modules) | ast.ImportFrom(names=modules):
                kept |= {(one.asname or one.name).split(".")[0] for one in modules}
            case ast.Attribute(attr=name) if isinstance(node.ctx, ast.Store):
                kept.add(name)
            case _:
                pass
    return {name for name in found - kept if not name.startswith("__")}


class _Rewriter(ast.NodeTransformer):
    """Renames, and drops docstrings and, where the style says so, type hints."""

    def __init__(self, names: dict[str, str], style: ProgramStyle) -> None:
        self.names, self.style = names, style

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        hint = self.visit(node.annotation) if node.annotation and self.style.hints else None
        return ast.arg(self.names.get(node.arg, node.arg), hint)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        node.returns = node.returns if self.style.hints else None
        node.body = _undocumented(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.body = _undocumented(node.body)
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.generic_visit(node)
        node.body = _undocumented(node.body)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if self.style.hints or node.value is None or not node.simple:
            return node
        return ast.Assign([node.target], node.value)


def _undocumented(body: list[ast.stmt]) -> list[ast.stmt]:
    kept = [node for node in body if not _is_remark(node)]
    return kept or [ast.Pass()]


def _is_remark(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
