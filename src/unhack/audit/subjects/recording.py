"""The calls that a verifier makes of a known-correct program, as inputs of the oracle.

The program gets a recorder, the verifier judges it once, and what the recorder noted becomes the
problem's calls, sequences of steps, or runs. Only known-correct programs are recorded; what they
note is data, and never decides what is right.

Covered: functions, static methods, objects with their methods, runs of programs, wherever the
verifier runs the program: in its process, in others, in tests that it writes.
Not covered: verifiers that refuse the text of a program with a recorder in it; attributes.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unhack.audit.oracle.entry_points import definition_of, first_place, program_text
from unhack.audit.subject import AuditProblem, Call, Step, tree_of
from unhack.audit.subjects.problem_rows import in_order, may_be_stdin
from unhack.core import plain
from unhack.sandbox.guest.reward import recorder

_NAME = "__unhack_recorder__"
_MOST_CALLS, _MOST_SEQUENCES, _MOST_STEPS = 100, 40, 60


def recordable(correct: str, path: str) -> str:
    """The completion with a recorder in its program, which writes to `path`; as it is where that
    cannot be parsed."""
    source = program_text(correct)
    noting = with_recorder(source, path)
    if noting is None:
        return correct
    return correct.replace(source, noting) if source in correct else noting


def is_program(completion: str) -> bool:
    """Tell whether a correct completion is a program in Python: its code parses, and defines,
    imports, reads or prints something. Text may parse too: `x = 5` is an answer."""
    tree = tree_of(program_text(completion))
    return tree is not None and any(map(_is_of_program, tree.body))


def _is_of_program(node: ast.stmt) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return True
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return True
    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    return any(isinstance(one, ast.Name) and one.id in ("print", "input") for one in calls)


def with_recorder(source: str, path: str) -> str | None:
    """The program with a recorder that writes to `path`; None where it cannot be parsed."""
    tree = tree_of(source)
    if tree is None:
        return None
    lines = source.split("\n")
    for node in reversed(tree.body):
        wrapped = _wrapping(node)
        if wrapped:
            lines.insert(node.end_lineno or node.lineno, wrapped)
    text = inspect.getsource(recorder)
    start = (
        f"{_NAME} = {{'__name__': {_NAME!r}}}; exec({text!r}, {_NAME}); "
        f"{_NAME}['PATH'] = {path!r}; {_NAME}['watch_run'](globals())"
    )
    lines.insert(first_place(tree.body), start)
    found = "\n".join(lines)
    return None if tree_of(found) is None else found


def _wrapping(node: ast.stmt) -> str:
    """The statement after a definition that has its calls noted; empty for other statements."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if not name.startswith("_"):
            return f"{name} = {_NAME}['wrap']({name})"
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
            return f"{name} = {_NAME}['wrap_lambda']({name}, {name!r})"
        case _:
            return ""


@dataclass
class _Notes:
    """The lines of a recording, sorted by what they are about."""

    calls: dict[str, list[Call]] = field(default_factory=dict[str, list[Call]])
    objects: dict[str, list[Step]] = field(default_factory=dict[str, list[Step]])
    runs: dict[str, tuple[list[str], list[str]]] = field(
        default_factory=dict[str, tuple[list[str], list[str]]]
    )
    """By number: words of the command line, pieces of the standard input."""
    ended: set[str] = field(default_factory=set[str])

    def take(self, kind: str, fields: list[Any]) -> None:
        """Add one line. Raises ValueError, TypeError for one that is malformed."""
        if kind == "call":
            name, args, kwargs, results = fields
            call = Call(tuple(args), kwargs, results[0] if results else None)
            self.calls.setdefault(name, []).append(call)
        elif kind == "new":
            name, number, args, kwargs = fields
            self.objects[number] = [Step("new", name, tuple(args), kwargs)]
        elif kind == "do":
            number, name, args, kwargs = fields
            if number in self.objects and number not in self.ended:
                self.objects[number].append(Step("do", name, tuple(args), kwargs))
        elif kind == "end":
            self.ended.add(fields[0])
        elif kind == "run":
            number, words = fields
            self.runs[number] = (list(map(str, words)), [])
        elif kind == "input":
            number, text = fields
            if number in self.runs:
                self.runs[number][1].append(text)


def _read(recorded: str) -> _Notes:
    """The notes of a recording, without lines that are cut off or malformed."""
    notes = _Notes()
    for line in recorded.split("\n"):
        if not line:
            continue
        try:
            kind, *fields = plain.to_builtins(plain.loads(line))
            notes.take(kind, fields)
        except (ValueError, TypeError, LookupError):
            continue
    return notes


def with_recorded(problem: AuditProblem, recorded: str, *, script: str) -> AuditProblem:
    """The problem with what its verifier, whose source is `script`, was seen to do; the same
    problem where nothing was."""
    notes = _read(recorded)
    names = {*notes.calls, *(steps[0].name for steps in notes.objects.values())}
    if notes.runs:
        # A program calls functions of its own as it runs; those that the verifier calls it names.
        names = {name for name in names if name == problem.entry_point or _stands_in(name, script)}
    if names:
        return _with_calls(problem, notes, names)
    runs = [Call(("".join(given), *words)) for words, given in notes.runs.values()]
    if runs:
        return replace(problem, entry_point=None, calls=_known_results(problem, runs), runs=True)
    given = [call for call in problem.calls if not may_be_stdin(call)]
    if problem.entry_point is None and problem.correct and (given or not problem.is_code):
        return _unseen(problem, script)
    return problem


def _unseen(problem: AuditProblem, script: str) -> AuditProblem:
    """The problem of a program that was not seen to run: one of its functions is called, if any,
    that which the verifier names, else the last."""
    names = [
        node.name
        for node in ast.parse(program_text(problem.correct[0])).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    named = [name for name in names if _stands_in(name, f"{script}\n{problem.prompt}")]
    chosen = (named or names)[-1:]
    return replace(problem, entry_point=chosen[0]) if chosen else problem


def _stands_in(name: str, script: str) -> bool:
    return re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", script) is not None


def _known_results(problem: AuditProblem, runs: Sequence[Call]) -> tuple[Call, ...]:
    """The runs, each once, with the outputs that are known."""
    known = {repr(call.args): call for call in problem.calls if problem.entry_point is None}
    return tuple(known.get(repr(run.args), run) for run in _distinct(runs))


def _distinct(calls: Sequence[Call]) -> list[Call]:
    found: dict[str, Call] = {}
    for call in calls:
        found.setdefault(repr((call.args, call.kwargs)), call)
    return list(found.values())[:_MOST_CALLS]


def _with_calls(problem: AuditProblem, notes: _Notes, names: set[str]) -> AuditProblem:
    calls = {name: _distinct(found) for name, found in notes.calls.items() if name in names}
    objects = [steps for steps in notes.objects.values() if steps[0].name in names]
    method = _only_method(objects)
    if method and not calls:
        # `Solution().f(x)` is a call of a function; what it gave is not noted.
        calls = {method: _distinct([Call(one[1].args, one[1].kwargs) for one in objects])}
        objects = []
    entry = problem.entry_point
    if calls and entry not in calls:
        entry = max(calls, key=lambda name: len(calls[name]))
    elif not calls and (entry is None or "." not in entry):
        entry = _method_of(objects) or entry
    sequences = list(_sequences(objects))
    for name, others in calls.items():
        if name != entry:
            sequences += [(Step("call", name, one.args, one.kwargs),) for one in others]
    known = tuple(_positional(problem, entry, call) for call in calls.get(entry or "", ()))
    return replace(
        problem, entry_point=entry, calls=known, sequences=tuple(sequences[:_MOST_SEQUENCES])
    )


def _sequences(objects: Sequence[list[Step]]) -> Iterator[tuple[Step, ...]]:
    """The steps of each object, each sequence once, the longest first."""
    found = {repr(steps): tuple(steps[:_MOST_STEPS]) for steps in objects}
    yield from sorted(found.values(), key=len, reverse=True)


def _only_method(objects: Sequence[list[Step]]) -> str:
    """`Class.method` where every object is made without arguments for one call of it; else
    empty."""
    single = all(
        len(steps) == 2 and not (steps[0].args or steps[0].kwargs or ".__" in f".{steps[1].name}")
        for steps in objects
    )
    names = {f"{steps[0].name}.{steps[1].name}" for steps in objects} if single else set[str]()
    return names.pop() if len(names) == 1 else ""


def _method_of(objects: Sequence[list[Step]]) -> str:
    """`Class.method` for the method that is called most; empty where none is."""
    used = Counter(
        f"{steps[0].name}.{step.name}" for steps in objects for step in steps if step.kind == "do"
    )
    plain_names = [name for name, _ in used.most_common() if ".__" not in name]
    return plain_names[0] if plain_names else ""


def _positional(problem: AuditProblem, entry: str | None, call: Call) -> Call:
    """The call with keywords as positional arguments, where the parameters' order says how."""
    node = definition_of(problem.correct[0], entry) if entry and problem.correct else None
    if node is None or not call.kwargs:
        return call
    names = [item.arg for item in (*node.args.posonlyargs, *node.args.args)]
    return in_order(call, names)
