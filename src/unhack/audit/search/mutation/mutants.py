"""Wrong programs made from a right one: each has one small fault of a common kind.

Covered: functions, methods and whole programs, by operators over the syntax tree.
Not covered: faults in several places at once. A mutant may still be right (the oracle says).
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unhack.audit.search.mutation.operators import NODE_OPERATORS, MutationEdit
from unhack.audit.search.mutation.values import VALUE_OPERATORS
from unhack.core.completion import extract_code


@dataclass(frozen=True, slots=True)
class Mutant:
    """One faulty program."""

    source: str
    operator: str
    """Name of the kind of fault."""
    line: int
    """Of the reference's code, counted from 1."""
    note: str
    """The change, in words."""


def mutants(source: str, *, limit: int = 60, seed: int = 0) -> list[Mutant]:
    """At most `limit` different mutants, spread over the operators; the same for the same seed.

    `source` is trusted code, plain or in a fence. What does not parse has none. Each mutant
    compiles and its syntax tree differs from the reference's and from every other's.
    """
    if limit <= 0:
        return []
    code = extract_code(source) or ""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return []
    places = {id(node): index for index, node in enumerate(ast.walk(tree))}
    rng = random.Random(seed)
    queues: list[list[tuple[str, MutationEdit]]] = []
    for operator in (*NODE_OPERATORS, *VALUE_OPERATORS):
        edits = [(operator.name, edit) for edit in operator.find(tree)]
        rng.shuffle(edits)
        queues += [edits[start :: operator.share] for start in range(operator.share)]
    seen = {ast.dump(tree)}
    found: list[Mutant] = []
    for name, edit in _in_turn(queues):
        mutant = _mutate(tree, places, name, edit=edit)
        if mutant is None:
            continue
        shape = ast.dump(ast.parse(mutant.source))
        if shape not in seen:
            seen.add(shape)
            found.append(mutant)
            if len(found) == limit:
                break
    return found


def _in_turn(
    queues: Iterable[list[tuple[str, MutationEdit]]],
) -> Iterator[tuple[str, MutationEdit]]:
    """One of each operator, then the next of each."""
    waiting = [list(queue) for queue in queues if queue]
    while waiting:
        for queue in waiting:
            yield queue.pop(0)
        waiting = [queue for queue in waiting if queue]


def _mutate(
    tree: ast.Module, places: dict[int, int], name: str, *, edit: MutationEdit
) -> Mutant | None:
    """The program with one edit; None when it is no program."""
    twin = copy.deepcopy(tree)
    nodes = list(ast.walk(twin))
    changer = _Exchange(nodes[places[id(edit.node)]], edit)
    changer.visit(twin)
    try:
        text = ast.unparse(ast.fix_missing_locations(twin)) + "\n"
        compile(text, "<mutant>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, AttributeError, TypeError, RecursionError):
        return None
    return Mutant(text, name, getattr(edit.node, "lineno", 1), edit.note)


class _Exchange(ast.NodeTransformer):
    """Puts copies of an edit's nodes in the place of one node."""

    def __init__(self, target: ast.AST, edit: MutationEdit) -> None:
        self.target, self.edit = target, edit

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        if node is not self.target:
            return self.generic_visit(node)
        replacement = copy.deepcopy(self.edit.replacement)
        if isinstance(replacement, list):
            return replacement or [ast.Pass()]
        return replacement
