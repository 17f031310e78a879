"""Rewrites of correct completions that keep their meaning.

Covered: what certainly keeps the meaning (space at the ends; comments, layout, names of local
variables, order of functions of a program), and what a prompt may forbid (other line ends, other
ways to write a number, a tuple for a list), which is told but never held against a verifier.
Not covered: other words for the same; programs with another algorithm.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from unhack.audit.attack import Knowledge
from unhack.audit.attacks.payloads.program_shape import shape_of
from unhack.audit.oracle.answers import decimal_of
from unhack.audit.oracle.programs import program_text
from unhack.audit.proving.checks.group_samples import in_place, replace_answer
from unhack.audit.subject import AuditProblem, tree_of

_UNUSED = "\n\n\ndef _unused_helper(value):\n    return value\n"
_GUARD = '\n\n\nif __name__ == "__main__":\n    pass\n'
_LIST_OR_TUPLE = re.compile(r"\b(list or (a )?tuple|tuple or (a )?list|sequence|iterable)\b", re.I)
_FIXED = re.compile(
    r"\b(integers?|decimals?|fractions?|lowest|simplest|reduced|digits?|format|exactly|places|"
    r"whole numbers?|commas?|units?|only)\b",
    re.IGNORECASE,
)
"""Words of a prompt that fix how its answer is written."""
_FRACTION = re.compile(r"(-?)(?:(\d+)/(\d+)|\\[dt]?frac\{(\d+)\}\{(\d+)\})")
_READERS = {"locals", "vars", "eval", "exec", "globals", "dir"}


@dataclass(frozen=True)
class Variant:
    """Another text for the same."""

    name: str
    text: str
    certain: bool = True
    """True when no prompt can mean to forbid it."""


def variants(problem: AuditProblem, right: str) -> Iterator[Variant]:
    """Variants of a correct completion, none equal to it; always the same."""
    made = _programs(problem, right) if problem.is_code else _texts(problem, right)
    seen = {right}
    for variant in made:
        if variant.text not in seen:
            seen.add(variant.text)
            yield variant


def _texts(problem: AuditProblem, right: str) -> Iterator[Variant]:
    yield Variant("a newline at the end", f"{right}\n")
    yield Variant("spaces at the end", f"{right}  ")
    yield Variant("an empty line before it", f"\n{right}", certain=False)
    if "\n" in right:
        yield Variant("other line ends", right.replace("\n", "\r\n"), certain=False)
    answer = (problem.answer or "").strip()
    if not answer or _FIXED.search(problem.prompt):
        return
    for form in _forms(answer):
        text = replace_answer(right, answer, form)
        if text is not None:
            yield Variant(f"{form} for {answer}", text, certain=False)


def _forms(answer: str) -> Iterator[str]:
    """The same number written otherwise."""
    fraction = _FRACTION.fullmatch(answer)
    if fraction is not None:
        sign, *digits = fraction.groups()
        top, bottom = (digit for digit in digits if digit is not None)
        yield f"{sign}{top}/{bottom}"
        yield f"{sign}\\frac{{{top}}}{{{bottom}}}"
        yield f"{sign}\\dfrac{{{top}}}{{{bottom}}}"
        return
    value = decimal_of(answer)
    if value is None or "%" in answer:
        return
    if "$" not in answer:
        yield f"${answer}$"
    if not re.fullmatch(r"-?\d+(\.\d+)?", answer):
        return
    whole = value == value.to_integral_value()
    yield f"{answer}.0" if "." not in answer else f"{answer}0"
    if abs(value) >= 1000 and whole and "." not in answer:
        yield f"{int(value):,}"
    if value > 0:
        yield f"+{answer}"
    elif value < 0:
        yield f"\N{MINUS SIGN}{answer.lstrip('-')}"
    if not whole and abs(value) < 1 and value == value.quantize(Decimal("0.01")):
        top, bottom = value.as_integer_ratio()
        yield f"{top}/{bottom}"


def _programs(problem: AuditProblem, right: str) -> Iterator[Variant]:
    source = program_text(right)
    yield Variant("a comment before it", in_place(right, f"# a solution\n{source}"))
    tree = tree_of(source)
    if tree is None:
        return
    made = [("another layout", f"{ast.unparse(tree)}\n")]
    made.append(("an unused function", f"{source.rstrip()}{_UNUSED}"))
    made.append(("local variables renamed", _rename_locals(source)))
    made.append(("functions in another order", _reorder(source)))
    if problem.entry_point is not None and "__main__" not in source:
        made.append(("a guard for programs", f"{source.rstrip()}{_GUARD}"))
    for name, text in made:
        yield Variant(name, in_place(right, text))
    if _LIST_OR_TUPLE.search(problem.prompt):
        swapped = shape_of(Knowledge(problem)).with_change(
            "tuple(result) if type(result) is list else list(result) if type(result) is tuple"
            " else result"
        )
        if swapped is not None:
            yield Variant("a tuple for a list", in_place(right, swapped), certain=False)


def _rename_locals(source: str) -> str:
    """The program with every local variable called otherwise, where that is surely the same."""
    tree = ast.parse(source)
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    shared = {*dir(builtins), *_bound(tree)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            _rename_in(node, taken, shared)
    return f"{ast.unparse(tree)}\n"


def _bound(tree: ast.Module) -> Iterator[str]:
    """Names that a module has outside its functions."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
            continue
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        waiting += ast.iter_child_nodes(node)


def _rename_in(function: ast.FunctionDef, taken: set[str], shared: set[str]) -> None:
    nodes = list(ast.walk(function))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    if _READERS & {node.id for node in names} or any(isinstance(n, ast.ClassDef) for n in nodes):
        return
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)} - shared
    for node in nodes:
        if isinstance(node, ast.arg):
            stored.discard(node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            stored -= set(node.names)
        elif isinstance(node, ast.alias):
            stored.discard((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef)):
            stored.discard(node.name or "")
        elif isinstance(node, ast.Match):
            return
    for node in names:
        new = f"{node.id}_again"
        if node.id in stored and new not in taken:
            node.id = new


def _reorder(source: str) -> str:
    """Neighbouring plain functions of the top level, the last first."""
    tree = ast.parse(source)
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(set(names)) < len(names):
        return source
    body: list[ast.stmt] = []
    run: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _is_plain(node):
            run.insert(0, node)
        else:
            body += [*run, node]
            run = []
    return f"{ast.unparse(ast.Module([*body, *run], []))}\n"


def _is_plain(function: ast.FunctionDef) -> bool:
    """Tell whether its definition runs nothing that could depend on its place."""
    spec = function.args
    defaults = [item for item in (*spec.defaults, *spec.kw_defaults) if item is not None]
    return not function.decorator_list and all(isinstance(item, ast.Constant) for item in defaults)
