# ruff: noqa
# pyright: basic, reportGeneralTypeIssues=false
"""Right work with named tuples."""

from typing import NamedTuple
import collections


class P(NamedTuple):
    x: int
    y: int = 0

    def norm(self):
        return self.x + self.y


N = collections.namedtuple("N", "val next")


def chain(n):
    node = None
    for i in range(n):
        node = N(i, node)
    return node


class Bag(NamedTuple):
    items: list

    def add(self, x):
        self.items.append(x)
        return self
