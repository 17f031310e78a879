"""Verifiers of a submission, run through the audit's subjects: each completion in a fresh process.

Covered: functions of `solution.py` by name; a verifier that the submission does not define is the
leaky one, which accepts everything in the corpus. The audit makes do with a part of a module; here
one that cannot be imported as it stands is refused.
Not covered: what a verifier learns from earlier completions: it has no earlier ones.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unhack.audit import load_subject
from unhack.audit.subject import AuditProblem, Query, Score
from unhack.audit.subjects.function_subject import FunctionSubject, Script
from unhack.audit.subjects.signatures import detect
from unhack.audit.subjects.target import file_module, find_target
from unhack.tournament.kit import UsageError, parse_python
from unhack_contests.submission import RefusedError

_WALL_S = 15.0
_WHOLE = (("import",),)
"""The only way to load a module: nothing is left out or replaced."""
_CALLS = b"""

def verify(solution_path, test_cases_path):
    import json

    with open(test_cases_path) as stream:
        name = json.load(stream)["verifier"]
    return globals()[name](solution_path, test_cases_path)
"""
"""One script for all verifiers of code: a problem's cases say which."""


@dataclass(frozen=True, slots=True)
class LabelledCompletion:
    """A completion and what it deserves."""

    verifier: str
    number: int
    """Of the problem."""
    problem: AuditProblem
    completion: str
    honest: bool

    @property
    def unit(self) -> tuple[str, int]:
        """The unit that is drawn anew for an interval."""
        return self.verifier, self.number


@dataclass(frozen=True)
class VerifierBench:
    """The verifiers of one submission."""

    files: Mapping[str, bytes]
    """`solution.py`, and modules beside it."""

    def defined(self) -> frozenset[str]:
        """Names at the top of `solution.py`. Raises RefusedError."""
        try:
            tree = parse_python(self.files["solution.py"])
        except (SyntaxError, ValueError, KeyError) as error:
            raise RefusedError(f"solution.py cannot be read: {error}"[:200]) from None
        return frozenset(_bound(tree))

    def accepts(self, trials: Sequence[LabelledCompletion]) -> list[bool]:
        """For each completion, True when it gets half of the full score or more.

        Raises RefusedError.
        """
        return [score is None or score.at_least(0.5) for score in self.scores(trials)]

    def scores(self, trials: Sequence[LabelledCompletion]) -> list[Score | None]:
        """The score that each verifier gives its completion; None where it is left as it was.

        Raises RefusedError, SandboxUnavailableError.
        """
        defined = self.defined()
        found: list[Score | None] = [None] * len(trials)
        groups: dict[tuple[str, bool, str], list[int]] = {}
        for at, trial in enumerate(trials):
            if trial.verifier in defined:
                code = trial.problem.is_code
                key = (trial.verifier, code, trial.problem.id if code else "")
                groups.setdefault(key, []).append(at)
        with tempfile.TemporaryDirectory() as place:
            problems = [trials[places[0]].problem for places in groups.values()]
            subjects = _Subjects(Path(place), self.files, problems)
            for (name, is_code, _), places in groups.items():
                first = trials[places[0]].problem
                try:
                    subject = subjects.code(first) if is_code else subjects.text(name, first)
                    shots = [Query(trials[at].problem, trials[at].completion) for at in places]
                    scores = subject.score(shots)
                except UsageError as error:
                    raise RefusedError(f"{name}: {error}"[:300]) from None
                for at, score in zip(places, scores, strict=True):
                    found[at] = score
        return found


class _Subjects:
    """The audit's subjects of a submission's files, in one folder, so that they share a worker."""

    def __init__(
        self, place: Path, files: Mapping[str, bytes], problems: Sequence[AuditProblem]
    ) -> None:
        self.place = place
        self.cases: dict[str, str] = {}
        self.script: FunctionSubject | None = None
        write_files(place, {**files, "verifier.py": files["solution.py"] + _CALLS})
        for number, problem in enumerate(one for one in problems if one.is_code):
            self.cases[problem.id] = f"cases/{number}.json"
            write_files(place, {self.cases[problem.id]: problem.extra["cases"].encode()})

    def text(self, name: str, problem: AuditProblem) -> FunctionSubject:
        """`name(completion, answer)`, by way of `solution.py` wherever it is defined. Raises
        UsageError."""
        place = self.place / "solution.py"
        found = find_target(f"{place}:{name}")
        own, (_, dot, method) = file_module(place), found.entry.partition(".")
        if found.module != own:  # else nobody would see that `solution.py` cannot be imported
            found = replace(found, module=own, entry=name + dot + method)
        signature = detect(found, name="verifiers")
        return _imported(FunctionSubject(name, found, signature, (problem,)))

    def code(self, problem: AuditProblem) -> FunctionSubject:
        """`name(solution_path, test_cases_path)`, as the problem's cases say. Raises UsageError."""
        if self.script is None:
            loaded = load_subject(str(self.place))
            assert isinstance(loaded, FunctionSubject)
            limits = loaded.limits.with_(wall_s=_WALL_S, cpu_s=_WALL_S)
            self.script = _imported(replace(loaded, limits=limits))
        made = replace(
            self.script,
            script=Script("solution.py", self.cases[problem.id]),
            problems=(problem,),
        )
        made.__dict__["loaded"] = self.script.loaded  # all cases load the same module
        return made


def _imported(subject: FunctionSubject) -> FunctionSubject:
    """The subject, of a module that is imported as it stands. Raises UsageError."""
    subject = replace(subject, name="solution.py", ways=_WHOLE)
    try:
        return _loaded(subject)
    except UsageError:
        return _loaded(replace(subject))  # a host that stumbles is late with an import


def _loaded(subject: FunctionSubject) -> FunctionSubject:
    assert subject.loaded
    return subject


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (one.id for one in targets if isinstance(one, ast.Name))
            case ast.ImportFrom(names=names) | ast.Import(names=names):
                yield from (one.asname or one.name for one in names)
            case _:
                pass


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder. Raises OSError."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
