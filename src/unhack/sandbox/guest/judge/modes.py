"""Trusted code that looks at claims: checkers, and verifiers that were written to import the
solution.

    check     `check(*values)` for each item                       [index, passed, score, reason]
    script    a `verify(solution_path, test_cases_path)` script    [0, score, reason]
    pytest    judge-owned test files                               [name, passed, score, reason]
    repository  test files of a repository, each asked-for test by itself    [id, passed, reason]

In a sealed `script` or `pytest` the solution is not in this process: importing it gives proxies
whose use crosses to the candidate (`judge.modules`, `judge.proxies`). With `as_written` its
source is written beside the script and runs here, as its author meant it; then the result is marked
so, for it can be forged.

A line `[null, kind, text]` says that the judge could not judge: `raised`, `seal` or `shape`; or,
with `timeout`, that it waited for the candidate for as long as it may; or, with `ended`, that the
candidate's process was gone by then.
"""

from __future__ import annotations

import io
import os
import sys
import types
from typing import Any, cast

from unhack.core import plain
from unhack.sandbox.guest.candidate import runner, trees
from unhack.sandbox.guest.judge import modules, packages, text_modes
from unhack.sandbox.guest.judge.connection import CandidateConnection
from unhack.sandbox.guest.judge.pytest_runs import repositories, test_files
from unhack.sandbox.guest.reward import call, scores, session

HOME = "/scratch/work"


def _load_trusted(name: str, source: str, path: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    return module


def _fault(channel: runner.Channel, kind: str, error: BaseException | str) -> int:
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    channel.send([None, kind, text[:1000]])
    return 0


def run_check(job: dict[str, Any], channel: runner.Channel) -> int:
    """Mode `check`."""
    try:
        check = _load_trusted("checker", job["source"], "checker.py").check
    except BaseException as error:
        return _fault(channel, "raised", error)
    for index, values in job["items"]:
        try:
            value = check(*plain.decode_tags(values))
        except BaseException as error:
            return _fault(channel, "raised", error)
        score = scores.read_score(value)
        if score is None:
            return _fault(channel, "shape", f"check returned {value!r:.100}, not a bool or [0, 1]")
        reason = "" if score == 1.0 else "rejected by the checker"
        channel.send([index, score == 1.0, score, reason])
    return 0


def _write_files(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = os.path.join(HOME, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
    sys.path.insert(0, HOME)


def _prepare(job: dict[str, Any]) -> CandidateConnection | None:
    """Put the files in place; the seal, unless the script runs as written."""
    _write_files(job["files"])
    trees.write(job.get("support", {}), (), adapted=False)
    if job["as_written"]:
        _write_files({f"{name}.py": source for name, source in job["modules"].items()})
        trees.write(job.get("tree", {}), job.get("roots", ()))
        packages.forget(job.get("packages", ()))
        return None
    seal = CandidateConnection(
        list(job["modules"]), wait_s=job["wait_s"], declared=job.get("objects", ())
    )
    seal.installed = tuple(name.partition(".")[0] for name in job.get("installed", ()))
    _write_files({f"{name}.py": modules.stub(name) for name in job["modules"]})
    seal.open()
    imports = modules.Imports(seal, HOME)
    seal.forget_stale = imports.forget_stale
    imports.install()
    if job.get("packages"):
        found = packages.PackageImports(
            seal, imports, HOME, tops=job["packages"], roots=job["roots"]
        )
        found.install()
        seal.process_state.deliver(seal.process_state.earlier)
    return seal


def _seal_fault(channel: runner.Channel, seal: CandidateConnection, *, is_stopped: bool) -> bool:
    """Say why there is no result, and that it is the solution's own doing where it has ended; False
    when there may be one. `is_stopped`: the script came to no result."""
    if seal.timed_out:
        _fault(channel, "timeout", "")
    elif seal.ended and (is_stopped or seal.violation):
        _fault(channel, "ended", seal.ended)
    elif seal.violation:
        _fault(channel, "seal", seal.violation)
    else:
        return False
    return True


def run_script(job: dict[str, Any], channel: runner.Channel) -> int:
    """Mode `script`."""
    seal = _prepare(job)
    if seal is not None and not seal.loaded:
        _seal_fault(channel, seal, is_stopped=True)
        return 0
    send_each = channel.send
    solution = os.path.join(HOME, f"{next(iter(job['modules']))}.py")
    cases = os.path.join(HOME, job["cases_name"])
    path = os.path.join(HOME, "verifier.py")
    stdout, sys.stdout = sys.stdout, io.StringIO()
    if seal is not None:
        seal.process_state.own_stdout = sys.stdout
    sys.argv[:] = [path, solution, cases]
    value: Any = None
    problem: BaseException | None = None
    try:
        module = _load_trusted("verifier", job["script"], path)
        if "verify" in module.__dict__:
            value = module.verify(solution, cases)
    except SystemExit as error:
        problem = error if error.code not in (None, 0) else None
    except BaseException as error:
        problem = error
    printed, sys.stdout = sys.stdout.getvalue(), stdout
    if seal is not None and _seal_fault(channel, seal, is_stopped=problem is not None):
        return 0
    if problem is not None:
        return _fault(channel, "raised", problem)
    value = value if value is not None else scores.last_json(printed)
    try:
        score = scores.read_score(value)
        told = _reason(value) if score is not None else f"{value!r:.100}"
    except Exception as error:  # it is made of objects of the solution, which refuse
        return _fault(channel, "seal" if seal is not None and seal.violation else "raised", error)
    if score is None:
        return _fault(channel, "shape", f"the verifier gave {told}, not a score in [0, 1]")
    send_each([0, score == 1.0, score, told])
    return 0


def _reason(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    answer = cast("dict[str, Any]", value)
    return str(answer.get("reason", answer.get("message", "")))[:300]


def run_pytest(job: dict[str, Any], channel: runner.Channel) -> int:
    """Mode `pytest`."""
    seal = _prepare(job)
    if seal is not None and not seal.loaded:
        _seal_fault(channel, seal, is_stopped=True)
        return 0
    _write_files({"_judge.ini": "[pytest]\n"})  # so that no other configuration is looked for
    collector, problem = test_files.run(job, HOME, seal)
    is_stopped = bool(problem or collector.uncollected)
    if seal is not None and _seal_fault(channel, seal, is_stopped=is_stopped):
        return 0
    if problem:
        return _fault(channel, "raised", problem)
    if collector.uncollected:
        return _fault(channel, "raised", f"collecting {collector.uncollected}")
    if not collector.seen:
        return _fault(
            channel, "shape", "no test was collected, or the suite itself skips every one"
        )
    for name, (passed, reason) in collector.seen.items():
        channel.send([name, passed, float(passed), reason])
    return 0


def run_repository(job: dict[str, Any], channel: runner.Channel) -> int:
    """Mode `repository` (see `judge.repositories`)."""
    seal = _prepare(job)
    problem = repositories.run(job, HOME, channel, seal=seal)
    if seal is not None and seal.timed_out:
        return _fault(channel, "timeout", "")
    if problem and not (seal is not None and seal.ended):
        return _fault(channel, "raised", problem)
    return 0


runner.MODES.update(check=run_check, script=run_script, pytest=run_pytest)
runner.MODES.update(repository=run_repository)
runner.MODES.update(reward=call.run, session=session.run)
runner.MODES.update(text_modes.MODES)
runner.WARM_UPS.append(text_modes.warm_up)
