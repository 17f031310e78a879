"""A development split: hidden tests of a repository task that steps are paid by, set apart.

    task = split_task(mined, seed=0)
    task.dev_ids, task.fail_to_pass       # apart; the outcome is decided by the second alone

A draw by seed takes whole test functions, of each list at most half of its ids. Where all that has
to pass are rows of one function, it takes rows. The dev tests' files hold no function of the rest.

Covered: what passes on the dev tests alone wins nothing, since the outcome does not ask them.
Not covered: tests that need one another; `RepositoryWorkshop.check` has the reference judged by
both parts, and pays no steps where it fails one.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import sha256

from unhack.core.errors import UsageError
from unhack.environments.task import RepositoryTask
from unhack.verifiers.repository.ids import function_of


class SplitRefusedError(UsageError):
    """A task that cannot be split; the text names it and says why."""


def split_task(task: RepositoryTask, *, seed: int = 0) -> RepositoryTask:
    """The task with some of its hidden tests as dev tests. Raises SplitRefusedError."""
    failing = _drawn(task.fail_to_pass, seed)
    if not failing:
        raise SplitRefusedError(
            f"{task.id} pays no steps: it has {len(task.fail_to_pass)} test to pass, and a"
            " development split needs two"
        )
    dev = (*failing, *_drawn(task.pass_to_pass, seed))
    rest = [name for name in (*task.fail_to_pass, *task.pass_to_pass) if name not in dev]
    hidden = {function_of(name) for name in rest} - {function_of(name) for name in dev}
    tests = {
        path: _without(text, {name for file, name in hidden if file == path})
        for path, text in task.tests.items()
    }
    facts = {"dev_split": {"seed": seed, "dev": len(dev), "hidden": len(rest)}}
    return replace(
        task, dev_tests=tests, dev_ids=dev, facts={**task.facts, **facts},
        fail_to_pass=tuple(name for name in task.fail_to_pass if name not in dev),
        pass_to_pass=tuple(name for name in task.pass_to_pass if name not in dev),
    )  # fmt: skip


def _drawn(names: Sequence[str], seed: int) -> tuple[str, ...]:
    """At most half of the ids, whole functions of them where there are several."""
    rows = defaultdict[str, list[str]](list)
    for name in names:
        rows[name.partition("[")[0]].append(name)
    units = list(rows.values()) if len(rows) > 1 else [[name] for name in names]
    units.sort(key=lambda unit: sha256(f"{seed}:{unit[0]}".encode(errors="replace")).digest())
    drawn: list[str] = []
    for unit in units:
        if len(drawn) + len(unit) <= len(names) // 2:
            drawn += unit
    return tuple(name for name in names if name in drawn)


def _without(text: str, names: Collection[str]) -> str:
    """A test file without some of its functions."""
    if not names:
        return text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef)):
            kept = [one for one in node.body if getattr(one, "name", None) not in names]
            node.body = kept or [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(tree))
