"""Build: every Python file of a state compiles, asked of a sandboxed interpreter.

The files are compiled where a nested or otherwise hostile text can harm nobody: a text on which the
interpreter dies, or which it does not finish, does not compile.

Covered: texts that crash, exhaust or outlast the compiler; declared encodings; files that did not
compile at the start and were left alone (templates, fixtures) count for nothing; one bad file hides
no other.
Not covered: names that are not there, imports, other languages; a deleted file. Tests see those.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Generator, Mapping

from unhack.environments.steps.score import (
    StateFiles,
    StepJudge,
    StepScore,
    listed,
    python_sources,
    sandbox_trouble,
)
from unhack.environments.task import RepositoryTask
from unhack.sandbox.job import Job, Outcome, Profile
from unhack.sandbox.limits import Limits
from unhack.verifiers import jobs

LIMITS = Limits(wall_s=20.0, cpu_s=10.0)
_MAX_DEATHS = 3
"""Files that may kill a job before the rest counts as not compiling."""
_MAX_BYTES = 8 << 20
"""Of all files of one job."""
_SHOWN = 200
_COMPILE = """
import base64, json, sys, warnings
warnings.simplefilter("ignore")
for name, data in json.load(sys.stdin):
    try:
        compile(base64.b64decode(data), "<file>", "exec", dont_inherit=True)
        problem = ""
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"[:200]
    print(json.dumps([name, problem]), flush=True)
"""


def judge_build(task: RepositoryTask, before: StateFiles, after: StateFiles) -> StepJudge:
    """1 when every Python file of `after` compiles that the start state did not hold as it is."""
    known = task.files
    changed = python_sources(after, unlike=known)
    problems = yield from compile_problems(changed)
    if isinstance(problems, str):
        return StepScore("build", None, f"the sandbox could not compile the files: {problems}")
    new = {path for path in problems if before.get(path) != after[path]}
    evidence = {"compiled": len(changed), "problems": problems, "changed_by_step": sorted(new)}
    if not problems:
        return StepScore("build", 1.0, f"{len(changed)} changed Python files compile", evidence)
    first = min(problems)
    reason = f"{listed(problems)} do not compile: {problems[first]}"
    return StepScore("build", 0.0, reason[:_SHOWN], evidence)


def compile_problems(
    sources: Mapping[str, bytes], *, program: str = _COMPILE
) -> Generator[list[Job], list[Outcome], dict[str, str] | str]:
    """path -> problem for the sources that do not compile, or a text where the sandbox itself
    failed. Another `program` says other words of them."""
    problems = dict[str, str]()
    left = dict(sources)
    large = [path for path, data in left.items() if len(data) > _MAX_BYTES]
    for path in large:
        problems[path] = f"larger than {_MAX_BYTES} bytes"
        del left[path]
    deaths = 0
    while left:
        batch = _batch(left)
        [outcome] = yield [_job(batch, program)]
        trouble = sandbox_trouble(outcome)
        if trouble:
            return trouble
        said = _said(outcome, batch)
        problems |= {path: problem for path, problem in said.items() if problem}
        for path in said:
            del left[path]
        if len(said) == len(batch):
            continue
        fatal = next(path for path in batch if path not in said)
        problems[fatal] = f"the compiler ended on it ({outcome.limit or outcome.ending.value})"
        del left[fatal]
        deaths += 1
        if deaths >= _MAX_DEATHS:
            problems |= dict.fromkeys(left, "not reached: the compiler ended on others before")
            break
    return problems


def _batch(left: Mapping[str, bytes]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    size = 0
    for path, data in left.items():
        size += len(data)
        if found and size > _MAX_BYTES:
            break
        found[path] = data
    return found


def _job(batch: Mapping[str, bytes], program: str) -> Job:
    # names stay here: the job knows numbers, so no name can forge a line of its answer
    packed = [[at, base64.b64encode(data).decode()] for at, data in enumerate(batch.values())]
    stdin = json.dumps(packed).encode()
    return jobs.main(program, stdin=stdin, limits=LIMITS, profile=Profile())


def _said(outcome: Outcome, batch: Mapping[str, bytes]) -> dict[str, str]:
    """path -> problem, empty for none, as far as the job came."""
    names = list(batch)
    found: dict[str, str] = {}
    for line in outcome.stdout.splitlines():
        try:
            at, problem = json.loads(line)
            found[names[at]] = str(problem)
        except (ValueError, TypeError, IndexError):
            continue
    return found
