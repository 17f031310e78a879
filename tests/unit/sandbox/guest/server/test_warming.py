"""What is made after the gaps are filled stands together, as what a job makes will."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from unhack.sandbox.guest.server import warming
size, fills = {size}, {fills}
empty = bytes().__sizeof__()
kept = [bytes(size - empty) for _ in range(600)]
del kept[::2]  # gaps, each between two objects that stay
if fills:
    warming._fill_gaps()
places = [0] * 16
fresh = [bytes(size - empty) for _ in range(16)]
for number, item in enumerate(fresh):
    places[number] = id(item)
print(json.dumps(places))
"""
SIZES = [64, 128, 256, 512, 768, 1024, 2048]
"""The last three are the C library's to place."""


def followers(size: int, *, fills: bool) -> int:
    """How many of 15 new objects of a size stand right after the one before, made after every
    second one of 600 was given back. One or two have their place from what the program itself
    gave back meanwhile."""
    program = PROGRAM.format(size=size, fills=fills)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    pairs = itertools.pairwise(json.loads(done.stdout))
    return sum(size <= after - before <= size + 32 for before, after in pairs)


@pytest.mark.parametrize("size", SIZES)
def test_new_objects_follow_each_other(size: int) -> None:
    assert followers(size, fills=True) >= 10


@pytest.mark.parametrize("size", SIZES)
def test_without_it_they_stand_in_the_gaps(size: int) -> None:
    assert followers(size, fills=False) <= 2


def test_a_memory_that_is_cut_up_otherwise_ends_the_search() -> None:
    """The C library may place small objects too: `PYTHONMALLOC` says so."""
    program = "from unhack.sandbox.guest.server import warming; warming.settle_memory()"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={**os.environ, "PYTHONMALLOC": "malloc"}, check=False)
    assert done.returncode == 0
