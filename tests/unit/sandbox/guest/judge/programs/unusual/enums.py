# ruff: noqa
# pyright: basic, reportGeneralTypeIssues=false
"""Right work with enums."""

import enum


class Color(enum.StrEnum):
    RED = "RED"
    BLUE = "b"


class Kind(str, enum.Enum):
    A = "A"
    B = "b"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Perm(enum.IntFlag):
    R = 4
    W = 2


class Plain(enum.Enum):
    X = 1

    def title(self):
        return self.name.title()
