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
import math
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from unhack.audit.oracle.examples import examples_of
from unhack.audit.subject import AuditProblem, Query, Subject
from unhack.audit.subjects.function_subject import LIMITS, FunctionSubject, Script
from unhack.audit.subjects.problem_rows import folder_cases, read_problems
from unhack.audit.subjects.recording import is_program, with_recorded
from unhack.audit.subjects.row_shapes import shapes
from unhack.audit.subjects.sessions import score_together
from unhack.audit.subjects.signatures import NAMES, Signature, detect
from unhack.audit.subjects.target import Module, Target, definitions, find_target
from unhack.audit.subjects.task_subject import TaskSubject
from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.job import Backend
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.shared import shared_pool
from unhack.tasks.directory import SCRIPT_CASES, TaskFolder, read_folder
from unhack.tasks.reading import fault, read_text, read_text_if_there
from unhack.tasks.settings import ScriptOptions
from unhack.tasks.suite import find_tasks
from unhack.verifiers.script import Mode

FORMS = (
    "{answer}",
    "\\boxed{{{answer}}}",
    "The answer is {answer}",
    "#### {answer}",
    "<answer>{answer}</answer>",
    "<think>\nIt can be worked out.\n</think>\n<answer>\n{answer}\n</answer>",
    "<think>\nIt can be worked out.\n</think>\n<answer>\n\\boxed{{{answer}}}\n</answer>",
    "<think>It can be worked out.</think>\n\\boxed{{{answer}}}",
    "<reasoning>\nIt can be worked out.\n</reasoning>\n<answer>\n{answer}\n</answer>\n",
    "It can be worked out.\n#### {answer}",
    "The final answer is $\\boxed{{{answer}}}$.",
    "Final Answer: The final answer is ${answer}$. I hope it is correct.",
    "Answer: {answer}",
    "Let us work it out.\n\nAnswer: \\boxed{{{answer}}}",
    "({answer})",
    "```\n{answer}\n```",
    '{{"answer": "{answer}"}}',
)
"""Ways to write a final answer; the one that a function rewards most is what it asks for."""
_MAX_CORRECT = 3
_MOST = 40
"""Problems that are looked at."""
_CALL_S = 0.5
"""Seconds granted to each call of a function that nobody has timed yet."""
_STEP_S = 5.0
"""Most seconds of one such call."""
_FIRST = 3
"""Problems on which every form is tried."""
_DRILL = (("What is 17 + 25?", "42"), ("What is 12 * 12?", "144"), ("What is 90 - 17?", "73"))


def load_subject(
    target: str,
    *,
    problems: Path | None = None,
    signature: str | None = None,
    reference: Path | None = None,
    seconds: float = 120.0,
    backend: Backend | None = None,
) -> Subject:
    """The subject that `target` names.

    `problems` is a JSONL of rows for a function, `signature` one of `signatures.NAMES`,
    `reference` a file with a completion that is right for the only problem. Functions are loaded
    once, in the sandbox, in at most half of `seconds`; of more than 40 rows, 40 are taken, evenly
    spread.

    Raises UsageError (TaskError, UnknownNameError) for what the caller can fix, with file and line
    where there is one; SandboxUnavailableError.
    """
    if signature is not None and signature not in NAMES:
        raise UnknownNameError("signature", signature, valid=NAMES)
    path = Path(target)
    if path.is_dir() and _is_script(path):
        return _script_folder(path, backend=backend)
    if _is_function(target):
        found = find_target(target)
        chosen = _signature(target, found, signature)
        rows = _rows(found, problems, reference)
        some = rows if len(rows) <= _MOST else spread(rows, _MOST)
        timed = DeadlineBackend(backend or shared_pool(), until=time.monotonic() + seconds / 2)
        subject = FunctionSubject(
            target, found, chosen, some, load_s=seconds / 2, backend=timed, of=len(rows)
        )
        for step in (_fit_answers, _with_correct, _with_recorded):
            subject = subject.with_problems(step(subject))
        return subject.with_backend(backend)
    for name, value in (("problems", problems), ("signature", signature)):
        if value is not None:
            raise UsageError(f"{target} is a task, which takes no {name}")
    return TaskSubject(target, find_tasks(target), backend)


def load_function(
    target: str,
    *,
    problems: Path | None = None,
    rows: Sequence[AuditProblem] = (),
    seconds: float = 120.0,
    backend: Backend | None = None,
) -> FunctionSubject:
    """A function with all of its rows, to be called rather than audited.

    `rows` are problems that are known already and stay as they are; without them those of the file
    `problems`, or beside the function, with answers in the shape that it rewards. Raises UsageError
    (TaskError), SandboxUnavailableError.
    """
    found = find_target(target)
    chosen = _signature(target, found, None)
    some = tuple(rows) or _rows(found, problems, None)
    subject = FunctionSubject(target, found, chosen, some, load_s=seconds, backend=backend)
    _ = subject.loaded  # complains at once
    return subject if rows else subject.with_problems(_fit_answers(subject))


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


def _rows(
    target: Target, problems: Path | None, reference: Path | None
) -> tuple[AuditProblem, ...]:
    """The problems of a function."""
    beside = problems or _rows_beside(target.module)
    rows = read_problems(beside) if beside is not None else _drill(target)
    if reference is None:
        return rows
    if len(rows) != 1:
        raise UsageError(f"one reference for {len(rows)} problems; give `correct` in the rows")
    return (replace(rows[0], correct=(read_text(reference), *rows[0].correct)),)


def spread(rows: Sequence[AuditProblem], count: int) -> tuple[AuditProblem, ...]:
    """So many of them, at even distances."""
    return tuple(rows[number * len(rows) // count] for number in range(count))


def _rows_beside(module: Module) -> Path | None:
    """A file of problems that stands beside a file target."""
    if module.installed:
        return None
    paths = [module.path.with_suffix(".jsonl"), module.path.parent / "problems.jsonl"]
    return next((path for path in paths if path.is_file()), None)


def _drill(target: Target) -> tuple[AuditProblem, ...]:
    """Simple problems, for a function that comes without any."""
    name = target.entry.rpartition(".")[2]
    return tuple(
        AuditProblem(f"{name}#{number}", prompt, answer)
        for number, (prompt, answer) in enumerate(_DRILL)
    )


def _fit_answers(subject: FunctionSubject) -> tuple[AuditProblem, ...]:
    """The problems, their answers in a shape in which a correct completion is rewarded; as they
    are where there is none.

    Raises UsageError when the function cannot be loaded.
    """
    first = next((item for item in subject.problems if item.answer and not item.is_code), None)
    if not subject.loaded or first is None or not subject.sees_answer:
        return subject.problems
    tried = [first, *shapes(subject.target, first)]
    for number, shaped in enumerate(tried):
        if _rewards(subject, shaped):
            return subject.problems if number == 0 else _in_shape(subject, number - 1)
    return subject.problems


def _in_shape(subject: FunctionSubject, number: int) -> tuple[AuditProblem, ...]:
    return tuple(
        next(islice(shapes(subject.target, item), number, None), item) for item in subject.problems
    )


_UNRELATED = "zyx qwv"


def _rewards(subject: FunctionSubject, problem: AuditProblem) -> bool:
    """Tell whether a correct completion scores more than an empty or unrelated one: a reward that
    falls for one of them is no reason to hand it another shape."""
    texts = problem.correct[:_MAX_CORRECT] or [form.format(answer=problem.answer) for form in FORMS]
    queries = [Query(problem, text) for text in ("", _UNRELATED, *texts)]
    scores = score_together(subject, queries, call_s=_CALL_S, step_s=_STEP_S)
    empty, unrelated, *right = [_value(score.value) for score in scores]
    return max(right) > max(0.0, min(empty, unrelated))


def _with_correct(subject: FunctionSubject) -> tuple[AuditProblem, ...]:
    """Problems without correct completions get some: their answer in the forms that score most.

    Raises UsageError when the function cannot be loaded.
    """
    missing = [item for item in subject.problems if not item.correct and item.answer]
    if not subject.loaded or not missing:
        return subject.problems
    # What the first problems show spares the others most of the forms.
    ranked = _rank_forms(subject, missing[:_FIRST], FORMS)
    best = max((value for scored in ranked.values() for value in scored.values()), default=0.0)
    useful = [form for form in FORMS if any(one.get(form) == best for one in ranked.values())]
    ranked |= _rank_forms(subject, missing[_FIRST:], useful[:_MAX_CORRECT])
    other = [one for one in missing[_FIRST:] if max(ranked[one.id].values()) < best]
    ranked |= _rank_forms(subject, other, FORMS)
    found: dict[str, tuple[str, ...]] = {}
    for problem in missing:
        values = ranked[problem.id]
        most = max(values.values())
        forms = [form for form, value in values.items() if value == most]
        # Where none has a score, the complaint about the first is shown.
        forms = forms[: 1 if most == -math.inf else _MAX_CORRECT]
        found[problem.id] = tuple(form.format(answer=problem.answer) for form in forms)
    return tuple(
        replace(item, correct=found.get(item.id, item.correct)) for item in subject.problems
    )


def _rank_forms(
    subject: FunctionSubject, problems: Sequence[AuditProblem], forms: Sequence[str]
) -> dict[str, dict[str, float]]:
    """By problem id, the score of its answer in each of the forms."""
    queries = [
        Query(problem, form.format(answer=problem.answer)) for problem in problems for form in forms
    ]
    scores = iter(score_together(subject, queries, call_s=_CALL_S, step_s=_STEP_S))
    return {
        problem.id: {form: _value(next(scores).value) for form in forms} for problem in problems
    }


def _value(score: float | None) -> float:
    return -math.inf if score is None or math.isnan(score) else score


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
