r"""Tuples and vectors, in the notation of the other answer.

    y=-1, x=4                                               (4, -1)
    2\mathbf{i}-\mathbf{k}, \begin{pmatrix}2\\0\\-1\end{pmatrix}    (2, 0, -1)
    \frac{1}{2}\begin{pmatrix}4&6\end{pmatrix}              \begin{pmatrix}2&3\end{pmatrix}

Covered: two or three unit vectors, each once; factors that are numbers or not.
Not covered: sums of vectors.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from unhack.verifiers.answers.numerals import read_number
from unhack.verifiers.answers.shape import SCAN, AnswerShape, Shape, read_shape
from unhack.verifiers.answers.style import in_order

_SCALED = re.compile(r"(.{1,60}?)(?:\\cdot ?)?(\\begin\{pmatrix\}.*\\end\{pmatrix\})", re.DOTALL)
_AXES = "ijk"


def in_one_notation(gold: Shape, answer: Shape) -> tuple[Shape, Shape]:
    """Both, the one that is no plain tuple or matrix in the notation of the one that is."""
    shapes = [_multiplied(gold), _multiplied(answer)]
    kinds = [shape.kind for shape in shapes]
    for at, wanted in ((0, shapes[1]), (1, shapes[0])):
        size = _size(wanted)
        members = None
        if size and kinds[at] is not wanted.kind:
            members = _coordinates(shapes[at], wanted, size)
        if members is not None:
            shapes[at] = replace(wanted, members=members)
            break
    return shapes[0], shapes[1]


def _size(shape: Shape) -> int:
    """The number of coordinates of a tuple, or of a matrix of one row or column; else 0."""
    one_row = shape.kind is AnswerShape.MATRIX and shape.brackets in {"1", str(len(shape.members))}
    pair = shape.kind is AnswerShape.TUPLE and shape.brackets == "()"
    return len(shape.members) if one_row or pair else 0


def _coordinates(shape: Shape, wanted: Shape, size: int) -> tuple[Shape, ...] | None:
    if shape.kind is AnswerShape.LIST and wanted.kind is AnswerShape.TUPLE:
        order = in_order([item.name for item in shape.members])
        named = order is not None and tuple(shape.members[at] for at in order)
        return tuple(replace(item, name="") for item in named) if named else None
    if shape.kind is AnswerShape.LEAF and size in {2, 3}:
        return _along_axes(shape.text, size)
    return shape.members if _size(shape) == size else None


def _along_axes(text: str, size: int) -> tuple[Shape, ...] | None:
    """The coordinates of `2i-j`."""
    found: dict[str, str] = {}
    factor, depth = "", 0
    for token in SCAN.findall(text):
        depth += (token in {"(", "{", "["}) - (token in {")", "}", "]"})
        if token not in _AXES[:size] or depth:
            factor += token
            continue
        if token in found or (found and factor[:1] not in {"+", "-"}):
            return None
        factor = factor.removeprefix("+").removesuffix("\\cdot ")
        found[token] = f"{factor}1" if factor in {"", "-"} else factor
        factor = ""
    if factor or not found.keys() & {"j", "k"}:  # `i` alone is the imaginary unit
        return None
    return tuple(read_shape(found.get(axis, "0")) for axis in _AXES[:size])


def _multiplied(shape: Shape) -> Shape:
    """A matrix with the factor before it taken into its cells."""
    if shape.text.endswith(")^{T}"):
        row = read_shape(shape.text.removesuffix("^{T}"))
        return replace(row, name=shape.name) if row.kind is AnswerShape.TUPLE else shape
    found = _SCALED.fullmatch(shape.text) if shape.kind is AnswerShape.LEAF else None
    matrix = read_shape(found[2]) if found else shape
    if found is None or matrix.kind is not AnswerShape.MATRIX:
        return shape
    cells = tuple(read_shape(_product(found[1], cell.text)) for cell in matrix.members)
    return replace(matrix, members=cells, name=shape.name)


def _product(factor: str, cell: str) -> str:
    if factor == "-":
        factor = "-1"
    numbers = [read_number(text) for text in (factor, cell)]
    if numbers[0] is None or numbers[1] is None:
        return f"({factor})\\cdot ({cell})"
    value: Fraction = numbers[0].value * numbers[1].value
    sign = "-" if value < 0 else ""
    whole = value.denominator == 1
    return f"{value}" if whole else f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
