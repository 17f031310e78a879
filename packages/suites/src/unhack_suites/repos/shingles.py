"""Shingles: eight tokens in a row, by which copied text is found.

Covered: hidden tests whose questions and answers stand in what the agent is given.
Not covered: the same question in other words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

_TOKEN = re.compile(r"\w+|[^\w\s]")
_LENGTH = 8


def shingles(text: str) -> set[tuple[str, ...]]:
    """Every run of eight tokens."""
    tokens = _TOKEN.findall(text)
    return {tuple(tokens[at : at + _LENGTH]) for at in range(len(tokens) - _LENGTH + 1)}


def of_assertions(text: str) -> set[tuple[str, ...]]:
    """The shingles of the assertions of a test file: questions with their answers."""
    lines = [line for line in text.splitlines() if line.strip().startswith("assert")]
    return {one for line in lines for one in shingles(line)}


def without_shared(
    suite: Mapping[str, str], given: Iterable[str], others: Iterable[Mapping[str, str]]
) -> dict[str, str]:
    """A suite without the tests that share an assertion's shingle with a given text.

    What `others`, further draws of the same suite, have as well is the usual wording and stays.
    """
    usual = {one for other in others for text in other.values() for one in shingles(text)}
    known = {one for text in given for one in shingles(text)} - usual
    found: dict[str, str] = {}
    for path, text in suite.items():
        tests = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        lines = text.splitlines(keepends=True)
        kept = "".join(lines[: tests[0].lineno - 1]).rstrip()
        bodies: list[str] = []
        for node in tests:
            body = "".join(lines[node.lineno - 1 : node.end_lineno])
            if not of_assertions(body) & known:
                bodies.append(body.rstrip())
        if bodies:
            found[path] = "\n\n\n".join([kept, *bodies]) + "\n"
    return found
