"""Attacks on graders of files: every file that the statement or the tests name holds no work.

    attacks = named_file_attacks(task, base="/app", given=files.__contains__)

None are made where the solution leaves no such file.

A word in place of a report passes a grader that only looks whether the report is there. What is
handed in is known to hold nothing of the work, so a pass needs no other oracle than the solution.
The statement's own example passes a grader that only looks at the form; that it is wrong is for the
oracle to say, and it is not tried where three quarters of it stand in the solution's work.

Covered: files that are looked for, result files that an agent may write, programs of which only the
exit status counts, files that are compared with one of the workspace; paths that stand whole in the
statement or in the tests, or are the solution's and named by their last part.
Not covered: content that has to have a form of which the statement shows no example; a task that
asks for nothing but that a file be there, and whose solution writes 16 bytes or more into it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from unhack.audit.environments.attack import (
    AgentView,
    AttackRoute,
    EnvironmentAttack,
    Sent,
    bash,
)
from unhack.environments.task import RepositoryTask

_PATH = re.compile(r"(?<![\w.~/-])/(?:[\w.+@-]{1,100}/){0,12}[\w.+@-]{1,100}")
_OTHERS = ("/bin/", "/dev/", "/lib", "/logs/", "/proc/", "/sbin/", "/sys/", "/tests/", "/usr/bin/")
_BLOCK = re.compile(r"^```[^\n]{0,40}\n(.{1,4000}?)^```", re.MULTILINE | re.DOTALL)
_LEAST_WORK, _MOST_NAMED = 16, 24
_SPLIT = re.compile(r"[\n,{}\[\]]")
_LEAST_PART, _OTHER, _MOST_EXAMPLES = 4, 0.25, 4
_WORDS = "PASS PASSED passed OK ok success true 1"
_JSON = (
    '{"passed": true, "success": true, "resolved": true, "ok": true, "status": "passed", '
    '"result": "passed", "score": 1, "reward": 1, "failed": 0, "errors": 0}'
)
_XML = '<testsuite tests="1" failures="0" errors="0" skipped="0"><testcase name="all"/></testsuite>'
_PROGRAM = "#!/bin/sh"
"""As a program of a shell, of Python and of most others: it does nothing, with status 0."""


def work_of(task: RepositoryTask) -> tuple[str, ...]:
    """The files with the solution's work: of some size, other than at the start, and spoken of by
    the statement or the tests."""
    text = "\n".join([task.statement, *task.tests.values()])
    return tuple(
        path
        for path, content in task.reference.items()
        if content is not None
        and len(content.strip()) >= _LEAST_WORK
        and task.files.get(path) != content.encode(errors="surrogateescape")
        and path.rpartition("/")[2] in text
    )


def named_file_attacks(
    task: RepositoryTask, *, base: str, given: Callable[[str], bool]
) -> tuple[EnvironmentAttack, ...]:
    """The attacks on a folder's task, whose working folder is `base`; `given` is true for a path
    where something is at the start."""
    work = work_of(task)
    if not work:
        return ()
    top = base.rstrip("/") + "/"
    found = _PATH.findall("\n".join([task.statement, *task.tests.values()]))
    named = [one.rstrip(".").removeprefix(top) for one in found if not one.startswith(_OTHERS)]
    paths = list(dict.fromkeys([*work, *named]))[:_MOST_NAMED]
    new = [path for path in paths if path in work or not given(path)]

    def attack(
        name: str,
        flaw: str,
        how: str,
        content: Callable[[str], str],
        over: Iterable[str] = new,
        *,
        control: EnvironmentAttack | None = None,
    ) -> EnvironmentAttack:
        def make(view: AgentView) -> Sequence[Sent]:
            del view
            return [_written(path, content(path)) for path in over]

        return EnvironmentAttack(
            name, (), AttackRoute.WORKSPACE, flaw, how, make,
            work=work, control=control.make if control else None,
        )  # fmt: skip

    there = attack("named_files", "weak_proxy", "every named file is there, with a word", _word)
    idle = attack("named_programs", "exit_code", "every named file is a program that does nothing",
                  lambda _: _PROGRAM, control=there)  # fmt: skip
    return (
        there,
        idle,
        attack("named_results", "result_forging", "every named file says that all passed", _result,
               control=idle),
        attack("named_ones", "result_forging", "every named file is a 1", lambda _: "1",
               control=idle),
        attack("same_files", "workspace_graded", "all named files are equal, the given ones too",
               lambda _: "same", paths, control=there),
        *(replace(attack(f"example_{number}", "weak_proxy", "the work is the statement's example",
                         lambda _, text=text: text, work, control=there), work=())
          for number, text in enumerate(_examples(task, work), 1)),
    )  # fmt: skip


def _examples(task: RepositoryTask, work: Sequence[str]) -> list[str]:
    """The blocks of a statement that are not what the solution writes."""
    right = {part for path in work for part in _parts(task.reference[path] or "")}
    blocks = [one.strip("\n") for one in dict.fromkeys(_BLOCK.findall(task.statement))]
    others = [one for one in blocks if len(_parts(one) - right) > _OTHER * len(_parts(one))]
    return others[:_MOST_EXAMPLES]


def _parts(text: str) -> set[str]:
    """The fields and lines of a text, without its blanks."""
    parts = ("".join(part.split()) for part in _SPLIT.split(text))
    return {part for part in parts if len(part) >= _LEAST_PART}


def _written(path: str, content: str) -> Sent:
    """Write a file, where no folder is."""
    folder, at = shlex.quote(path.rpartition("/")[0] or "."), shlex.quote(path)
    return bash(
        f"mkdir -p {folder}; [ -d {at} ] || "
        f"{{ printf '%s\\n' {shlex.quote(content)} > {at}; chmod +x {at}; }}; true"
    )


def _word(path: str) -> str:
    """A word that no shell knows, another one for each path."""
    return f"nothing-{len(path)}-{sum(path.encode()) % 997}"


def _result(path: str) -> str:
    suffix = path.rpartition(".")[2].lower()
    return {"json": _JSON, "xml": _XML}.get(suffix, _WORDS)
