"""Tests for a commit that has none: calls that give something else with it, found by running both.

    task = await generated(parts, machinery, name="shapes/0123")

Each side runs all calls twice, in fresh processes that differ in hash seed, time zone and order. A
call is kept where each side gives the same plain data both times. Those on which the sides differ
must pass, some on which they agree must go on to; a few that differ are the statement's examples,
and are not asked again. The tests are judged sealed.

Covered: values, and errors of Python's own.
Not covered: what the commit means: a test says what the code does with it, right or not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

from unhack.environments.sources.mining import call_plugin
from unhack.environments.sources.mining.calls import Call, find_calls, near_calls
from unhack.environments.sources.mining.commit_parts import CommitParts, CommitSkippedError
from unhack.environments.sources.mining.paths import import_roots
from unhack.environments.sources.mining.statement import Examples, told
from unhack.environments.sources.mining.test_runs import LIMITS
from unhack.environments.sources.mining.validation import (
    Machinery,
    agreed_task,
    check_copied,
    secret_of,
)
from unhack.environments.task import RepositoryTask
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command
from unhack.verifiers.script import Mode

MOST_FAILING, MOST_PASSING = 24, 12
_MOST_NEAR = 20
"""Calls that differ, around which more are looked for."""
_FOLDER = "behaviour_tests"
_REPORT = "_unhack_calls.jsonl"
_PLUGIN = "_unhack_calls.py"
_SOURCE = Path(call_plugin.__file__).read_bytes()
_MOST_REPORT = 8 << 20
_NO_RESULT = ("NameError", "AttributeError", "ImportError", "ModuleNotFoundError", "TypeError",
              "RecursionError", "MemoryError", "SyntaxError")  # fmt: skip
"""Errors that say more of a call than of the code."""
Result = tuple[str, str, str]
"""The outcome of a call: see `call_plugin`."""


async def generated(parts: CommitParts, machinery: Machinery, *, name: str) -> RepositoryTask:
    """The task of a commit without tests. Raises CommitSkippedError where nothing is found."""
    calls = find_calls(parts)
    if not calls:
        raise CommitSkippedError("no call of what it changes can be made of literals")
    before, after = await _sides(parts, machinery.pool, calls)
    differ = _differ(before, after)
    if differ:  # look around what was found
        near = near_calls([calls[at] for at in differ[:_MOST_NEAR]])
        calls = list(dict.fromkeys([*calls, *near]))
        before, after = await _sides(parts, machinery.pool, calls)
        differ = _differ(before, after)
    if len(differ) < 2:
        why = f" ({after[-1][1]})" if -1 in after else ""
        raise CommitSkippedError(
            f"{len(differ)} of {len(calls)} calls tell the sides apart, {len(after)} of them have a"
            f" steady result; a task needs 2{why}"
        )
    same = [at for at, one in after.items() if one[0] == "value" and before.get(at) == one]
    check_copied(parts)
    drawn = _in_turn(differ, calls)
    examples = drawn[: max(1, min(6, len(drawn) // 2))]
    failing, passing = drawn[len(examples) :][:MOST_FAILING], _in_turn(same, calls)[:MOST_PASSING]
    tests, ids = _tests(calls, after, sorted([*failing, *passing]))
    statement = _statement(parts, calls, (before, after), examples, count=len(failing))
    facts = {"generated": True, "calls": len(calls), "differ": len(differ)}
    return await agreed_task(
        parts, machinery, id=name, statement=statement, tests=tests,
        fail_to_pass=tuple(ids[at] for at in sorted(failing)),
        pass_to_pass=tuple(ids[at] for at in sorted(passing)), mode=Mode.SEALED, facts=facts,
    )  # fmt: skip


async def _sides(
    parts: CommitParts, pool: CommandPool, calls: Sequence[Call]
) -> tuple[dict[int, Result], dict[int, Result]]:
    before = await _steady(pool, parts.files, calls)
    return before, await _steady(pool, parts.after(), calls)


def _differ(before: Mapping[int, Result], after: Mapping[int, Result]) -> list[int]:
    """The calls that give one thing before and another after."""
    return [at for at, one in after.items()
            if at >= 0 and _tells(one) and before.get(at, one) != one]  # fmt: skip


async def _steady(
    pool: CommandPool, files: Mapping[str, bytes], calls: Sequence[Call]
) -> dict[int, Result]:
    """The result of each call that gave it both times; at -1 a module that cannot be imported."""
    first = await _run(pool, files, calls, back=False)
    second = await _run(pool, files, calls, back=True)
    return {at: one for at, one in first.items() if second.get(at) == one}


async def _run(
    pool: CommandPool, files: Mapping[str, bytes], calls: Sequence[Call], *, back: bool
) -> dict[int, Result]:
    state = pool.states.load({**files, _PLUGIN: _SOURCE})
    plan = {"report": _REPORT, "roots": import_roots(files), "calls": calls, "back": back}
    environ = {"PYTHONHASHSEED": "20231" if back else "0",
               "TZ": "America/St_Johns" if back else "UTC"}  # fmt: skip
    stdin = json.dumps(plan).encode()
    command = Command(("python3", _PLUGIN), stdin=stdin, environ=environ)
    _, left = await pool.run(state, command, limits=LIMITS)
    report = left.read(_REPORT, max_bytes=_MOST_REPORT) or b""
    found: dict[int, Result] = {}
    for line in report.decode(errors="replace").splitlines():
        try:
            row: list[Any] = json.loads(line)
        except ValueError:
            continue
        if len(row) == 4 and type(row[0]) is int and len(str(row[2])) <= 400:
            found[row[0]] = (str(row[1]), str(row[2]), str(row[3]))
    return found


def _tells(result: Result) -> bool:
    return result[0] == "value" or result[1] not in _NO_RESULT


def _in_turn(places: Sequence[int], calls: Sequence[Call]) -> list[int]:
    """Calls of each function in turn, in an order that says nothing."""
    groups: dict[str, list[int]] = {}
    for at in sorted(places, key=lambda at: sha256("\0".join(calls[at]).encode()).digest()):
        groups.setdefault(calls[at][1].partition("(")[0], []).append(at)
    return [at for turn in zip_longest(*groups.values()) for at in turn if at is not None]


def _tests(
    calls: Sequence[Call], results: Mapping[int, Result], chosen: Sequence[int]
) -> tuple[dict[str, str], dict[int, str]]:
    """A test file for each module, and the id of each call's test."""
    texts: dict[str, str] = {}
    names: dict[str, tuple[str, set[str]]] = {}
    ids: dict[int, str] = {}
    for at in chosen:
        module, call = calls[at]
        kind, result, wrap = results[at]
        path = f"{_FOLDER}/test_{module.replace('.', '_')}.py"
        root = call.partition("(")[0].partition(".")[0]
        names.setdefault(path, (module, set()))[1].add(root)
        checked = f"{wrap}({call})" if wrap else call
        body = f"    assert {checked} == {result}\n" if kind == "value" else (
            f"    with pytest.raises({result}):\n        {checked}\n"
        )  # fmt: skip
        texts[path] = texts.get(path, "") + f"\n\ndef test_{root}_{at}():\n{body}"
        ids[at] = f"{path}::test_{root}_{at}"
    heads = {path: f"import pytest\n\nfrom {module} import {', '.join(sorted(found))}\n"
             for path, (module, found) in names.items()}  # fmt: skip
    return {path: heads[path] + text for path, text in texts.items()}, ids


def _statement(
    parts: CommitParts, calls: Sequence[Call], sides: tuple[Mapping[int, Result], ...],
    shown: Sequence[int], *, count: int,
) -> str:  # fmt: skip
    examples = Examples(frozenset(secret_of(parts)))
    for at in shown:
        was, wanted = (_outcome(side.get(at)) for side in sides)
        call = f"{calls[at][0]}.{calls[at][1]}"
        examples.add(f"`{call}` {was}; it is expected that it {wanted}.")
    if not examples.lines:
        raise CommitSkippedError("no example tells what is wanted without quoting the change")
    return told(examples.lines, roots=parts.editable, count=count)


def _outcome(result: Result | None) -> str:
    if result is None:
        return "gives nothing that can be compared"
    wrap = f", as `{result[2]}`" if result[2] else ""
    return f"raises `{result[1]}`" if result[0] == "raises" else f"gives `{result[1]}`{wrap}"
