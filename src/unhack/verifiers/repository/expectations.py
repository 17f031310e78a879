"""Changed expectations: edits of a test function after which a right solution must fail it.

    assert f(2) == 4             assert f(2) == 61             a value of the test, also by name
    pytest.raises(ValueError)    pytest.raises(KeyError)       an error
    assert f(2)                  assert not f(2)               the outcome, where nothing else is

    assert f(2) == Thing(4)      assert f(2) == Thing(61)      an object of the test (`of_objects`)

The first two are strong: they tell a result from one that agrees with everything. The third is
weak: it tells an outcome from one that is reported whatever happens.

A changed test has the form of the test itself: one value, error or sign is another. With a
vocabulary (`repository.vocabulary`) it is one that the file has.

Covered: `assert`, the methods of `unittest.TestCase`, `pytest.raises`, values in the marks
`parametrize` of a test.
Not covered: tests that check nothing, or in a function of their own; expectations that the test
computes.
"""

from __future__ import annotations

import ast
import string
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, TypeGuard

from unhack.verifiers.repository.vocabulary import Vocabulary

Test = ast.FunctionDef | ast.AsyncFunctionDef


class Variation:
    """The draws of variant `number` of a test; those of its other variants have the same seed."""

    def __init__(self, seed: int, number: int, vocabulary: Vocabulary | None = None) -> None:
        """`vocabulary`: takes note of the places that are to have other values; without one they
        have exchanged characters and moved numbers at once."""
        self._random = Random(seed)
        self.number = number
        self.vocabulary = vocabulary

    def same(self, options: Sequence[Any]) -> Any:
        """One of the options, the same one for all variants."""
        return self._random.choice(options)

    def other(self, options: Sequence[Any]) -> Any:
        """One of the options, another one for each variant but number 0, as far as they reach."""
        return self._random.sample(options, len(options))[(self.number - 1) % len(options)]

    def offset(self) -> int:
        """A difference of draws: 0 for number 0 alone."""
        draws = self._random.sample(range(_SPREAD), 9)
        return draws[self.number] - draws[0]


Edit = Callable[[Variation], None]
"""Changes the function that it was found in."""
_SPREAD = 97
_EQUAL = frozenset(
    (  # noqa: SIM905
        "assertEqual assertEquals assertListEqual assertDictEqual assertTupleEqual assertSetEqual "
        "assertSequenceEqual assertMultiLineEqual assertCountEqual assertAlmostEqual"
    ).split()
)
_ONE_WAY = {
    "assertTrue": "assertFalse",
    "assertIs": "assertIsNot",
    "assertIsNone": "assertIsNotNone",
    "assertIn": "assertNotIn",
    "assertIsInstance": "assertNotIsInstance",
    "assertEqual": "assertNotEqual",
    "assertEquals": "assertNotEqual",
    "assertAlmostEqual": "assertNotAlmostEqual",
    "assertGreater": "assertLessEqual",
    "assertLess": "assertGreaterEqual",
}
_OPPOSITES = _ONE_WAY | {
    after: before for before, after in _ONE_WAY.items() if before != "assertEquals"
}


def edits(test: Test) -> tuple[list[Edit], list[Edit]]:
    """Strong and weak edits of a test, always in the same order."""
    finder = _Finder(test)
    return finder.strong, finder.weak


def edits_of_objects(test: Test) -> list[Edit]:
    """Edits of what objects are made from that a test says are equal, always in the same order:
    after them a class that compares as it should finds a difference, with all of several too."""
    made = _assigned(test, _is_made_of_literals)
    found: dict[int, list[ast.expr]] = {}
    compared: list[str] = []

    def take(value: ast.expr, among: bool) -> bool:
        if isinstance(value, ast.Name):
            compared.append(value.id)
            value = made.get(value.id, value)
        listed = value.elts if among and isinstance(value, ast.List | ast.Tuple | ast.Set) else []
        members = [one for one in listed or [value] if _is_made_of_literals(one)]
        if members:
            found[id(value)] = members
        return bool(members)

    for node in ast.walk(test):
        sides: list[tuple[ast.expr, bool]] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.In)):
            sides = [(node.comparators[0], isinstance(node.ops[0], ast.In)), (node.left, False)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if (name in _EQUAL or name == "assertIn") and len(node.args) >= 2:
                sides = [(node.args[1], name == "assertIn"), (node.args[0], False)]
        any(take(*side) for side in sides)  # the second side only where the first has no place
    marks = [mark for mark in test.decorator_list if _is_parametrized(mark)]
    columns = [cells for mark in marks for cells in _columns(mark, compared)]
    return [
        *(_change_all(members) for members in found.values()),
        *(_change_all(cells) for cells in columns if all(map(_is_made_of_literals, cells))),
    ]


def _is_made_of_literals(node: ast.expr) -> bool:
    """True for a call, or a container with calls, in which a constant can be changed."""
    return _is_made(node) and any(True for _ in _leaves(node))


class _Finder:
    def __init__(self, test: Test) -> None:
        self.strong: list[Edit] = []
        self.weak: list[Edit] = []
        self._values = _assigned(test, _is_literal)
        self._compared: list[str] = []
        for node in ast.walk(test):
            if isinstance(node, ast.Assert):
                self._assert(node)
            elif isinstance(node, ast.Call):
                self._call(node)
        columns = list(dict.fromkeys(self._compared))
        for mark in test.decorator_list:
            self._parametrized(mark, columns)

    def _assert(self, node: ast.Assert) -> None:
        if isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
            self._compare(node.test)

        def negate(made: Variation) -> None:
            if made.number:
                node.test = _negated(node.test)

        self.weak.append(negate)

    def _compare(self, node: ast.Compare) -> None:
        op = node.ops[0]
        left, right = node.left, node.comparators[0]
        if isinstance(op, (ast.In, ast.NotIn)):
            if isinstance(op, ast.In) and isinstance(left, ast.Constant):
                self._literal(left)
            return
        if not isinstance(op, ast.Eq):
            return
        for value in (right, left):
            self._expected(value)

    def _expected(self, value: ast.expr) -> None:
        """Take a literal, or a name that stands for one, as a place to edit."""
        if isinstance(value, ast.Call) and _plain_name(value.func) == "approx" and value.args:
            value = value.args[0]
        if isinstance(value, ast.Name):
            self._compared.append(value.id)
            literal = self._values.get(value.id)
            if literal is not None:
                self._literal(literal)
        elif _is_literal(value):
            self._literal(value)

    def _literal(self, value: ast.expr) -> None:
        self.strong.append(lambda made: change(value, made))

    def _call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else _plain_name(node.func)
        if name in ("raises", "assertRaises", "assertRaisesRegex") and node.args:
            self.strong.append(lambda made: _other_error(node, made))
        if name in _EQUAL and len(node.args) >= 2:
            for place in (1, 0):
                self._expected(node.args[place])
        if name in _OPPOSITES and isinstance(node.func, ast.Attribute):
            self.weak.append(_opposite(node.func))

    def _parametrized(self, mark: ast.expr, compared: list[str]) -> None:
        """Every row's value of a column that the test compares with."""
        if not _is_parametrized(mark):
            return
        for cells in _columns(mark, compared):
            if all(map(_is_literal, cells)):
                self.strong.append(_change_all(cells))


def _is_parametrized(mark: ast.expr) -> TypeGuard[ast.Call]:
    return (
        isinstance(mark, ast.Call)
        and isinstance(mark.func, ast.Attribute)
        and mark.func.attr == "parametrize"
        and len(mark.args) >= 2
    )


def _columns(mark: ast.Call, compared: Sequence[str]) -> Iterator[list[ast.expr]]:
    """The cells of each column that is compared with."""
    names = _column_names(mark.args[0])
    for place, name in enumerate(names):
        cells = _cells(mark.args[1], place, len(names))
        if name in compared and cells:
            yield cells


def _change_all(cells: list[ast.expr]) -> Edit:
    def edit(made: Variation) -> None:
        for cell in cells:
            change(cell, made)

    return edit


def _opposite(function: ast.Attribute) -> Edit:
    def edit(made: Variation) -> None:
        if made.number:
            function.attr = _OPPOSITES[function.attr]

    return edit


def _other_error(node: ast.Call, made: Variation) -> None:
    """Another error in the place of the first; where several would do, of all of them."""
    several = node.args[0].elts if isinstance(node.args[0], ast.Tuple) else None
    listed = node.args if several is None else several
    for place in range(1 if several is None else len(several)) if made.number else ():

        def put(other: str, place: int = place) -> None:
            listed[place] = ast.parse(other, mode="eval").body

        (made.vocabulary or Vocabulary()).errors.append((ast.unparse(listed[place]), put))


_OPPOSITE_SIGNS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}


def _negated(test: ast.expr) -> ast.expr:
    """The opposite of a condition, written as one would write it."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return ast.Compare(test.left, [_OPPOSITE_SIGNS[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _plain_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_made(value: ast.expr) -> bool:
    """True for a value that a call in the expression gives."""
    return any(isinstance(node, (ast.Call, ast.Await)) for node in ast.walk(value))


def _column_names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [name.strip() for name in node.value.split(",") if name.strip()]
    if isinstance(node, (ast.Tuple, ast.List)):
        return [str(item.value) for item in node.elts if isinstance(item, ast.Constant)]
    return []


def _cells(rows: ast.expr, place: int, width: int) -> list[ast.expr]:
    """The cells of one column; empty where the rows are not written out."""
    found: list[ast.expr] = []
    for row in rows.elts if isinstance(rows, (ast.List, ast.Tuple)) else []:
        if isinstance(row, ast.Call) and isinstance(row.func, ast.Attribute):
            cells = row.args if row.func.attr == "param" else []
        elif width == 1:
            cells = [row]
        else:
            cells = row.elts if isinstance(row, (ast.List, ast.Tuple)) else []
        if len(cells) != width:
            return []
        found.append(cells[place])
    return found


def _assigned(test: Test, fits: Callable[[ast.expr], bool]) -> dict[str, ast.expr]:
    """Names that the test binds once, to a value that fits."""
    found: dict[str, ast.expr] = {}
    bound: set[str] = set()
    for node in ast.walk(test):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if node.id in bound:
                found[node.id] = node
            bound.add(node.id)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                found.setdefault(target.id, node.value)
    return {name: value for name, value in found.items() if fits(value)}


def _is_literal(node: ast.expr) -> bool:
    """True for an expression of constants, of which one can be changed."""
    return any(True for _ in _leaves(node)) and all(
        isinstance(
            item,
            (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.expr_context,
             ast.unaryop),
        )
        for item in ast.walk(node)
    )  # fmt: skip


def _leaves(node: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Constant):
        if node.value is not Ellipsis:
            yield node
    elif isinstance(node, ast.Dict):
        for item in node.values:
            yield from _leaves(item)
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for item in node.elts:
            yield from _leaves(item)
    elif isinstance(node, ast.UnaryOp):
        yield from _leaves(node.operand)
    elif isinstance(node, ast.Call):
        for item in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from _leaves(item)


def change(node: ast.expr, made: Variation) -> None:
    """Give one constant of a literal another value of its kind; number 0 keeps it."""
    leaf = made.same(list(_leaves(node)))
    if made.vocabulary is None:
        leaf.value = _other_value(leaf.value, made)
    elif made.number:
        made.vocabulary.values.append((leaf.value, lambda value: setattr(leaf, "value", value)))


def _other_value(value: Any, made: Variation) -> Any:
    if value is None or isinstance(value, bool):
        return not value if made.number else value
    if isinstance(value, (int, float, complex)):
        moved = value + made.offset()
        return -value if made.number and moved == value else moved
    if isinstance(value, bytes):
        return _other_text(value.decode("latin-1"), made).encode("latin-1", "replace")
    return _other_text(str(value), made)


def _other_text(text: str, made: Variation) -> str:
    """A text in which one character is another one of its kind."""
    letters = [place for place, char in enumerate(text) if char.isalnum() and char.isascii()]
    if not letters:
        return text + made.other(string.ascii_lowercase) if made.number else text
    place = made.same(letters)
    kinds = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    kind = next(kind for kind in kinds if text[place] in kind)
    char = made.other(kind.replace(text[place], "")) if made.number else text[place]
    return text[:place] + char + text[place + 1 :]
