# ruff: noqa
# pyright: basic, reportGeneralTypeIssues=false
"""Right work with star import."""

__all__ = ["f", "_h"]


def f():
    return 1


def _h():
    return 2


def g():
    return 3
