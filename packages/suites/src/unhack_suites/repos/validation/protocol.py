"""The checks that every task passes before anybody trains on it.

    checked = check_task(task, run=LocalRunner(), strange=[...])
    checked.problems      empty for a sound task

Each check has a defect of published data sets behind it: flaky tests, tests that pass at the start,
patches with noise in them, wrong patches that win, right ones that lose, leaked answers.

Covered: all but the attacks on the judge, which `unhack audit` plays, and the CPU of a suite, which
whoever runs the processes measures.

Leaks: the judge's tests or the reference, found in what the agent is given.

    leaks(task, [other suites of the same repository])

A shingle is eight tokens in a row. Those that other draws of the same suite have as well are the
repository's way to talk, not the answer; what is left must not stand in the statement or a file.

Covered: the statement, every file of the start state, caches and histories that must not be there.
Not covered: what the sandbox adds around the workspace.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from unhack.environments.task import RepositoryTask
from unhack_suites.repos.catalogue import FAMILIES
from unhack_suites.repos.repository import draw_repository, text_of
from unhack_suites.repos.running import Runner, ids_of
from unhack_suites.repos.shingles import of_assertions, shingles
from unhack_suites.repos.validation import candidates
from unhack_suites.repos.validation.ladder import RUNGS, climb

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


MUTANTS = 20
LEAST_KILLED = 0.8
_ORDERS = 2


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings of the checks of one task."""

    id: str
    flaky: tuple[str, ...]
    """Tests that fail on the reference in some run, in another order, or alone."""
    start: tuple[str, ...]
    """Tests that end otherwise at the start than the task says, or fail before their body."""
    names: tuple[str, ...]
    """Ids that are there twice, or that no listed file has."""
    hunks: int
    noise: int
    """Hunks of the reference that no test asks for."""
    wrong: Mapping[str, bool]
    """Wrong patch -> it won."""
    mutants: int
    killed: int
    alternatives: Mapping[str, bool]
    """Right patch of another shape -> it won."""
    leaks: tuple[str, ...]
    solved: Mapping[str, bool]
    """Rung of the ladder -> it solved the task."""

    @property
    def problems(self) -> list[str]:
        """Reasons that disqualify the task; none for a sound one."""
        found = [f"flaky: {name}" for name in self.flaky]
        found += [f"start: {name}" for name in self.start]
        found += [f"names: {name}" for name in self.names]
        found += [f"{self.noise} hunks are noise"] if self.noise else []
        found += [f"{name} wins" for name, won in self.wrong.items() if won]
        if self.killed < LEAST_KILLED * self.mutants:
            found.append(f"{self.killed} of {self.mutants} mutants killed")
        found += [f"{name} loses" for name, won in self.alternatives.items() if not won]
        return found + [f"leak: {text}" for text in self.leaks[:3]]


def check_task(
    task: RepositoryTask,
    *,
    run: Runner,
    strange: Sequence[Runner] = (),
    rungs: Sequence[str] = tuple(RUNGS),
) -> Checked:
    """Run all checks; `strange` runners are other processes: hash seed, folder, time zone.

    `rungs` of the ladder are climbed: none disqualifies a task, they say how hard it is.
    """
    start, visible = _start(task)
    right = {**start, **{path: text for path, text in task.reference.items() if text is not None}}
    rng = Random(f"{task.id}/checks")
    places = candidates.changed_functions(start, right)
    judge = _Judge(task, run)
    repository = draw_repository(FAMILIES[task.facts["family"]], task.facts["seed"])
    killed = [not judge.passes(files) for _, files in candidates.mutants(
        start, right, count=MUTANTS, rng=rng
    )]  # fmt: skip
    hunks = list(_without_each_hunk(start, right))
    return Checked(
        id=task.id,
        flaky=tuple(_flaky(task, right, rng=rng, runners=(run, strange))),
        start=tuple(_start_problems(task, start, run)),
        names=tuple(_name_problems(task)),
        hunks=len(hunks),
        noise=sum(judge.passes(files) for files in hunks),
        wrong={
            name: judge.passes(files)
            for name, files in (
                ("stub", candidates.stub(right, places) if places else None),
                ("swallow", candidates.swallow(start, places)),
                ("table", candidates.table(start, right, visible, places)),
                ("nothing", start),
            )
            if files is not None
        },
        mutants=len(killed),
        killed=sum(killed),
        alternatives={
            name: judge.passes(files)
            for name, files in (
                ("other forms", repository.sources(flipped=True)),
                ("reshaped", candidates.reshaped(right, places)),
            )
            if files is not None
        },
        leaks=tuple(leaks(task, repository.other_suites())),
        solved={
            rung: judge.passes(climb(start, visible, rung=rung, rng=rng, run=run)) for rung in rungs
        },
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    task: RepositoryTask
    run: Runner

    def passes(self, files: Mapping[str, str]) -> bool:
        """True where every listed test passes; an absent one has failed."""
        ran = self.run(files, self.task.tests)
        listed = (*self.task.fail_to_pass, *self.task.pass_to_pass)
        return all(name in ran and ran[name].passed for name in listed)


def _start(task: RepositoryTask) -> tuple[dict[str, str], dict[str, str]]:
    """The package's modules and the visible tests of the start state."""
    texts = text_of(task.files)
    package = {path: text for path, text in texts.items() if task.may_change(path)}
    return package, {path: text for path, text in texts.items() if path.startswith("tests/")}


def _flaky(
    task: RepositoryTask,
    right: Mapping[str, str],
    *,
    rng: Random,
    runners: tuple[Runner, Sequence[Runner]],
) -> list[str]:
    run, strange = runners
    listed = [*task.fail_to_pass, *task.pass_to_pass]
    results = [one(right, task.tests) for one in (run, *strange)]
    for _ in range(_ORDERS):
        order = list(listed)
        rng.shuffle(order)
        results.append(run(right, task.tests, order))
    found = [n for n in listed if any(n not in ran or not ran[n].passed for ran in results)]
    alone = [run(right, task.tests, (name,))[name] for name in task.fail_to_pass]
    return found + [
        name for name, ran in zip(task.fail_to_pass, alone, strict=True) if not ran.passed
    ]


def _start_problems(task: RepositoryTask, start: Mapping[str, str], run: Runner) -> list[str]:
    ran = run(start, task.tests)
    asked = task.facts["feature"] is not None
    found = [
        name
        for name in task.fail_to_pass
        if name not in ran or ran[name].passed or not (ran[name].in_body or asked)
    ]
    return found + [n for n in task.pass_to_pass if n not in ran or not ran[n].passed]


def _name_problems(task: RepositoryTask) -> list[str]:
    there = ids_of(task.tests)
    listed = [*task.fail_to_pass, *task.pass_to_pass]
    twice = [name for name in set(listed) if listed.count(name) > 1 or there.count(name) > 1]
    return twice + sorted(set(listed) ^ set(there))


def _without_each_hunk(start: Mapping[str, str], right: Mapping[str, str]) -> list[dict[str, str]]:
    """The reference with one hunk left out in turn, hunks that are no code left alone."""
    found: list[dict[str, str]] = []
    for path, text in right.items():
        before, after = start.get(path, "").splitlines(True), text.splitlines(True)
        if before == after:
            continue
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                less = "".join([*after[:c], *before[a:b], *after[d:]])
                if _code(less) != _code(text):
                    found.append({**right, path: less})
    return found


def _code(text: str) -> str:
    """The code of a file without docstrings and `__all__`; the text itself where it is broken."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [one for one in body if not _says(one)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _says(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case _:
            return False
