"""The skeleton of a hostile program: it takes the place of a function or of a whole program.

Covered: functions by name, methods written `Class.method`, programs on standard input; results of
the reference that are changed on their way out.
Not covered: classes whose methods depend on each other.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.oracle.entry_points import without_brackets
from unhack.audit.subject import AuditProblem, Call
from unhack.core.completion import extract_code

HONEST = "honest_result"
_LITERALS = {
    "bool": "'no'",
    "int": "987654321",
    "float": "987654.25",
    "str": "'?'",
    "list": "[{item}]",
    "tuple": "({item},)",
    "dict": "{'?': 987654321}",
    "set": "{987654321}",
    "NoneType": "'?'",
}

_BARE_OBJECT = """
def __init__(self, *args, **kwargs):
    pass

def __getattr__(self, name):
    if name.startswith("_"):
        raise AttributeError(name)
    return lambda *args, **kwargs: None
"""
"""Further methods of an object: it can be made in any way, and they do nothing."""

SPOIL = """
def spoil(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 7
    if isinstance(value, str):
        return "".join("?" for _ in value) or "?"
    if isinstance(value, (list, tuple)):
        return type(value)(spoil(item) for item in value)
    if isinstance(value, dict):
        return {key: spoil(item) for key, item in value.items()}
    return "?" if value is None else None
"""
"""Another value of the same type and shape as an honest one."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """The statements of one payload, without the function or program around it."""

    note: str
    setup: str = ""
    """Statements at import, before the function is defined."""
    body: str = ""
    """Statements at each call; `args` holds all the arguments."""
    value: str = ""
    """Expression that is returned or printed; empty for something wrong of the usual type."""
    after: str = ""
    """Statements at import, after the function is defined."""
    functions_only: bool = False


def in_function(note: str, *, setup: str = "", body: str = "", value: str = "") -> Snippet:
    """A part for functions alone: a program that only prints has no such place."""
    return Snippet(note, setup, body, value, functions_only=True)


@dataclass(frozen=True, slots=True)
class ProgramShape:
    """The interface of a problem's programs: entry point and types of results."""

    entry: str | None
    """`name`, `Class.method`, or None for a program that reads and prints."""
    reference: str
    """Source of a correct solution; empty when unknown."""
    kinds: frozenset[str]
    """Type names of the known results; empty when unknown."""
    inner: frozenset[str] = frozenset()
    """Type names of what known lists and tuples hold."""
    others: tuple[str, ...] = ()
    """Further functions that are called: they do the same."""

    @property
    def wrong(self) -> str:
        """An expression of the usual type that is hardly ever right."""
        if self.entry is None:
            return "'?'"
        found = next((text for kind, text in _LITERALS.items() if kind in self.kinds), "None")
        item = "'?'" if "str" in self.inner else "987654321"
        return found.replace("{item}", f"[{item}]" if self.inner & {"list", "tuple"} else item)

    def may_be(self, *kinds: str) -> bool:
        """Tell whether a result may be of one of these types."""
        return not self.kinds or bool(self.kinds & set(kinds))

    def source(self, part: Snippet) -> str:
        """The whole program."""
        value = part.value or self.wrong
        needs = "args" in part.body or "args" in value
        if self.entry is None:
            reading = "import sys\nargs = (sys.stdin.read(),)" if needs else ""
            pieces = [part.setup, reading, part.body, f"print({value})", part.after]
            return _join(pieces)
        gathered = "args += tuple(kwargs.values())" if needs else ""
        inner = _join([gathered, part.body, f"return {value}"])
        owner, _, name = self.entry.rpartition(".")
        bare = textwrap.indent(_BARE_OBJECT, "    ") if owner else ""
        same = "\n".join(f"{one} = {name}" for one in self.others if not owner)
        return _join([part.setup, self.definition(inner), bare, same, part.after])

    def payload(self, part: Snippet) -> Payload:
        """The whole program as a payload, with the note of its part."""
        return payload(self.source(part), note=part.note)

    def definition(self, inner: str) -> str:
        """The entry point with these statements in it; `args` and `kwargs` are its parameters."""
        assert self.entry is not None
        owner, _, name = self.entry.rpartition(".")
        if not owner:
            return f"def {name}(*args, **kwargs):\n{textwrap.indent(inner, '    ')}"
        method = f"def {name}(self, *args, **kwargs):\n{textwrap.indent(inner, '    ')}"
        return f"class {owner}:\n{textwrap.indent(method, '    ')}"

    def with_change(self, change: str, *, setup: str = "", body: str = "") -> str | None:
        """The reference with its result changed: `change` is an expression of `result` and `args`.

        None when there is no reference, or it does not define the entry point.
        """
        if not self.reference:
            return None
        if self.entry is None:
            return _join([setup, _replay(self.reference), body, f"print({change})"])
        renamed = _rename(self.reference, self.entry)
        if renamed is None:
            return None
        owner, _, _ = self.entry.rpartition(".")
        call = f"result = {'super().' if owner else ''}{HONEST}(*args, **kwargs)"
        wrapper = self.definition(_join([call, body, f"return {change}"]))
        if owner:
            wrapper = wrapper.replace(f"class {owner}:", f"class {owner}({owner}):", 1)
        return _join([_futures_first(renamed, setup), wrapper])

    def changed(self, note: str, change: str, *, setup: str = "") -> list[Payload]:
        """The reference with a change of its result, where it can be made."""
        text = self.with_change(change, setup=setup)
        return [] if text is None else [payload(text, note=note)]


def shape_of(known: Knowledge) -> ProgramShape:
    """The shape of a problem's programs."""
    problem = known.problem
    results = [call.expected for call in (*problem.calls, *known.examples)]
    kinds = {type(result).__name__ for result in results}
    rows = [cast("list[object]", row) for row in results if isinstance(row, (list, tuple))]
    inner = {type(item).__name__ for row in rows for item in row}
    entry = without_brackets(problem.entry_point) if problem.entry_point is not None else None
    called = [step.name for steps in problem.sequences for step in steps if step.kind == "call"]
    others = dict.fromkeys(name for name in called if name.isidentifier() and name != entry)
    return ProgramShape(
        entry, reference_of(problem), frozenset(kinds), frozenset(inner), tuple(others)
    )


def reference_of(problem: AuditProblem) -> str:
    """Plain source of the first correct completion; empty when there is none that parses."""
    for text in problem.correct:
        source = extract_code(text) or ""
        try:
            ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        return source
    return ""


def parts_attack(name: str, flaw: str, parts: Sequence[Snippet]) -> Attack:
    """An attack of which each part is a payload."""

    def make(known: Knowledge) -> Iterable[Payload]:
        shape = shape_of(known)
        for part in parts:
            if not (part.functions_only and shape.entry is None):
                yield shape.payload(part)

    return code_attack(name, flaw, make, generic=True)


def raw_attack(name: str, flaw: str, texts: Sequence[tuple[str, str]]) -> Attack:
    """An attack whose payloads (note, text) are the same for every problem."""

    def make(known: Knowledge) -> Iterable[Payload]:
        return [payload(text, note=note) for note, text in texts]

    return code_attack(name, flaw, make, generic=True)


def function_attack(
    name: str,
    flaw: str,
    make: Callable[[ProgramShape], Iterable[Payload]],
    *,
    generic: bool = False,
) -> Attack:
    """An attack on verifiers that call a function; none on those that run a whole program."""

    def of_function(known: Knowledge) -> Iterable[Payload]:
        shape = shape_of(known)
        return () if shape.entry is None else make(shape)

    return code_attack(name, flaw, of_function, generic=generic)


def code_attack(
    name: str, flaw: str, make: Callable[[Knowledge], Iterable[Payload]], *, generic: bool = False
) -> Attack:
    """An attack of tier 1 on verifiers of programs."""
    return Attack(name, flaw, tier=1, for_code=True, make=make, generic=generic)


def payload(text: str, *, note: str = "") -> Payload:
    """A program; the oracle runs it."""
    return Payload(text.lstrip("\n"), Claim.PROGRAM, note=note)


def key_of(call: Call) -> str:
    """The key of a call in a table of known results; must agree with `KEY`."""
    values = (*call.args, *call.kwargs.values())
    text = repr(list(values)).replace("(", "[").replace(")", "]")
    return text.replace(",]", "]").replace(" ", "").strip()


KEY = """
def key(args):
    text = repr(list(args)).replace("(", "[").replace(")", "]")
    return text.replace(",]", "]").replace(" ", "").strip()
"""


def _join(pieces: Iterable[str]) -> str:
    return "\n".join(piece.strip("\n") for piece in pieces if piece.strip()) + "\n"


def _futures_first(source: str, setup: str) -> str:
    lines = source.splitlines()
    futures = [line for line in lines if line.startswith("from __future__")]
    rest = [line for line in lines if not line.startswith("from __future__")]
    return _join([*futures, setup, "\n".join(rest)])


def _replay(reference: str) -> str:
    """Statements that run a whole program and keep what it prints as `result`."""
    return (
        "import contextlib, io\n"
        f"PROGRAM = {reference!r}\n"
        "printed = io.StringIO()\n"
        "with contextlib.redirect_stdout(printed):\n"
        '    exec(PROGRAM, {"__name__": "__main__"})\n'
        "result = printed.getvalue().rstrip()"
    )


class _Renaming(ast.NodeTransformer):
    """Gives a function, or a method and its uses through `self`, another name."""

    def __init__(self, name: str, owner: str) -> None:
        self.name, self.owner, self.found = name, owner, False
        self._depth: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        self._depth.append(node.name)
        self.generic_visit(node)
        self._depth.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if node.name == self.name and self._depth == ([self.owner] if self.owner else []):
            node.name, self.found = HONEST, True
        self._depth.append(node.name)
        self.generic_visit(node)
        self._depth.pop()
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        if not self.owner and node.id == self.name:
            node.id = HONEST
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        if self.owner and of_self and node.attr == self.name:
            node.attr = HONEST
        return node


def _rename(source: str, entry: str) -> str | None:
    owner, _, name = entry.rpartition(".")
    tree = ast.parse(source)
    renaming = _Renaming(name, owner)
    tree = renaming.visit(tree)
    if renaming.found:
        return ast.unparse(tree)
    # The entry point is bound otherwise: a lambda, a partial, an import.
    bound = any(isinstance(node, ast.Name) and node.id == HONEST for node in ast.walk(tree))
    return ast.unparse(tree) if bound and not owner else None
