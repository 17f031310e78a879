"""The strength of an assertion: what of a value it looks at.

    strength_of(node, scope, told)      # Strength.FORM for `isinstance(data["n"], int)`

Covered: comparisons, `in`, calls, `all` and `any`, names that hold the result of a comparison,
methods of unittest.
Not covered: functions of other modules, whose result counts as a value that was compared.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import IntFlag

from unhack.audit.environments.reading.sources import RUN, Literal, PathScope, name_of
from unhack.core.lines import BoundedPattern

Told = Callable[[Literal], bool]
"""True for a constant that stands in the statement."""
_SUCCESS = BoundedPattern(
    r"(?i)(?:\b|_)(?:success\w{0,5}|pass(?:ed)?|ok|complete[d]?|done|valid|fixed|healthy|ready|working"
    r"|resolved|verified|built|modified|updated)(?:\b|_)"
)
_MEASURE = BoundedPattern(
    r"(?i)(?:\b|_)(?:time|seconds|duration|latency|speedup|throughput|accuracy|elapsed)(?:\b|_)"
)
_SIGNS = " =:_\"'[]{}()<>,.*#-/\\\n\t|;"
_EXISTS = frozenset({
    "exists", "is_file", "is_dir", "isfile", "isdir", "access", "lexists", "stat", "getsize",
    "st_size", "st_mode", "iterdir", "listdir", "glob",
})  # fmt: skip
_FORMS = frozenset({
    "isinstance", "issubclass", "callable", "hasattr", "isdigit", "isnumeric", "isalpha", "isalnum",
    "isupper", "islower", "startswith", "endswith", "match", "search", "fullmatch", "is_absolute",
    "is_numeric_dtype", "notna", "notnull", "isna", "isnull", "isnan", "isfinite", "count", "keys",
    "columns", "shape", "suffix", "len", "type", "strip", "empty", "findall", "issubset",
    "issuperset",
})  # fmt: skip
_SEARCHES = frozenset({"search", "match", "fullmatch", "findall"})
_OPEN = BoundedPattern(r"\\[dwS.]|\||\[|\.[*+]")
_WORD = BoundedPattern(r"[A-Za-z_][\w-]{3,60}")
_EQUAL = (ast.Eq, ast.Is)


class Strength(IntFlag):
    """The things that an assertion looks at; it may be several.

    Example:

        Strength.VALUE in strength
    """

    EXISTS = 1
    FORM = 2
    """Types, counts, names of fields, ranges, what agrees with itself."""
    TOLD = 4
    """Equality with what stands in the statement."""
    VALUE = 8
    """Equality with anything else."""
    RUN = 16
    """The output or exit code of a program."""
    SUCCESS = 32
    """A word of success or a measurement, read from a file."""


def strength_of(node: ast.expr, scope: PathScope, told: Told) -> Strength:
    """The strength of a condition."""
    if isinstance(node, ast.BoolOp):
        found = Strength(0)
        for one in node.values:
            found |= strength_of(one, scope, told)
        return found
    if isinstance(node, ast.UnaryOp):
        found = strength_of(node.operand, scope, told)
        return Strength.FORM if found == Strength.EXISTS else found
    if isinstance(node, ast.Compare):
        return _compared(node, scope, told)
    if isinstance(node, ast.Name):
        known = scope.values.get(node.id, ())
        parts = [one for one in known if isinstance(one, (ast.Compare, ast.BoolOp, ast.Call))]
        found = Strength(0)
        for one in parts:
            if not any(
                isinstance(inner, ast.Name) and inner.id == node.id for inner in ast.walk(one)
            ):
                found |= strength_of(one, scope, told)
        if Strength.TOLD in found and _SUCCESS.search(node.id):
            found |= Strength.SUCCESS
        return found or _by_sources(node, scope)
    if isinstance(node, ast.Call):
        return _called(node, scope, told)
    return _by_sources(node, scope)


def _called(node: ast.Call, scope: PathScope, told: Told) -> Strength:
    last = name_of(node).rsplit(".", 1)[-1]
    if last in ("all", "any", "bool") and node.args:
        inner = node.args[0]
        if isinstance(inner, (ast.GeneratorExp, ast.ListComp)):
            own = scope.copy()
            for part in inner.generators:
                own.loop(part.target, part.iter)
            return strength_of(inner.elt, own, told)
        return strength_of(inner, scope, told)
    if last in _EXISTS:
        return Strength.EXISTS
    if RUN in scope.of(node):
        return Strength.RUN
    if last in _SEARCHES:
        return _searched(node, scope, told)
    of_value = isinstance(node.func, ast.Attribute) and scope.of(node.func.value)
    return _by_sources(node, scope) if last in _FORMS or of_value else Strength.VALUE


def _searched(node: ast.Call, scope: PathScope, told: Told) -> Strength:
    """A pattern that leaves nothing open is as strong as its words."""
    pattern = scope.text(node.args[0]) if len(node.args) > 1 else None
    if pattern is None or _OPEN.search(pattern):
        return Strength.FORM
    words = _WORD.findall(pattern)
    return _contained([*words], told) if words else Strength.FORM


def _contained(constants: list[Literal], told: Told) -> Strength:
    """A text that has to be in another: a bare name that the statement has is a form."""
    if not all(map(told, constants)):
        return Strength.VALUE
    names = all(not (bare := str(one).strip(_SIGNS)) or bare.isidentifier() for one in constants)
    return Strength.FORM if names else Strength.TOLD


def _compared(node: ast.Compare, scope: PathScope, told: Told) -> Strength:
    apart = _distance(node)
    sides = apart or [node.left, *node.comparators]
    operator = ast.Eq() if apart else node.ops[0]
    sources = [scope.of(one) for one in sides]
    every = frozenset[str]().union(*sources)
    literals = [scope.literals(one) for one in sides]
    if any(_about(one, _EXISTS, scope) for one in sides):
        return Strength.EXISTS
    if [None] in literals:
        other = sides[-1] if literals[0] == [None] else sides[0]
        searched = _about(other, _SEARCHES, scope)
        return strength_of(other, scope, told) if searched else Strength.FORM
    if RUN in every:
        return Strength.RUN
    if any(_about(one, _FORMS - {"strip"}, scope) for one in sides) and any(literals):
        return Strength.VALUE if len(every) > 1 else Strength.FORM
    constants = next((one for one in literals if one is not None), None)
    if isinstance(operator, (*_EQUAL, ast.NotEq, ast.IsNot)):
        if constants is None:
            return Strength.FORM if sources[0] == sources[-1] else Strength.VALUE
        return _equal(constants, sides, told, differs=not isinstance(operator, _EQUAL))
    if isinstance(operator, ast.In):
        if literals[0] is not None:
            words = [one for one in literals[0] if str(one).isupper()]
            return _contained(literals[0], told) | _success([*words], sides)
        return (
            Strength.VALUE if literals[-1] is None and sources[0] != sources[-1] else Strength.FORM
        )
    if len(every) > 1 or (all(sources) and sources[0] != sources[-1]):
        return Strength.VALUE
    bounds = [one for part in literals for one in part or () if one]
    measured = bounds and _MEASURE.search(ast.unparse(node)) is not None
    return Strength.FORM | Strength.SUCCESS if measured else Strength.FORM


def _equal(
    constants: list[Literal], sides: list[ast.expr], told: Told, *, differs: bool
) -> Strength:
    if differs or not any(one is True or str(one).strip(_SIGNS) for one in constants):
        return Strength.FORM
    strength = Strength.TOLD if all(map(told, constants)) else Strength.VALUE
    return strength | _success(constants, sides)


def _success(constants: list[Literal], sides: list[ast.expr]) -> Strength:
    names = " ".join(ast.unparse(one)[:200] for one in sides if not isinstance(one, ast.Constant))
    said = " ".join(
        names if str(one).lower() in ("true", "yes") else str(one)
        for one in constants
        if one is True or (isinstance(one, str) and len(one) <= 40)
    )
    return Strength.SUCCESS if _SUCCESS.search(said) else Strength(0)


def _distance(node: ast.Compare) -> list[ast.expr]:
    """The sides of `abs(a - b) < c`; empty for any other comparison."""
    left = node.left
    if not isinstance(left, ast.Call) or not isinstance(node.ops[0], (ast.Lt, ast.LtE)):
        return []
    inner = left.args[0] if left.args else left
    if name_of(left).rsplit(".", 1)[-1] != "abs" or not isinstance(inner, ast.BinOp):
        return []
    return [inner.left, inner.right]


def _about(node: ast.expr, names: frozenset[str], scope: PathScope) -> bool:
    """True where the outermost call or attribute is one of those, or a name holds such a call."""
    if isinstance(node, ast.Name):
        known = [*scope.values.get(node.id, ())]
        single = len(known) == 1 and isinstance(known[0], (ast.Call, ast.Attribute))
        return single and _about(known[0], names, scope)
    if isinstance(node, ast.Call) and name_of(node) in ("set", "list", "sorted", "tuple", "len"):
        first = node.args[0] if node.args else node.func
        return (name_of(node) == "len" and "len" in names) or _about(first, names, scope)
    return isinstance(node, (ast.Call, ast.Attribute)) and name_of(node).rsplit(".", 1)[-1] in names


def _by_sources(node: ast.expr, scope: PathScope) -> Strength:
    """A value's truth: as strong as what it depends on."""
    sources = scope.of(node)
    if RUN in sources:
        return Strength.RUN
    return Strength.VALUE if len(sources) > 1 else Strength.FORM
