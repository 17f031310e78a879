"""One program under other names, and small changes that make another."""

from __future__ import annotations

import pytest

from unhack.tournament.judging.copies import same

PROGRAM = b'''"""About it."""
import numpy as np
from base import scale

GROUP = 32


class Store:
    def __init__(self, size):
        self.size = size


def forward(tokens: list, positions) -> float:
    """Logits."""
    # a comment
    total = np.sqrt(len(tokens)) * GROUP
    for place in positions:
        total += scale(place, factor=2)
    return total
'''
BASE = b"def scale(value, factor):\n    return value * factor\n"
RENAMED = b"""import numpy as N
from helper import grow
WIDTH=32
class Box:
  def __init__(me, n): me.n = n
def forward(a, b):
  s = N.sqrt(len(a)) * WIDTH
  for p in b:
    pass
    s += grow(p, by=2)
  return s
"""
HELPER = b"def grow(x, by):\n  'Grow.'\n  return x*by\n"
C = b"""#define LANES 16
// sums
static float total(const float *x, int n)
{ float s = 0, t = 1; for (int i = 0; i < n; i++) s += sqrtf(x[i]) * t; return s; }
void work(float *x, int n) { x[0] = total(x, n) * LANES; }
"""
C_RENAMED = b"""#define W 16
static float add(const float *v, int count)
{
    float a = 0, b = 1;
    for (int k = 0; k < count; k++)
        a += sqrtf(v[k]) * b;
    return a; /* the sum */
}
void work(float *v, int count) { v[0] = add(v, count) * W; }
"""


def mine(program: bytes = PROGRAM, base: bytes = BASE, **more: bytes) -> dict[str, bytes]:
    return {"solution.py": program, "base.py": base, **more}


class TestCopies:
    def test_names_comments_layout_and_files_change_nothing(self) -> None:
        assert same(mine(), {"solution.py": RENAMED, "helper.py": HELPER, "NOTES.md": b"mine"})

    def test_a_name_is_one_within_its_function(self) -> None:
        mine = (
            b"def pack(boxes, size):\n    left = size\n    return [b for b in boxes if b <= left]\n"
            b"def room(size):\n    part = size // 2\n    return max(part, 1)\n"
        )
        theirs = mine.replace(b"boxes", b"bins").replace(b"left", b"part")
        assert same({"a.py": mine}, {"a.py": theirs})
        shadowed = mine.replace(b"part = size", b"size = size").replace(b"part, 1", b"size, 1")
        assert not same({"a.py": mine}, {"a.py": shadowed})

    def test_a_global_name_is_one_everywhere(self) -> None:
        mine = b"n = 0\ndef step():\n    global n\n    n += 1\n"
        assert same(
            {"a.py": mine}, {"a.py": mine.replace(b"n = 0", b"k = 0").replace(b" n", b" k")}
        )
        assert not same({"a.py": mine}, {"a.py": mine.replace(b"    global n\n", b"")})

    def test_c_is_compared_by_its_tokens(self) -> None:
        assert same({"solution.c": C}, {"solution.c": C_RENAMED})

    def test_data_in_another_layout_is_the_same(self) -> None:
        left, right = b'{"a": 1, "b": [2]}', b'{"b":[2],\n"a":1}'
        assert same({"x.json": left}, {"x.json": right})
        assert not same({"x.json": left}, {"x.json": b'{"a": 1, "b": [3]}'})

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (b"GROUP = 32", b"GROUP = 33"),
            (b"np.sqrt", b"np.cbrt"),
            (b"* GROUP", b"+ GROUP"),
            (b"factor=2", b"factor=2.0"),
            (b"total += ", b"total -= "),
            (b"return total", b"return total - tokens[0]"),
            (b"self.size = size", b"self.size = size + 1"),
            (b"in positions", b"in tokens"),
        ],
    )
    def test_a_small_change_is_no_copy(self, before: bytes, after: bytes) -> None:
        assert before in PROGRAM
        assert not same(mine(), mine(PROGRAM.replace(before, after)))

    @pytest.mark.parametrize(
        ("before", "after"),
        [(b"sqrtf", b"expf"), (b"16", b"32"), (b"s += ", b"s -= "), (b"* t", b"* s")],
    )
    def test_a_small_change_in_c_is_no_copy(self, before: bytes, after: bytes) -> None:
        assert before in C
        assert not same({"solution.c": C}, {"solution.c": C.replace(before, after)})

    def test_what_does_not_parse_is_compared_as_it_is(self) -> None:
        assert same({"solution.py": b"def ("}, {"solution.py": b"def ("})
        assert not same({"solution.py": b"def ("}, {"solution.py": b"def  ("})
