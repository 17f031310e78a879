"""Leaks: the judge's tests or the reference, found in what the agent is given.

    leaks(task, [other suites of the same repository])

A shingle is eight tokens in a row. Those that other draws of the same suite have as well are the
repository's way to talk, not the answer; what is left must not stand in the statement or a file.

Covered: the statement, every file of the start state, caches and histories that must not be there.
Not covered: what the sandbox adds around the workspace.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping

from unhack.environments.task import RepositoryTask
from unhack_suites.repos.shingles import of_assertions, shingles

_UNWANTED = (".git/", ".pyc", "__pycache__", "build/", ".egg-info", ".pytest_cache")


def leaks(task: RepositoryTask, others: Iterable[Mapping[str, str]]) -> list[str]:
    """Parts of the tests or the reference that the agent can read, as `place: shingle`."""
    usual = {one for suite in others for text in suite.values() for one in shingles(text)}
    secret = {one for text in task.tests.values() for one in of_assertions(text)} - usual
    code = [data.decode() for path, data in task.files.items() if task.may_change(path)]
    added = {one for text in _added(task) for one in shingles(text)}
    added -= {one for text in code for one in shingles(text)}
    found = [f"unwanted file: {path}" for path in task.files if any(w in path for w in _UNWANTED)]
    for place, text in _given(task):
        mine = shingles(text)
        found += [f"{place}: {' '.join(one)}" for one in sorted(mine & secret)]
        if not place.endswith(".py") or place.startswith("tests/"):
            found += [f"{place}: {' '.join(one)}" for one in sorted(mine & added)]
    return found


def _given(task: RepositoryTask) -> Iterable[tuple[str, str]]:
    yield "statement", task.statement
    for path, data in task.files.items():
        yield path, data.decode("utf-8", "replace")


def _added(task: RepositoryTask) -> Iterable[str]:
    """The lines that the reference adds, in blocks."""
    for path, text in task.reference.items():
        before = task.files.get(path, b"").decode("utf-8", "replace").splitlines()
        after = _without_docstrings(text or "").splitlines()
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for tag, _, _, low, high in matcher.get_opcodes():
            if tag in ("insert", "replace"):
                yield "\n".join(after[low:high])


def _without_docstrings(text: str) -> str:
    """A module with its docstrings blanked: they say what the statement has to say too."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            assert node.end_lineno is not None
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "\n".join(lines)
