"""`load_subject`: the subject that a user's target names.

    load_subject("strings/knit-rows")                     a task or a suite of ours
    load_subject("./my-task")                             a folder with task.toml or verifier.py
    load_subject("pkg.rewards:score", problems=rows)      a Python function
    load_subject("rewards.py", problems=rows)             the reward function of a file

Covered: complaints that name file and line; the form in which a function wants its answers, found
by trying when no correct completion is given.
Not covered: environments with several turns.
"""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from unhack.audit.oracle.examples import examples_of
from unhack.audit.oracle.own_oracle import with_solver
from unhack.audit.subject import AuditProblem, Subject
from unhack.audit.subjects.function_subject import LIMITS, FunctionSubject, Script
from unhack.audit.subjects.inputs.functions_inside import find_function
from unhack.audit.subjects.inputs.own_problems import SUMS, drill, drilled
from unhack.audit.subjects.inputs.right_completions import fit_answers, with_right_completions
from unhack.audit.subjects.outcomes import TrialRuns
from unhack.audit.subjects.problem_rows import folder_cases, read_problems
from unhack.audit.subjects.recording import is_program, with_recorded
from unhack.audit.subjects.signatures import NAMES, Signature, detect
from unhack.audit.subjects.target import Module, Target, definitions, module_of
from unhack.audit.subjects.task_subject import TaskSubject
from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.job import Backend
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import shared_pool
from unhack.tasks.directory import SCRIPT_CASES, TaskFolder, read_folder
from unhack.tasks.reading import fault, read_text, read_text_if_there
from unhack.tasks.settings import ScriptOptions
from unhack.tasks.suite import find_tasks
from unhack.verifiers.script import Mode

_MOST = 40
"""Problems that are looked at."""
CUT_OFF = "the search for right completions was cut off where half of --seconds or --calls was used"
"""Among the facts that were assumed: more time may show another."""


@dataclass(frozen=True, slots=True)
class FunctionInputs:
    """The facts that a user gives of a function beyond its name: all else is found by trying.

    Example:

        load_subject("reward.py:score", inputs=FunctionInputs(bind={"gold": "sol"}))
    """

    bind: Mapping[str, str] = field(default_factory=dict[str, str])
    """Roles and parameters or columns (`inputs.readings.bound`)."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables of the environment that it reads."""
    calls: int = 6000
    """Runs of the verifier that the audit may make; finding the inputs takes half of them at most
    (`FunctionSubject.runs` holds how many it took)."""
    oracle: Path | None = None
    """The user's oracle, whose `right(row)` gives right completions of rows without one."""


_NOTHING_SAID = FunctionInputs()


def load_subject(
    target: str | Path,
    *,
    problems: str | Path | None = None,
    signature: str | None = None,
    inputs: FunctionInputs = _NOTHING_SAID,
    seconds: float = 120.0,
    backend: Backend | None = None,
) -> Subject:
    """The subject that `target` names.

    `problems` is a JSONL of rows for a function, `signature` one of `signatures.NAMES`. Functions
    are loaded once, in the sandbox, in at most half of `seconds`; of more than 40 rows, 40 are
    taken, evenly spread.

    Raises UsageError (TaskError, UnknownNameError) for what the caller can fix, with file and line
    where there is one; SandboxUnavailableError.
    """
    if signature is not None and signature not in NAMES:
        raise UnknownNameError("signature", signature, valid=NAMES)
    target, path = str(target), Path(target)
    if path.is_dir() and _is_script(path):
        return _script_folder(path, backend=backend)
    if _is_function(target):
        found, text = find_function(target)
        chosen = _signature(target, found, signature)
        rows = _rows(found, None if problems is None else Path(problems))
        some = rows if len(rows) <= _MOST else spread(rows, _MOST)
        some = with_solver(some, inputs.oracle, backend)
        timed = DeadlineBackend(backend or shared_pool(), until=time.monotonic() + seconds / 2)
        subject = FunctionSubject(
            target, found, chosen, some, load_s=seconds / 2, backend=timed, of=len(rows),
            text=text, environ=tuple(inputs.environ.items()), drilled=not rows,
            runs=TrialRuns(inputs.calls // 2),
            assumed=() if ":" in target else (f"{found.entry} gives the score",),
        )  # fmt: skip
        make = with_right_completions if rows else drilled
        subject = make(subject, inputs.bind)
        if timed.passed or subject.runs.cut:
            assumed = (*subject.assumed, CUT_OFF)
            subject = subject.with_inputs(subject.signature, assumed=assumed)
        return subject.with_problems(_with_recorded(subject)).with_backend(backend)
    refused = {"problems": problems, "signature": signature, "bindings": inputs.bind}
    for name, value in {**refused, "environment": inputs.environ}.items():
        if value:
            raise UsageError(f"{target} is a task, which takes no {name}")
    return TaskSubject(target, find_tasks(target), backend)


def load_function(
    target: str,
    *,
    problems: str | Path | None = None,
    rows: Sequence[AuditProblem] = (),
    seconds: float = 120.0,
    backend: Backend | None = None,
) -> FunctionSubject:
    """A function with all of its rows, to be called rather than audited.

    `rows` are problems that are known already and stay as they are; without them those of the file
    `problems`, or beside the function, with answers in the shape that it rewards. Raises UsageError
    (TaskError), SandboxUnavailableError.
    """
    found, text = find_function(target)
    chosen = _signature(target, found, None)
    some = tuple(rows) or _rows(found, None if problems is None else Path(problems))
    some = some or drill(found, SUMS)
    subject = FunctionSubject(
        target, found, chosen, some, load_s=seconds, backend=backend, text=text
    )
    _ = subject.loaded  # complains at once
    return subject if rows else subject.with_problems(fit_answers(subject))


def _signature(target: str, found: Target, name: str | None) -> Signature:
    chosen = detect(found, name=name)
    if chosen.name == "script":
        raise UsageError(f"{target}: name the folder of a verifier script, not its function")
    return chosen


def _is_function(target: str) -> bool:
    return target.endswith((".py", ".ipynb")) or ":" in target


def _is_script(path: Path) -> bool:
    """Tell whether a folder holds a verifier script that is run as it was written."""
    if not (path / "verifier.py").is_file():
        return False
    if not (path / "task.toml").is_file():
        return True
    options = read_folder(path).options
    sealed = "mode" in options.model_fields_set and getattr(options, "mode", None) is Mode.SEALED
    return isinstance(options, ScriptOptions) and not sealed


def _rows(target: Target, problems: Path | None) -> tuple[AuditProblem, ...]:
    """The problems of a function; none where nothing gives any."""
    beside = problems or _rows_beside(target.module)
    return read_problems(beside) if beside is not None else ()


def spread(rows: Sequence[AuditProblem], count: int) -> tuple[AuditProblem, ...]:
    """So many of them, at even distances."""
    return tuple(rows[number * len(rows) // count] for number in range(count))


def _rows_beside(module: Module) -> Path | None:
    """A file of problems that stands beside a file target."""
    if module.installed:
        return None
    paths = [module.path.with_suffix(".jsonl"), module.path.parent / "problems.jsonl"]
    return next((path for path in paths if path.is_file()), None)


def comes_without_rows(target: str, problems: str | Path | None) -> bool:
    """Tell whether a target is a function for which neither `problems` nor a file beside it has
    rows. Raises UsageError."""
    if problems is not None or not _is_function(target) or Path(target).is_dir():
        return False
    return _rows_beside(module_of(target)[0]) is None


# A folder with a verifier script.


def _script_folder(path: Path, *, backend: Backend | None) -> FunctionSubject:
    path = path.resolve()
    file = path / "verifier.py"
    module = Module(file, "verifier", path)
    functions = {
        node.name: node
        for node in definitions(module.tree.body)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    function = functions.get("verify")
    settings = read_folder(path) if (path / "task.toml").is_file() else None
    options = settings.options if settings is not None else None
    script = Script(
        solution=options.solution if isinstance(options, ScriptOptions) else "solution.py",
        cases=_cases_name(path, options if isinstance(options, ScriptOptions) else None),
    )
    target = Target(module, "verify" if function else "", function, module)
    names = ("solution_path", "test_cases_path")
    count = 2 if function is None or function.args.vararg else len(function.args.args)
    if function is not None and count == 0:
        raise fault(file, "`verify` takes no solution_path", line=function.lineno)
    shape = Signature("script", names[:count], positional_only=2)
    problem = _folder_problem(path, script, settings)
    limits = LIMITS if settings is None else _limits(settings.limits)
    subject = FunctionSubject(path.name, target, shape, (problem,), script, limits, backend=backend)
    return replace(subject, problems=_with_recorded(subject))


def _with_recorded(subject: FunctionSubject) -> tuple[AuditProblem, ...]:
    """The problems, with the calls that the verifier makes of their first correct programs: those
    of a script always, of a function where no calls are given."""
    asked = [
        one
        for one in subject.problems
        if one.correct
        and (subject.script is not None or not one.calls)
        and (one.is_code or is_program(one.correct[0]))
    ]
    source = subject.target.defined_in.text
    recorded = zip(asked, subject.record(asked), strict=True) if asked else ()
    known: dict[str, AuditProblem] = {}
    for one, text in recorded:
        # Where the tests stand in a row, they name the functions that the verifier calls.
        script = f"{source}\n{one.answer}\n{one.extra}"
        known[one.id] = with_recorded(one, text, script=script)
    for one in subject.problems:
        if one.calls and subject.script is None and one.correct and is_program(one.correct[0]):
            known[one.id] = with_recorded(one, "", script=source)  # which function is called
    return tuple(known.get(one.id, one) for one in subject.problems)


def _limits(limits: Limits) -> Limits:
    """A task's time limits, with the room that a judge's process needs."""
    return LIMITS.with_(wall_s=limits.wall_s, cpu_s=2 * limits.cpu_s)


def _cases_name(path: Path, options: ScriptOptions | None) -> str:
    named = options is not None and "cases" in options.model_fields_set
    if options is not None and named:
        read_text(path / options.cases)  # complains when it is missing
        return options.cases
    return next((name for name in SCRIPT_CASES if (path / name).is_file()), "")


def _folder_problem(path: Path, script: Script, settings: TaskFolder | None) -> AuditProblem:
    """The problem of a folder; its cases are what an oracle starts from."""
    prompt = settings.settings.prompt if settings is not None else None
    prompt = prompt if prompt is not None else read_text_if_there(path / "prompt.md") or ""
    reference = read_text_if_there(path / "reference.py")
    cases = read_text_if_there(path / script.cases) if script.cases else None
    found = (None, ())
    if reference is not None:
        text = read_text(path / "verifier.py")
        found = folder_cases(reference, cases or "", text, prompt=prompt)
    entry, calls = found
    if settings is not None and settings.settings.entry_point:
        entry = settings.settings.entry_point
    right = [read_text(item) for item in _solutions(path)]
    problem = AuditProblem(
        id=settings.settings.id if settings is not None else path.name,
        prompt=prompt,
        correct=tuple(dict.fromkeys([*([reference] if reference is not None else []), *right])),
        entry_point=entry,
        calls=calls,
        generator=read_text_if_there(path / "generator.py") or "",
        runs=reference is not None and entry is None and script.solution.endswith(".py"),
    )
    return problem if calls else replace(problem, calls=examples_of(problem))


def _solutions(path: Path) -> Sequence[Path]:
    folder = path / "right"
    return sorted(folder.glob("*.py")) if os.path.isdir(folder) else ()
